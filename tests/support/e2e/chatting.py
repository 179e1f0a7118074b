"""A board that talks over a strict fake of the Bot API, on the 32-bit MicroPython, and the people who chat with it.

with chatting(tmp_path, {"reply": "Hello."}) as talk:
    ann = talk.person("Ann")                  # approved
    talk.write(ann, "hello")
    assert talk.answer(ann) == "Hello."
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import trustme

import chip
import firmware_build
from driving import CHIP_SOCKETS, Home, Talk, talking
from fake_llm import Serving
from fake_llm import serving as serving_model
from fake_telegram import Call, Chat, FakeTelegram, Message, ServingTelegram, User, serving
from waiting import SECONDS

_Found = TypeVar("_Found")


class Chatting:
    """One board with its bot; the board is started by start(), and may be killed and started again."""

    def __init__(self, home: Home, telegram: ServingTelegram, model: Serving, heap: str):
        self.home = home
        self.telegram = telegram
        self.model = model
        self._heap = heap
        self._board: contextlib.ExitStack = contextlib.ExitStack()
        self.console: Talk

    def start(self) -> None:
        """Start the board, and wait until its first long poll waits."""
        polls = self.server.ledger.by_method["getUpdates"]
        self._board = contextlib.ExitStack()
        command = (str(chip.MICROPYTHON), "-X", f"heapsize={self._heap}", "-m", "main")
        self.console = self._board.enter_context(talking(self.home, command=command))
        self.wait(lambda: self.server.ledger.by_method["getUpdates"] > polls + 1)

    def kill(self) -> None:
        """Cut the board's power."""
        self.console.kill()
        self._board.close()

    @property
    def server(self) -> FakeTelegram:
        """The fake itself, for conditions that run in its loop."""
        return self.telegram._server

    def wait(self, condition: Callable[[], _Found]) -> _Found:
        """What a condition gives as soon as it is true; AssertionError with the story if it never is."""
        try:
            return self.telegram.wait_until(lambda _: condition(), SECONDS)
        except TimeoutError:
            raise AssertionError(self.story()) from None

    def story(self) -> str:
        """All that happened, for a test that fails."""
        lines = [
            f"{call.order} {call.method} {call.status} {call.fault} {call.arguments}"[:300] for call in self.calls()
        ]
        self.console._read(0)
        return "\n".join([*lines, self.console.seen.decode(errors="replace")[-3000:]])

    def calls(self, method: str = "") -> list[Call]:
        """The calls of the board, or those of one method."""
        return self.telegram.ledger.of_method(method) if method else self.telegram.ledger.calls

    def methods(self, after: int = 0) -> list[str]:
        """The names of the calls since one, without the polls."""
        return [call.method for call in self.calls() if call.order > after and call.method != "getUpdates"]

    # --- people

    def person(self, name: str, *, is_owner: bool = False) -> User:
        """A new person whom the board's owner has approved."""
        user = self.telegram.people.add_user(name)
        self.command(f"/pair telegram:{user.id} {name.lower()}")
        if is_owner:
            self.command(f"/people owner telegram:{user.id}")
        return user

    def command(self, line: str) -> str:
        """Run a command on the console; what it says."""
        self.console.say(line)
        self.console.say("/mode")
        return self.console.heard("full mode\n").removesuffix("full mode\n")

    def write(self, user: User, text: str, **more: Any) -> Message:
        """Write a message."""
        return self.telegram.people.write(user, text, **more)

    def chat(self, user: User) -> Chat:
        """A person's chat with the bot."""
        return self.telegram.people.private_chat(user)

    def shown(self, place: User | Chat) -> list[str]:
        """The texts of the bot that a chat shows."""
        chat = self.chat(place) if isinstance(place, User) else place
        return [message.text for message in self.telegram.people.from_bot(chat)]

    def idles(self) -> None:
        """Wait until the board has confirmed all updates, and polls."""
        self.wait(self._is_idle)

    def answers(self, place: User | Chat, count: int = 1) -> list[str]:
        """The texts of the bot, once the board is idle and there are as many."""
        chat = self.chat(place) if isinstance(place, User) else place
        self.wait(lambda: len(self.server.people.from_bot(chat)) >= count and self._is_idle())
        return self.shown(chat)

    def sees(self, place: User | Chat, *texts: str) -> list[Message]:
        """The bot's messages in a chat, once they are these."""
        chat = self.chat(place) if isinstance(place, User) else place
        self.wait(lambda: [message.text for message in self.server.people.from_bot(chat)] == list(texts))
        return self.telegram.people.from_bot(chat)

    def answer(self, place: User | Chat) -> str:
        """The bot's only text in a chat."""
        found = self.answers(place)
        assert len(found) == 1, found
        return found[0]

    def _is_idle(self) -> bool:
        """Whether the board has confirmed all updates, and polls."""
        updates = self.server.state.updates
        return not updates.pending and updates.is_polled


@contextlib.contextmanager
def chatting(
    folder: Path,
    *rules: Mapping[str, object],
    heap: str = "8m",
    reads_all: bool = False,
    authority: trustme.CA | None = None,
    **settings: object,
) -> Iterator[Chatting]:
    """A board with a scripted model and a bot, started; with an `authority` that it trusts, the bot is reached over TLS."""
    certificate = _certificate(folder, authority) if authority else None
    fake = FakeTelegram(reads_all_group_messages=reads_all, certificate=certificate)
    with serving(fake) as telegram, serving_model(rules or [{"reply": "Yes."}]) as model:
        home = chip.board(folder / "home").asking(model.url).having(log__level="info", **settings)
        path = f"{CHIP_SOCKETS}:{firmware_build.SUPPORT}:{home.environment['MICROPYPATH']}"
        home = home.knowing(MICROPYPATH=path, ENGRAM_TELEGRAM_URL=telegram.url, ENGRAM_TELEGRAM_TOKEN=telegram.token)
        if authority:
            # In a folder of the computer: a file for the flash would have to be written into its image.
            home = home.knowing(ENGRAM_FLASH="", ENGRAM_TELEGRAM_URL=telegram.url.replace("127.0.0.1", "localhost"))
            authority.cert_pem.write_to_path(home.folder / "roots.pem")
        talk = Chatting(home, telegram, model, heap)
        talk.start()
        try:
            yield talk
        finally:
            talk.kill()


def _certificate(folder: Path, authority: trustme.CA) -> Path:
    """A file with a certificate for this computer and its key."""
    path = folder / "server.pem"
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(path)
    return path
