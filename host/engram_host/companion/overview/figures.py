"""Figures of one board over days, from the entries of its copy: memories, turns, tags."""

from collections import Counter
from dataclasses import dataclass

from engram_host.companion.entries.scan import day_of, scan_entries
from engram_host.companion.store.replica import ReplicaReader
from engram_host.companion.types import Device

MOST_TAGS = 12
"""Tags that are shown, the most frequent ones."""


@dataclass(frozen=True)
class DayCount:
    """How many memories and turns a board has of a day, in days since 1970 of the board's own zone."""

    day: int
    memories: int
    turns: int


@dataclass(frozen=True)
class BoardFigures:
    """What a board's copy has: memories by their states, turns, days without a gap, tags of live memories."""

    states: dict[str, int]
    turns: int
    days: tuple[DayCount, ...]
    tags: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class CopyCounts:
    """What a board's copy has, of all days: the same for any span of days that is looked at."""

    states: dict[str, int]
    tags: tuple[tuple[str, int], ...]
    memories: dict[int, int]
    turns: dict[int, int]

    def of_days(self, last: int, days: int) -> BoardFigures:
        """The figures with some days, up to the last one."""
        span = range(last - days + 1, last + 1)
        shown = tuple(DayCount(day, self.memories.get(day, 0), self.turns.get(day, 0)) for day in span)
        return BoardFigures(self.states, sum(self.turns.values()), shown, self.tags)


def count_copy(store: ReplicaReader, device: Device, now: int) -> CopyCounts:
    """Count what a board's copy has. StoreUnavailable."""
    states, tags, memories = Counter[str](), Counter[str](), Counter[int]()
    for entry in scan_entries(store, device, "records", now):
        states[entry.state] += 1
        memories[day_of(entry.at, device.zone)] += 1
        if entry.state == "live":
            tags.update(entry.tags)
    turns = Counter(day_of(entry.at, device.zone) for entry in scan_entries(store, device, "journal", now))
    return CopyCounts(dict(states), tuple(tags.most_common(MOST_TAGS)), dict(memories), dict(turns))
