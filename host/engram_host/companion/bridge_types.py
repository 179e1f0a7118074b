"""The types in which the companion's parts speak of people, of their chats on IM networks, and of what these are owed."""

from dataclasses import dataclass
from typing import Literal

from engram.memory.access import OWNER

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
    """A stranger who was given a code. `ref` is `network:id`, `name` what they call themselves, `at` Unix seconds."""

    code: str
    ref: str
    name: str
    at: int

    @property
    def network(self) -> str:
        """The network that they wrote on."""
        return self.ref.partition(":")[0]
