"""A BridgeHost that keeps what a network gives it, and says when it comes."""

import asyncio
from collections.abc import Callable, Sequence

from engram_host.companion.bridges.network import Chat, Incoming, MenuCommand

MENU = (MenuCommand("new", "begin a session"), MenuCommand("recall", "search the memory"))


class RecordingHost:
    """Stands in for the engine. `refuses` is raised in place of keeping a message."""

    def __init__(self) -> None:
        self.received: list[Incoming] = []
        self.accounts: list[str] = []
        self.groups: list[tuple[Chat, int]] = []
        """Chats that have become groups, each with how often the network had connected by then."""
        self.mark = ""
        self.marked = 0
        """How many messages had come when the mark was last kept."""
        self.steps: list[str] = []
        """When an account was claimed, and the mark loaded."""
        self.refuses: Exception | None = None
        self._changed = asyncio.Event()

    @property
    def menu(self) -> Sequence[MenuCommand]:
        return MENU

    async def receive(self, message: Incoming) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.received.append(message)
        self._changed.set()

    async def note_members(self, chat: Chat) -> None:
        self.groups.append((chat, len(self.accounts)))
        self._changed.set()

    def connected(self, account: str) -> None:
        self.accounts.append(account)
        self._changed.set()

    async def claim(self, account: str) -> None:
        self.steps.append(f"claim {account}")

    async def load_mark(self) -> str:
        self.steps.append("load mark")
        return self.mark

    async def save_mark(self, mark: str) -> None:
        assert len(mark) <= 2000
        self.mark, self.marked = mark, len(self.received)
        self._changed.set()

    async def wait_until(self, condition: Callable[[], object], seconds: float = 60) -> None:
        """Wait until something of this is so."""
        try:
            async with asyncio.timeout(seconds):
                while not condition():
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"not so within {seconds} s: {self.received}, {self.accounts}") from None

    async def next(self, text: str) -> Incoming:
        """The newest message with a text in it, once there is one."""
        await self.wait_until(lambda: any(text in message.text for message in self.received))
        return next(message for message in reversed(self.received) if text in message.text)
