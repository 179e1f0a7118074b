"""What a network's tests have to offer: a server, or a strict fake of one, and second accounts that talk to the bridge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from waiting import SECONDS, wait_until_async


@dataclass(frozen=True)
class Shown:
    """A message as a person sees it now: the network's id, who sent it, its present text, how often it was edited."""

    id: str
    sender: str
    text: str
    edits: int = 0
    thread: str = ""


class Peer:
    """A person's account, spoken by something else than the bridge's own code; `id` is how the bridge knows the person."""

    id: str

    async def say(self, text: str, *, group: bool = False, mention: bool = False, thread: str = "") -> str:
        """Send a message to the bridge's account, or into the group that both are in; the network's id of it."""
        raise NotImplementedError

    async def send_photo(self, caption: str) -> str:
        """Send a picture with a caption to the bridge's account."""
        raise NotImplementedError

    async def send_file(self, name: str, data: bytes) -> str:
        """Send a file to the bridge's account."""
        raise NotImplementedError

    def shown(self, *, group: bool = False) -> Sequence[Shown]:
        """What this account sees of others now, oldest first."""
        raise NotImplementedError

    async def wait_for(self, text: str, *, group: bool = False, seconds: float = SECONDS) -> Shown:
        """The newest message that has a text in it; AssertionError with what is shown if none comes."""

        def found() -> list[Shown]:
            return [shown for shown in self.shown(group=group) if text in shown.text]

        return (await wait_until_async(lambda: f"{text!r} in {self.shown(group=group)}", found, seconds))[-1]

    def typing_signs(self) -> int:
        """How often the bridge's account was seen typing."""
        return 0

    async def close(self) -> None:
        """Sign out; an app that a fake plays has nothing to close."""


class Server(Protocol):
    """A network's server for tests; ports and accounts are its own."""

    def start(self) -> object:
        """Start it, or start it again with all that it had kept, and wait until it answers."""
        ...

    def kill(self) -> None:
        """End it at once, as a power cut does."""
        ...

    def stop(self) -> object:
        """End it, and remove what it made."""
        ...

    @property
    def settings(self) -> Mapping[str, str]:
        """The fields of the bridge's kind (bridges/kinds.py), secrets among them."""
        ...

    async def peer(self, name: str) -> Peer:
        """A second account, signed in."""
        ...
