"""Figures of one board over days, from the lines of its copy: memories, turns, tags."""

from collections import Counter
from dataclasses import dataclass

from engram_host.companion.entries.embedding_text import describe_line
from engram_host.companion.entries.reader import LogCopy
from engram_host.companion.store.replica import ReplicaReader
from engram_host.companion.types import Device

MOST_TAGS = 12
"""Tags that are shown, the most frequent ones."""

_DAY_SECONDS = 86400


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


def read_figures(store: ReplicaReader, device: Device, now: int, days: int) -> BoardFigures:
    """Read a board's copy, for the last so many days. StoreUnavailable."""
    states: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    memories: Counter[int] = Counter()
    turns: Counter[int] = Counter()
    for entry in LogCopy(store, device, "records", now).oldest_first():
        states[entry.state] += 1
        memories[_day(entry.line.get("created"), device.zone)] += 1
        if entry.state == "live":
            labels = describe_line("records", entry.line, device.zone).labels
            tags.update(label[1:] for label in labels if label.startswith("#"))
    for entry in LogCopy(store, device, "journal", now).oldest_first():
        turns[_day(entry.line.get("at"), device.zone)] += 1
    last = _day(now, device.zone)
    shown = tuple(DayCount(day, memories[day], turns[day]) for day in range(last - days + 1, last + 1))
    return BoardFigures(dict(states), sum(turns.values()), shown, tuple(tags.most_common(MOST_TAGS)))


def _day(at: object, zone: int) -> int:
    return (at + zone * 60) // _DAY_SECONDS if isinstance(at, int) else 0
