"""Figures of one board over days, from its copy: memories, turns, tags."""

from collections import Counter
from dataclasses import dataclass

from engram_host.companion.entries.scan import day_of, scan_entries
from engram_host.companion.store.replica import ReplicaReader
from engram_host.companion.types import Device

MOST_TAGS = 12  # most frequent tags that are shown


@dataclass(frozen=True)
class DayCount:
    """Memories and turns of a day, in days since 1970 of the board's zone."""

    day: int
    memories: int
    turns: int


@dataclass(frozen=True)
class BoardFigures:
    """Figures of a copy: memories by state, a value for every day, and tags of live memories."""

    states: dict[str, int]
    turns: int
    days: tuple[DayCount, ...]
    tags: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class CopyCounts:
    """Counts of a copy over all days."""

    states: dict[str, int]
    tags: tuple[tuple[str, int], ...]
    memories: dict[int, int]
    turns: dict[int, int]

    def of_days(self, last: int, days: int) -> BoardFigures:
        span = range(last - days + 1, last + 1)
        shown = tuple(DayCount(day, self.memories.get(day, 0), self.turns.get(day, 0)) for day in span)
        return BoardFigures(self.states, sum(self.turns.values()), shown, self.tags)


def count_copy(store: ReplicaReader, device: Device, now: int) -> CopyCounts:
    """Count the entries of a board's copy; may raise StoreUnavailable."""
    states, tags, memories = Counter[str](), Counter[str](), Counter[int]()
    for entry in scan_entries(store, device, "records", now):
        states[entry.state] += 1
        memories[day_of(entry.at, device.zone)] += 1
        if entry.state == "live":
            tags.update(entry.tags)
    turns = Counter(day_of(entry.at, device.zone) for entry in scan_entries(store, device, "journal", now))
    return CopyCounts(dict(states), tuple(tags.most_common(MOST_TAGS)), dict(memories), dict(turns))
