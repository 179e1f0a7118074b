"""Notes of the indexer in the store: the index's identity and progress."""

import json
from dataclasses import dataclass, field

from engram_host.companion.store.values import ValueTable
from engram_host.companion.vector_types import Identity

_INDEX = "embedding.index"
_POSITION = "embedding.position."
LEASE = "embedding"
"""Lease of the process that keeps the index."""

_MOST_GAPS = 32
"""Limit of a board's gaps; beyond it the two oldest are joined."""

Gap = tuple[int, int]
"""Versions after the first, up to the second."""


@dataclass(frozen=True)
class IndexState:
    """Identity of the index; `replaces` names the former one until this one is whole."""

    made: Identity | None = None
    replaces: str = ""


@dataclass
class IndexPosition:
    """Embedded versions of a device: up to `top`, except `gaps` (ascending) and `lent` (in a job)."""

    identity: str
    zone: int = 0
    top: int = 0
    gaps: list[Gap] = field(default_factory=list)
    lent: Gap | None = None

    @property
    def open(self) -> list[Gap]:
        return sorted([*self.gaps, self.lent]) if self.lent else self.gaps

    @property
    def versions_left(self) -> int:
        return sum(end - start for start, end in self.open)

    def reserve_gap(self, gap: Gap) -> None:
        self.close_gap(gap)
        self.lent = gap

    def release_gaps(self) -> None:
        self.gaps, self.lent = list(self.open), None

    def extend_to(self, version: int) -> None:
        """Add new versions; all of them if the database has gone back behind this note."""
        if version < self.top:
            self.top, self.gaps, self.lent = 0, [], None
        if version > self.top:
            self._add(self.top, version)
            self.top = version

    def newest_gap(self, size: int) -> Gap:
        """Return the newest versions not yet checked, at most `size`; there must be a gap."""
        start, end = self.gaps[-1]
        return max(start, end - size), end

    def close_gap(self, gap: Gap) -> None:
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
    note = notes.get(_INDEX)
    if not note:
        return IndexState()
    found = json.loads(note)
    return IndexState(Identity(*found["made"]), found["replaces"])


def write_index(notes: ValueTable, made: Identity, replaces: str) -> None:
    notes.put(_INDEX, json.dumps({"made": [made.model, made.dimensions, made.key], "replaces": replaces}))


def read_position(notes: ValueTable, device: str, identity: Identity, zone: int = 0) -> IndexPosition:
    """Read a device's position; empty if the note has another identity or zone."""
    note = notes.get(_POSITION + device)
    if note:
        found = json.loads(note)
        if (found["identity"], found["zone"]) == (str(identity), zone):
            return IndexPosition(str(identity), zone, found["top"], [(start, end) for start, end in found["gaps"]])
    return IndexPosition(str(identity), zone)


def write_position(notes: ValueTable, device: str, position: IndexPosition) -> None:
    found = {"identity": position.identity, "zone": position.zone, "top": position.top, "gaps": position.open}
    notes.put(_POSITION + device, json.dumps(found))
