"""A strict fake of Telegram's Bot API: an HTTP server for one bot, and the people who chat with it.

It needs the standard library only. It refuses what the service ignores, such as unknown arguments, wrong types and numbers
out of bounds; of the parse modes it knows HTML.

    async with FakeTelegram(clock=ManualClock()) as server:
        ann = server.people.add_user("Ann")          # server.url, server.token
        server.people.write(ann, "hello")            # the bot gets an update
        server.faults.cut_after(method="sendMessage")
        await server.wait_until(lambda: server.people.from_bot(server.people.private_chat(ann)))
    with serving() as server:
        ...                                          # the same from code that is not async

How the modules stand on each other:

    errors   clock   text/        refusals; the time; entities and HTML
    records   updates   limits    users, chats, messages; the queue of updates; flood limits
    state                         what the service knows
    api/                          the methods, and the check of their arguments
    people   faults               the people's side, faults on request
    server   threads              the server, in a loop and in a thread
    terminal                      the chat in the terminal
"""

from .clock import Clock, ManualClock
from .errors import ApiError
from .faults import Call, Fault, Faults, Ledger
from .limits import FloodLimits
from .people import People
from .records import Chat, Message, StoredFile, User, Version
from .server import TOKEN, FakeTelegram
from .terminal import chat_in_terminal
from .text.entities import Entity, utf16_length, utf16_slice
from .threads import ServingTelegram, serving

__all__ = [
    "TOKEN",
    "ApiError",
    "Call",
    "Chat",
    "Clock",
    "Entity",
    "FakeTelegram",
    "Fault",
    "Faults",
    "FloodLimits",
    "Ledger",
    "ManualClock",
    "Message",
    "People",
    "ServingTelegram",
    "StoredFile",
    "User",
    "Version",
    "chat_in_terminal",
    "serving",
    "utf16_length",
    "utf16_slice",
]
