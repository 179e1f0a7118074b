"""Persons chat with the bot in a terminal: lines are messages."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TextIO

from .records import Chat, Message, User
from .server import FakeTelegram
from .text import ApiError

HELP = """\
A line is a message to the bot. These lines are not sent:
  /as NAME                 go on as another person
  /group TITLE             a new group of all persons and the bot; /private: back to the person's own chat with the bot
  /file PATH [CAPTION]     send a file; /photo PATH [CAPTION]: as a photo
  /quit                    end
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
        self._people = server.people
        self._out = out
        self._shown: set[tuple[int, int]] = set()
        self._was_typing = False
        self._users: dict[str, User] = {}
        for name in persons:
            self._person(name)
        self._user = next(iter(self._users.values()))
        self._chat: Chat = self._people.private_chat(self._user)

    def _person(self, name: str) -> User:
        if name not in self._users:
            self._users[name] = self._people.add_user(name)
        return self._users[name]

    # --- the bot's side of the screen

    async def show_changes(self) -> None:
        """Show what the bot writes and does, for ever."""
        while True:
            for chat in self._people.chats:
                for message in self._people.from_bot(chat):
                    self._show_message(message)
            is_typing = any(map(self._people.is_typing, self._people.chats))
            if is_typing and not self._was_typing:
                self._note(f"({self._server.state.bot.first_name} is typing)")
            self._was_typing = is_typing
            await self._server.state.next_change()

    def _show_message(self, message: Message) -> None:
        key = (message.chat.id, message.id)
        if key not in self._shown:
            place = f" in {message.chat.title}" if message.chat.title else ""
            self._note(f"{message.sender.first_name}{place}: {message.text}")
            self._shown.add(key)

    def _note(self, text: str) -> None:
        self._out.write(f"{text}\n")
        self._out.flush()

    # --- the person's side

    def take_line(self, line: str) -> bool:
        """Send a line, or do what it says; False if it ends the chat."""
        name, _, rest = line.partition(" ")
        if name == "/quit":
            return False
        try:
            if name in _COMMANDS:
                _COMMANDS[name](self, rest.strip())
            elif line.strip():
                text = line.removeprefix("/") if name[1:] in _COMMANDS else line
                self._people.write(self._user, text, chat=self._chat)
        except (ApiError, ValueError, OSError) as error:
            self._note(str(error))
        return True

    def _go_to(self, chat: Chat) -> None:
        self._chat = chat
        self._note(f"({self._user.first_name} in {chat.title or 'the chat with the bot'})")

    def write_as(self, name: str) -> None:
        """/as NAME"""
        if not name:
            raise ValueError("/as NAME")
        self._user = self._person(name)
        self._go_to(self._chat if self._user.id in self._chat.members else self._people.private_chat(self._user))

    def open_group(self, title: str) -> None:
        """/group TITLE"""
        self._go_to(self._people.group(title or "Group", self._users.values()))

    def open_private(self, _: str) -> None:
        """/private"""
        self._go_to(self._people.private_chat(self._user))

    def send_file(self, rest: str) -> None:
        """/file PATH [CAPTION]"""
        path, _, caption = rest.partition(" ")
        data = Path(path).read_bytes()
        self._people.send_document(self._user, Path(path).name, data, caption=caption, chat=self._chat)

    def send_photo(self, rest: str) -> None:
        """/photo PATH [CAPTION]"""
        path, _, caption = rest.partition(" ")
        self._people.send_photo(self._user, Path(path).read_bytes(), caption=caption, chat=self._chat)

    def show_help(self, _: str) -> None:
        """/?"""
        self._note(HELP)


_COMMANDS = {
    "/as": Terminal.write_as,
    "/group": Terminal.open_group,
    "/private": Terminal.open_private,
    "/file": Terminal.send_file,
    "/photo": Terminal.send_photo,
    "/?": Terminal.show_help,
}
