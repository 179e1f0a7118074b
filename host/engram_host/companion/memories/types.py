"""Queries for memories, and their results."""

from dataclasses import dataclass
from typing import Any, Literal

from engram_host.companion.entries.reader import ReadEntry

MemoryState = Literal["live", "superseded", "expired", "archived", "all"]
MemorySort = Literal["changed", "-changed", "created", "-created", "importance", "-importance"]
"""Sort key; a leading - reverses it."""

MOST_VERSIONS = 20


@dataclass(frozen=True)
class MemoryQuery:
    """Filters, order and page; all `words` must match."""

    state: MemoryState = "live"
    tag: str = ""
    type: str = ""
    scope: str = ""
    words: str = ""
    since: int = 0
    until: int = 0
    is_pinned: bool = False
    sort: MemorySort = "-changed"
    limit: int = 25
    offset: int = 0


@dataclass(frozen=True)
class MemoryPage:
    """A page of memories, with the total, the archived matches (of live ones) and at most 100 scopes."""

    total: int
    archived: int
    entries: tuple[ReadEntry, ...]
    scopes: tuple[str, ...]


@dataclass(frozen=True)
class EntryHistory(ReadEntry):
    """An entry of a board with its lines, oldest first, after those of memories that it superseded."""

    device: str
    versions: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class SourceTurn:
    """A memory's source turn; `line` is None if the copy lacks it or it was forgotten."""

    id: str
    line: dict[str, Any] | None
    is_coming: bool


def is_changeable(entry: ReadEntry) -> bool:
    return entry.state in ("live", "expired")


@dataclass(frozen=True)
class MemoryDetail:
    """A memory with its versions (newest first), source turns, successors and origin."""

    entry: ReadEntry
    versions: tuple[dict[str, Any], ...]
    has_more: bool
    turns: tuple[SourceTurn, ...]
    successors: tuple[str, ...]
    origin: str

    @property
    def is_changeable(self) -> bool:
        return is_changeable(self.entry)
