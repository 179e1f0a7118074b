"""What a network's tests have to offer: a server, or a strict fake of one, and second accounts that talk to the bridge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Shown:
    """A message as a person sees it now: the network's id, who sent it, its present text, how often it was edited."""

    id: str
    sender: str
    text: str
    edits: int = 0
    thread: str = ""


class Peer(Protocol):
    """A person's account, spoken by something else than the bridge's own code."""

    @property
    def id(self) -> str:
        """The id by which the bridge knows the person."""
        ...

    async def say(self, text: str, *, group: bool = False, mention: bool = False, thread: str = "") -> str:
        """Send a message to the bridge's account, or into the group that both are in; the network's id of it."""
        ...

    async def send_photo(self, caption: str) -> str:
        """Send a picture with a caption to the bridge's account; NotImplementedError where the network has no such thing."""
        ...

    async def send_file(self, name: str, data: bytes) -> str:
        """Send a file to the bridge's account; NotImplementedError where the network has no such thing."""
        ...

    def shown(self, *, group: bool = False) -> Sequence[Shown]:
        """What this account sees of others now, oldest first."""
        ...

    async def wait_for(self, text: str, *, group: bool = False, seconds: float = 60) -> Shown:
        """The newest message that has a text in it; AssertionError with what is shown if none comes."""
        ...

    @property
    def typing_signs(self) -> int:
        """How often the account was seen typing."""
        ...

    async def close(self) -> None: ...


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
