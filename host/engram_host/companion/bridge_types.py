"""The types in which the companion's parts speak of people, of their chats on IM networks, and of what these are owed."""

from dataclasses import dataclass, field
from typing import Literal

from engram.memory.access import OWNER
from engram_host.companion.types import Conversation

GroupMode = Literal["mention", "always"]
"""When boards answer in a group."""


@dataclass(frozen=True)
class Person:
    """Somebody who was approved, or blocked. `principal` is what memories have, `name` what the owner calls them; `ids` are
    `network:id`, one for each network account.
    """

    principal: str
    name: str
    ids: tuple[str, ...]
    is_blocked: bool = False

    @property
    def is_owner(self) -> bool:
        """Whether they are the owner."""
        return self.principal == OWNER.principal


@dataclass(frozen=True)
class PairingRequest:
    """A stranger who was given a code. `ref` is `network:id`, `name` what they call themselves, `at` Unix seconds. `is_sent`:
    their network has taken the sentence with the code. `bridge` and `chat` are where they wrote, "" for a relay.
    """

    code: str
    ref: str
    name: str
    at: int
    is_sent: bool = field(default=False, compare=False)
    bridge: str = field(default="", compare=False)
    chat: str = field(default="", compare=False)

    @property
    def network(self) -> str:
        """The network that they wrote on."""
        return self.ref.partition(":")[0]


# --- what chats are owed


@dataclass(frozen=True)
class ChatPlace:
    """A chat of a bridge, or a thread in it ("" for none), by the network's own ids."""

    bridge: str
    chat: str
    thread: str = ""
    is_group: bool = False


@dataclass(frozen=True)
class Shown:
    """How much of an answer its chat has.

    `messages` are the network's ids of the messages that show it. `part` counts those that are complete; the present one
    begins at the byte `start` of the answer, and ended at `upto` when it was sent. `digest` is that of the answer up to there,
    `heading` stands above the present message. While `is_sending`, nobody knows whether the present message arrived.
    """

    messages: tuple[str, ...] = ()
    part: int = 0
    start: int = 0
    upto: int = 0
    digest: str = ""
    heading: str = ""
    is_sending: bool = False
    is_told: bool = False
    """Whether the chat knows that the board is away."""


@dataclass(frozen=True)
class Delivery:
    """What a chat is owed: `text`, or the answer of the board `device` to the message `mid`. `message` is the network's id of
    what it answers, "" for what a board begins to say; `at` is when that came, in Unix seconds. `ref` is whom it is for
    (`network:id`), "" for a whole group.
    """

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
    """A message of a network that was here before: what its chat was owed for it, what its board was given, None for nothing,
    and what that says since the newest edit.
    """

    delivery: Delivery
    given: Conversation | None = None
    text: str = field(default="", repr=False)


DeliveryEnd = Literal["done", "refused", "dropped"]
"""How a delivery ended: the chat has all of it; it will never take it; or too many waited for it."""


# --- files for /import


@dataclass(frozen=True)
class ChatFile:
    """A file that the owner sent into a private chat. While it is imported `device` is the board, `mid` and `message` are the
    ids of the message that asked for it, `ref` and `room` whom and what place that is of; `answered` is how many of its lines
    the board has answered, and `report` what became of these.
    """

    place: ChatPlace
    name: str
    data: bytes = field(repr=False)
    at: int
    device: str = ""
    mid: str = ""
    message: str = ""
    ref: str = ""
    room: str = ""
    answered: int = 0
    report: str = field(default="", repr=False)

    @property
    def is_imported(self) -> bool:
        """Whether a board is given it now."""
        return bool(self.device)
