"""A strict fake of Telegram's Bot API: an HTTP server for one bot, and the people who chat with it.

It needs the standard library only, and has the methods that Engram calls. It refuses what the service ignores, such as unknown
arguments and wrong types; of the parse modes it knows HTML.

    async with FakeTelegram() as server:
        ann = server.people.add_user("Ann")          # server.url, server.token
        server.people.write(ann, "hello")            # the bot gets an update
        server.faults.cut_after(method="sendMessage")
        await server.wait_until(lambda: server.people.from_bot(server.people.private_chat(ann)))
    with serving() as server:
        ...                                          # the same from code that is not async

How the modules stand on each other:

    text   records                entities and HTML; users, chats, messages
    state   methods               what the service knows, and what a bot does with it
    people   faults               the people's side, faults on request
    server   terminal             the server, in a loop and in a thread; the chat in the terminal
"""

from .faults import Call
from .people import People
from .records import Chat, Message, User
from .server import FakeTelegram, ServingTelegram, serving
from .terminal import chat_in_terminal
from .text import utf16_length

__all__ = [
    "Call", "Chat", "FakeTelegram", "Message", "People", "ServingTelegram", "User", "chat_in_terminal", "serving",
    "utf16_length",
]  # fmt: skip
