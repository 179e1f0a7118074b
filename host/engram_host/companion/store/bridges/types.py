"""Types for people, their chats on IM networks, and deliveries to them."""

from dataclasses import dataclass, field
from typing import Literal

from engram.memory.access import OWNER
from engram_host.companion.types import Conversation

GroupMode = Literal["mention", "always"]


@dataclass(frozen=True)
class Person:
    """An approved or blocked person; `ids` has `network:id` for each network account."""

    principal: str
    name: str
    ids: tuple[str, ...]
    is_blocked: bool = False

    @property
    def is_owner(self) -> bool:
        return self.principal == OWNER.principal


@dataclass(frozen=True)
class PairingRequest:
    """A stranger with a pairing code; `ref` is `network:id`, and `bridge` is "" for a relay."""

    code: str
    ref: str
    name: str
    at: int
    bridge: str = field(default="", compare=False)
    chat: str = field(default="", compare=False)

    @property
    def network(self) -> str:
        return self.ref.partition(":")[0]


# --- deliveries


@dataclass(frozen=True)
class ChatPlace:
    """A chat of a bridge, or a thread in it ("" for none), by the network's own ids."""

    bridge: str
    chat: str
    thread: str = ""
    is_group: bool = False


@dataclass(frozen=True)
class Shown:
    """Progress of an answer in its chat; `start` and `upto` are byte offsets of the current message."""

    messages: tuple[str, ...] = ()
    part: int = 0
    start: int = 0
    upto: int = 0
    digest: str = ""
    heading: str = ""
    is_sending: bool = False
    is_told: bool = False


@dataclass(frozen=True)
class Delivery:
    """A text, or an answer of `device` to `mid`, to deliver; `ref` is its reader, "" for a whole group."""

    number: int
    place: ChatPlace
    message: str
    device: str
    mid: str
    text: str = field(repr=False)
    at: int
    shown: Shown = Shown()
    ref: str = ""


@dataclass(frozen=True)
class KeptMessage:
    """A network message seen before, with its delivery, its board's message and its latest text."""

    delivery: Delivery
    given: Conversation | None = None
    text: str = field(default="", repr=False)


DeliveryEnd = Literal["done", "refused", "dropped"]
"""End of a delivery: delivered in full, refused by the network, or dropped by a limit."""
