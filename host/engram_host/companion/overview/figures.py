"""Figures of one board over days, from the lines of its copy: memories, turns, tags.

A copy is read once, line by line, and of each only what is counted is kept: a board of 10,000 memories is counted in a part of
a second. What became of an entry is decided as everywhere, by EntryStates; the many lines that concern nobody but themselves
need not be described for that.
"""

import heapq
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from engram import log_line
from engram.memory import line_meaning
from engram.store.types import ARCHIVED, FORGOTTEN, LIVE
from engram_host.companion.entries.embedding_text import describe_line
from engram_host.companion.entries.lifecycle import EntryStates
from engram_host.companion.store.replica import ReplicaReader
from engram_host.companion.types import Device, LogName, SeqRange

MOST_TAGS = 12
"""Tags that are shown, the most frequent ones."""

_ARCHIVED_AT_ONCE = 1000
_DAY_SECONDS = 86400
_CONCERNS_OTHERS = frozenset({"op", "scopes", "with", "supersedes", "past", "gone"})
"""Fields of lines that may do something to entries, others or their own."""


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
    for entry in count_entries(store, device, "records", now):
        states[entry.state] += 1
        memories[day_of(entry.at, device.zone)] += 1
        if entry.state == "live":
            tags.update(entry.tags)
    for entry in count_entries(store, device, "journal", now):
        turns[day_of(entry.at, device.zone)] += 1
    last = day_of(now, device.zone)
    shown = tuple(DayCount(day, memories[day], turns[day]) for day in range(last - days + 1, last + 1))
    return BoardFigures(dict(states), sum(turns.values()), shown, tuple(tags.most_common(MOST_TAGS)))


def day_of(at: int, zone: int) -> int:
    """The day of a moment in a zone, in days since 1970."""
    return (at + zone * 60) // _DAY_SECONDS


class CountedEntry(NamedTuple):
    """What is counted of an entry that was not forgotten: its latest line is the one with `seq`, `session` is the number of a
    turn's session, `notes` are those that a memory was distilled from.
    """

    seq: int
    state: str
    at: int
    session: int
    tags: tuple[str, ...]
    notes: tuple[str, ...]


class _Version(NamedTuple):
    number: int
    session: int
    at: int
    expires: int
    tags: tuple[str, ...]
    notes: tuple[str, ...]


def count_entries(store: ReplicaReader, device: Device, log: LogName, now: int) -> Iterator[CountedEntry]:
    """The entries of a log as `LogCopy` has them, in the order of their latest lines."""
    archived = set[int]()
    versions: dict[int, _Version] = {}
    states = EntryStates(lambda number: versions[number].session if number in versions else 0)
    for seq, line in _lines(store, device, log, archived):
        version = _read_version(log, seq, line, device.zone, states)
        if version:
            versions[seq] = version
    for seq, version in versions.items():
        if states.is_plain(version.number, version.session):
            state, latest = LIVE, version.number
        else:
            has_first = version.number in versions and versions[version.number].number == version.number
            entry = states.state_of(version.number, has_first)
            if entry is None:
                continue
            state, latest = entry.state, entry.latest
        if latest == seq and state != FORGOTTEN:
            name = _state_name(state, version, now, is_archived=seq in archived)
            yield CountedEntry(seq, name, version.at, version.session, version.tags, version.notes)


def _state_name(state: int, version: _Version, now: int, *, is_archived: bool) -> str:
    if state not in (LIVE, ARCHIVED):
        return "superseded"
    if version.expires and version.expires <= now:
        return "expired"
    return "archived" if state == ARCHIVED or is_archived else "live"


def _read_version(log: LogName, seq: int, line: bytes, zone: int, states: EntryStates) -> _Version | None:
    """The version of an entry that a line is, None if it is none; what it does to entries goes into `states`."""
    try:
        fields: Any = json.loads(line.decode())
    except ValueError:
        return None
    if not isinstance(fields, dict):
        return None
    if _CONCERNS_OTHERS.isdisjoint(fields) and (plain := _plain_version(log, seq, fields)):
        return plain
    entry = describe_line(log, fields, zone)
    states.add_line(seq, entry)
    return _version(log, entry.number, entry.session, fields, entry.at) if entry.number >= 0 else None


def _plain_version(log: LogName, seq: int, fields: dict[str, Any]) -> _Version | None:
    """The version that a line is which concerns no other entry and is the first one of its own; None if it may be another."""
    if log == "records":
        is_first = fields.get("id") == f"m{seq}" and isinstance(fields.get("content"), str)
        return _version(log, seq, 0, fields, fields.get("created", 0)) if is_first else None
    sid = fields.get("sid", "")
    is_turn = line_meaning.is_known_turn(fields) and sid[:1] == "s" and sid[1:].isascii() and sid[1:].isdigit()
    return _version(log, seq, int(sid[1:]), fields, fields["at"]) if is_turn else None


def _version(log: LogName, number: int, session: int, fields: dict[str, Any], at: Any) -> _Version | None:
    expires, tags = fields.get("expires", 0), fields.get("tags", ()) if log == "records" else ()
    if not isinstance(at, int) or not all(isinstance(tag, str) for tag in tags):
        return None
    notes = tuple(note for note in fields.get("notes", ()) if isinstance(note, str)) if "notes" in fields else ()
    return _Version(number, session, at, expires if isinstance(expires, int) else 0, tuple(tags), notes)


def _lines(store: ReplicaReader, device: Device, log: LogName, archived: set[int]) -> Iterator[tuple[int, bytes]]:
    """The lines of a log and of what is archived, each once and whole; seqs of the latter go into `archived`."""
    state = device.logs.get(log)
    if state is None:
        return
    before = 0
    span = SeqRange(device.name, log, state.epoch, 0, log_line.MAX_SEQ)
    for seq, line in heapq.merge(store.lines(span), _archive(store, device, log, archived)):
        if seq > before:
            before = seq
            yield seq, line


def _archive(store: ReplicaReader, device: Device, log: LogName, archived: set[int]) -> Iterator[tuple[int, bytes]]:
    after = 0
    while log == "records":
        part = store.archived(device.name, after, _ARCHIVED_AT_ONCE)
        archived.update(seq for seq, _ in part)
        yield from part
        if len(part) < _ARCHIVED_AT_ONCE:
            return
        after = part[-1][0]
