"""Persons chat with the bot in a terminal: lines are messages, and the bot's messages are edited in place."""

import asyncio
import os
import shutil
import threading
import unicodedata
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TextIO

from .errors import ApiError
from .people import People
from .records import Chat, Message, User
from .server import FakeTelegram

HELP = """\
A line is a message to the bot. These lines are not sent:
  /as NAME                 go on as another person
  /group TITLE             a new group of all persons and the bot; /forum TITLE: a supergroup with topics
  /topic NAME              a new topic of the forum; /private: back to the person's own chat with the bot
  /edit TEXT               change the person's last message; /reply TEXT: reply to the bot's last one
  /file PATH [CAPTION]     send a file; /photo PATH [CAPTION]: as a photo
  /who                     show persons and chats; /quit: end
  //TEXT                   send /TEXT where it is one of these"""


async def chat_in_terminal(server: FakeTelegram, persons: Sequence[str], source: int, out: TextIO) -> None:
    """Let people chat until the input ends or says /quit. `source` is the input's file descriptor."""
    terminal = Terminal(server, persons, out)
    shows = asyncio.ensure_future(terminal.show_changes())
    try:
        async for line in _lines(source):
            if not terminal.take_line(line):
                break
    finally:
        shows.cancel()


async def _lines(source: int) -> AsyncIterator[str]:
    """The lines of the input. A thread reads them, since a terminal cannot be read in an event loop without side effects."""
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        while True:
            try:
                piece = os.read(source, 65536)
            except OSError:  # a terminal that has gone
                piece = b""
            try:
                loop.call_soon_threadsafe(pieces.put_nowait, piece)
            except RuntimeError:  # the loop has ended
                return
            if not piece:
                return

    threading.Thread(target=read, name="input", daemon=True).start()
    rest = b""
    while piece := await pieces.get():
        *lines, rest = (rest + piece).split(b"\n")
        for line in lines:
            yield line.decode(errors="replace").removesuffix("\r")
    if rest:
        yield rest.decode(errors="replace")


class Terminal:
    """What stands on the screen, who writes, and where."""

    def __init__(self, server: FakeTelegram, persons: Sequence[str], out: TextIO):
        self._server = server
        self._people: People = server.people
        self._screen = _Screen(out)
        self._shown: dict[tuple[int, int], str] = {}
        self._was_active = False
        self._users: dict[str, User] = {}
        for name in persons:
            self._person(name)
        self._user = next(iter(self._users.values()))
        self._chat: Chat = self._people.private_chat(self._user)
        self._thread_id = 0

    def _person(self, name: str) -> User:
        if name not in self._users:
            username = name.lower() if name.isascii() and name.isalnum() else ""
            self._users[name] = self._people.add_user(name, username=username)
        return self._users[name]

    # --- the bot's side of the screen

    async def show_changes(self) -> None:
        """Show what the bot writes, edits and does, for ever."""
        while True:
            self.show()
            await self._server.state.next_change()

    def show(self) -> None:
        """Show what is new."""
        for chat in self._people.chats:
            for message in self._people.from_bot(chat):
                self._show_message(message)
        is_active = any(self._people.action(chat, thread) for chat in self._people.chats for thread in chat.actions)
        if is_active and not self._was_active:
            self._screen.note(f"({self._server.state.bot.first_name} is typing)")
        self._was_active = is_active

    def _show_message(self, message: Message) -> None:
        key = (message.chat.id, message.id)
        text = message.text
        if message.document is not None:
            text = f"[file {message.document.name}, {len(message.document.data)} bytes] {text}"
        if self._shown.get(key) != text:
            place = f" in {message.chat.title}" if message.chat.title else ""
            place += f", {message.chat.topics[message.thread_id]}" if message.thread_id in message.chat.topics else ""
            self._screen.show(key, f"{message.sender.first_name}{place}", text, is_edit=key in self._shown)
            self._shown[key] = text

    # --- the person's side

    def take_line(self, line: str) -> bool:
        """Send a line, or do what it says; False if it ends the chat."""
        self._screen.close()
        name, _, rest = line.partition(" ")
        rest = rest.strip()
        if name == "/quit":
            return False
        try:
            if name in _COMMANDS:
                _COMMANDS[name](self, rest)
            elif line.strip():
                self._send(line.removeprefix("/") if name[1:] in _COMMANDS else line)
        except ApiError as error:
            self._screen.note(error.description)
        except (ValueError, OSError) as error:
            self._screen.note(str(error))
        return True

    def _send(self, text: str, reply_to: Message | None = None) -> None:
        self._people.write(self._user, text, chat=self._chat, reply_to=reply_to, thread_id=self._thread_id)

    def _go_to(self, chat: Chat, thread_id: int = 0) -> None:
        self._chat, self._thread_id = chat, thread_id
        topic = f", {chat.topics[thread_id]}" if thread_id else ""
        self._screen.note(f"({self._user.first_name} in {chat.title or 'the chat with the bot'}{topic})")

    def write_as(self, name: str) -> None:
        """/as NAME"""
        if not name:
            raise ValueError("/as NAME")
        self._user = self._person(name)
        is_member = self._chat.is_group and self._user.id in self._chat.members
        self._go_to(self._chat if is_member else self._people.private_chat(self._user), self._thread_id * is_member)

    def open_group(self, title: str) -> None:
        """/group TITLE"""
        self._go_to(self._people.group(title or "Group", self._all_users()))

    def open_forum(self, title: str) -> None:
        """/forum TITLE"""
        self._go_to(self._people.supergroup(title or "Forum", self._all_users(), is_forum=True))

    def _all_users(self) -> list[User]:
        return [self._user, *(user for user in self._users.values() if user is not self._user)]

    def open_topic(self, name: str) -> None:
        """/topic NAME"""
        self._go_to(self._chat, self._people.topic(self._chat, name or "Topic", self._user))

    def open_private(self, _: str) -> None:
        """/private"""
        self._go_to(self._people.private_chat(self._user))

    def edit(self, text: str) -> None:
        """/edit TEXT"""
        own = [message for message in self._people.messages(self._chat) if message.sender is self._user]
        if not own:
            raise ValueError("there is no message to edit")
        self._people.edit(own[-1], text)

    def reply(self, text: str) -> None:
        """/reply TEXT"""
        found = self._people.from_bot(self._chat)
        if not found:
            raise ValueError("there is no message to reply to")
        self._send(text, found[-1])

    def send_file(self, rest: str) -> None:
        """/file PATH [CAPTION]"""
        path, _, caption = rest.partition(" ")
        data = Path(path).read_bytes()
        place = {"chat": self._chat, "thread_id": self._thread_id}
        self._people.send_document(self._user, Path(path).name, data, caption=caption, **place)

    def send_photo(self, rest: str) -> None:
        """/photo PATH [CAPTION]"""
        path, _, caption = rest.partition(" ")
        place = {"chat": self._chat, "thread_id": self._thread_id}
        self._people.send_photo(self._user, Path(path).read_bytes(), caption=caption, **place)

    def show_people(self, _: str) -> None:
        """/who"""
        for user in self._people.users:
            self._screen.note(f"{user.id}  {user.first_name}")
        for chat in self._people.chats:
            self._screen.note(f"{chat.id}  {chat.title or chat.type}")

    def show_help(self, _: str) -> None:
        """/?"""
        self._screen.note(HELP)


_COMMANDS = {
    "/as": Terminal.write_as,
    "/group": Terminal.open_group,
    "/forum": Terminal.open_forum,
    "/topic": Terminal.open_topic,
    "/private": Terminal.open_private,
    "/edit": Terminal.edit,
    "/reply": Terminal.reply,
    "/file": Terminal.send_file,
    "/photo": Terminal.send_photo,
    "/who": Terminal.show_people,
    "/?": Terminal.show_help,
}


class _Screen:
    """Lines of text; on a terminal the last message is written over by its edits."""

    def __init__(self, out: TextIO):
        self._out = out
        self._is_terminal = out.isatty()
        self._last: tuple[int, int] | None = None
        self._rows = 0

    def show(self, key: tuple[int, int], head: str, text: str, *, is_edit: bool) -> None:
        """Write a message, over its earlier text if nothing came after it."""
        is_over = self._is_terminal and is_edit and key == self._last
        if is_over:
            self._out.write(f"\x1b[{self._rows}A\x1b[J")
        shown = f"{head}{' (edited)' if is_edit and not is_over else ''}: {text}"
        self._out.write(f"{shown}\n")
        self._out.flush()
        self._last, self._rows = key, self._count_rows(shown)

    def note(self, text: str) -> None:
        """Write a line that is no message."""
        self._out.write(f"{text}\n")
        self._out.flush()
        self.close()

    def close(self) -> None:
        """Something else stands below the last message: its edits are written below it."""
        self._last = None

    @staticmethod
    def _count_rows(text: str) -> int:
        columns = shutil.get_terminal_size().columns
        return sum(max(1, -(-_width(line) // columns)) for line in text.split("\n"))


def _width(line: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(character) in "WF") for character in line)
