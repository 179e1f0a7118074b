"""What the index's keeper writes down in the store: what the index is made with, and how far it is."""

import json
from dataclasses import dataclass, field

from engram_host.companion.store.values import ValueTable
from engram_host.companion.vector_types import Identity

_INDEX = "embedding.index"
_POSITION = "embedding.position."
LEASE = "embedding"
"""The process that holds it keeps the index."""

_MOST_GAPS = 32
"""Gaps of one board: bounds the note. Beyond it the two oldest become one, and what lies between is looked at again."""

Gap = tuple[int, int]
"""The versions after the first up to the second."""


@dataclass(frozen=True)
class IndexState:
    """`made` is what the index is made with, None if there is none; `replaces` names the one whose place it takes, ""
    once it is whole.
    """

    made: Identity | None = None
    replaces: str = ""


@dataclass
class IndexPosition:
    """Which versions of a device's lines have been embedded: all up to `top` but those in `gaps`, which rise, and in
    `lent`, which a batch job works on. `zone` is minutes east of Greenwich: a turn's text has its day, so in another zone
    some texts are others.
    """

    identity: str
    zone: int = 0
    top: int = 0
    gaps: list[Gap] = field(default_factory=list)
    lent: Gap | None = None

    @property
    def open(self) -> list[Gap]:
        """All that is not closed."""
        return sorted([*self.gaps, self.lent]) if self.lent else self.gaps

    @property
    def versions_left(self) -> int:
        """How many versions have not been looked at."""
        return sum(end - start for start, end in self.open)

    def reserve_gap(self, gap: Gap) -> None:
        """Set aside what newest() gave, until it is closed or given back."""
        self.close_gap(gap)
        self.lent = gap

    def release_gaps(self) -> None:
        """Take back what was lent, undone."""
        self.gaps, self.lent = list(self.open), None

    def extend_to(self, version: int) -> None:
        """Add the versions that came since; all, if the database has gone back behind this note."""
        if version < self.top:
            self.top, self.gaps, self.lent = 0, [], None
        if version > self.top:
            self._add(self.top, version)
            self.top = version

    def newest_gap(self, size: int) -> Gap:
        """The newest versions that have not been looked at, up to a limit; there has to be a gap."""
        start, end = self.gaps[-1]
        return max(start, end - size), end

    def close_gap(self, gap: Gap) -> None:
        """Note that the gap that newest() gave is closed."""
        start, end = self.gaps.pop()
        if (gap[1], start) != (end, min(start, gap[0])):
            raise ValueError("only what newest() gave can be closed")
        if start < gap[0]:
            self.gaps.append((start, gap[0]))

    def _add(self, start: int, end: int) -> None:
        if self.gaps and self.gaps[-1][1] == start:
            start = self.gaps.pop()[0]
        self.gaps.append((start, end))
        if len(self.gaps) > _MOST_GAPS:
            (first, _), (_, last) = self.gaps[:2]
            self.gaps[:2] = [(first, last)]


def read_index(notes: ValueTable) -> IndexState:
    """What the index is made with."""
    note = notes.get(_INDEX)
    if not note:
        return IndexState()
    found = json.loads(note)
    return IndexState(Identity(*found["made"]), found["replaces"])


def write_index(notes: ValueTable, made: Identity, replaces: str) -> None:
    """Keep that."""
    notes.put(_INDEX, json.dumps({"made": [made.model, made.dimensions, made.key], "replaces": replaces}))


def read_position(notes: ValueTable, device: str, identity: Identity, zone: int = 0) -> IndexPosition:
    """How far a device's lines are; nowhere if the note is of another identity, or of another zone."""
    note = notes.get(_POSITION + device)
    if note:
        found = json.loads(note)
        if (found["identity"], found["zone"]) == (str(identity), zone):
            return IndexPosition(str(identity), zone, found["top"], [(start, end) for start, end in found["gaps"]])
    return IndexPosition(str(identity), zone)


def write_position(notes: ValueTable, device: str, position: IndexPosition) -> None:
    """Keep that."""
    found = {"identity": position.identity, "zone": position.zone, "top": position.top, "gaps": position.open}
    notes.put(_POSITION + device, json.dumps(found))
