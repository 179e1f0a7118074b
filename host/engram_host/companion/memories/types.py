"""What is looked for among the memories of a board, and what is found."""

from dataclasses import dataclass
from typing import Any, Literal

from engram.memory.access import Caller
from engram_host.companion.entries.reader import ReadEntry

MemoryState = Literal["live", "superseded", "expired", "archived", "all"]
MemorySort = Literal["changed", "-changed", "created", "-created", "importance", "-importance"]
"""By what memories are sorted; with - before it the other way round."""

MOST_VERSIONS = 20
"""Of one memory's history, its newest ones."""


@dataclass(frozen=True)
class MemoryQuery:
    """Which memories are looked for, in which order, how many, and after how many.

    `since` and `until` are Unix seconds of when they were made, 0 leaves it open; `words` have to stand in its text,
    tags or keywords, all of them;
    `keyword` is one of its keywords: the people, things and places that it is about; with a `caller` only those that one may
    see are found. The state "current" is that of all that searches find: live or archived.
    """

    state: MemoryState | Literal["current"] = "live"
    tag: str = ""
    type: str = ""
    scope: str = ""
    source: str = ""
    keyword: str = ""
    words: str = ""
    since: int = 0
    until: int = 0
    is_pinned: bool = False
    sort: MemorySort = "-changed"
    limit: int = 25
    offset: int = 0
    caller: Caller | None = None


@dataclass(frozen=True)
class MemoryPage:
    """Some memories; how many fit in all, how many else would fit and are archived, and the scopes that there are."""

    total: int
    archived: int
    entries: tuple[ReadEntry, ...]
    scopes: tuple[str, ...]


@dataclass(frozen=True)
class SourceTurn:
    """A turn that a memory came from; `line` is None if the copy has it no more or not yet, or it was forgotten."""

    id: str
    line: dict[str, Any] | None
    is_coming: bool
    """Whether the copy has not come to it yet."""


def is_changeable(entry: ReadEntry) -> bool:
    """Whether a board may be asked to change a memory: nothing took its place, and the board has it."""
    return entry.state in ("live", "expired")


@dataclass(frozen=True)
class MemoryDetail:
    """One memory: its versions with those of the memories in whose place it came, newest first, at most MOST_VERSIONS; the
    turns that it came from, the memories that took its place, and its origin, which an import knows it by.
    """

    entry: ReadEntry
    versions: tuple[dict[str, Any], ...]
    has_more: bool
    turns: tuple[SourceTurn, ...]
    successors: tuple[str, ...]
    origin: str

    @property
    def is_changeable(self) -> bool:
        """Whether a board may be asked to change it: nothing took its place, and the board has it."""
        return is_changeable(self.entry)
