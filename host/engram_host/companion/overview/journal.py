"""Days of one board: turns, notes and memories of each, and figures of its copy over days.

An index of a copy holds the seqs of entries by day, until the copy changes; a day's lines are read
when shown.
"""

import asyncio
import contextlib
import time
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from engram.memory import line_meaning
from engram_host.companion.entries.reader import ReadEntry, read_lines
from engram_host.companion.entries.scan import KeptOfBoards, scan_entries
from engram_host.companion.store.board_notes import NoteFileTable
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.types import Device, LogName
from engram_host.time_zones import BoardZone, day_date, day_number

MOST_KEPT = 8  # cached indexes; one of 100,000 turns takes 2 MB
MOST_TAGS = 12  # most frequent tags that are shown
TURNS_AT_ONCE = 60  # turns of a day read together
MOST_MEMORIES = 100  # memories read of a day, and of a note; others are counted
MOST_NOTE_LINES = 200  # lines read of a day's note
_LAST_DAY = day_number(date.max)


@dataclass(frozen=True)
class DayMark:
    """A day in the board's zone, and the number of its entries."""

    day: date
    turns: int = 0
    memories: int = 0
    notes: int = 0


@dataclass(frozen=True)
class Days:
    """Days with entries, oldest first; `first` and `last` are those of all, None without any."""

    zone: BoardZone
    marks: tuple[DayMark, ...]
    first: date | None
    last: date | None


@dataclass(frozen=True)
class BoardFigures:
    """Figures of a copy: memories by state, a mark for every day, and (tag, count) of live memories."""

    states: dict[str, int]
    turns: int
    days: tuple[DayMark, ...]
    tags: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Turn:
    """A turn of a conversation."""

    id: str
    session: str
    role: str
    who: str
    at: int
    text: str
    is_command: bool


@dataclass(frozen=True)
class DayNote:
    """Lines of a day's note from `first`; `total` is 0 without a note."""

    name: str
    principal: str
    first: int
    lines: tuple[str, ...]
    total: int


@dataclass(frozen=True)
class Day:
    """A day; turns are grouped by session, `made` has memories distilled from its note, at any time."""

    zone: BoardZone
    mark: DayMark
    before: date | None
    after: date | None
    turns: tuple[Turn, ...]
    turns_total: int
    offset: int
    memories: tuple[ReadEntry, ...]
    note: DayNote
    made: tuple[ReadEntry, ...]
    made_total: int
    principals: tuple[str, ...]


@dataclass
class _Entries:
    """Entries of a day: (session, seq) of turns, and seqs of memories."""

    turns: "array[int]" = field(default_factory=lambda: array("q"))
    memories: "array[int]" = field(default_factory=lambda: array("q"))

    def ordered_turns(self) -> list[int]:
        """Return seqs of turns, grouped by session; sessions by their first turn."""
        pairs = list(zip(self.turns[::2], self.turns[1::2], strict=True))
        first: dict[int, int] = {}
        for session, seq in pairs:
            first[session] = min(seq, first.get(session, seq))
        return [seq for _, seq in sorted(pairs, key=lambda pair: (first[pair[0]], pair[1]))]


@dataclass
class _Index:
    days: dict[int, _Entries] = field(default_factory=dict)
    of_notes: "dict[str, array[int]]" = field(default_factory=dict)
    states: dict[int, str] = field(default_factory=dict)
    """States of memories that are not live, by seq."""

    counts: Counter[str] = field(default_factory=Counter)

    tags: Counter[str] = field(default_factory=Counter)
    turns: int = 0

    def add_to(self, day: int) -> _Entries:
        """Return the day to add an entry to; times outside 1970 to 9999 come from a wrong clock."""
        return self.days.setdefault(day, _Entries()) if 0 <= day <= _LAST_DAY else _Entries()

    def entries(self, day: int) -> _Entries:
        return self.days.get(day) or _Entries()

    def mark(self, day: int, notes: int = 0) -> DayMark:
        entries = self.entries(day)
        return DayMark(day_date(day), len(entries.turns) // 2, len(entries.memories), notes)


class BoardJournal:
    def __init__(self, boards: BoardTable, notes: NoteFileTable):
        self._boards = boards
        self._notes = notes
        self._kept = KeptOfBoards[_Index](MOST_KEPT)

    async def days(self, name: str, first: date, days: int) -> Days:
        return await asyncio.to_thread(self._days, name, day_number(first), days)

    async def day(self, name: str, day: date, principal: str, offset: int, limit: int, note_line: int = 1) -> Day:
        return await asyncio.to_thread(self._day, name, day_number(day), principal, offset, limit, note_line)

    async def place_of_turn(self, name: str, turn: str) -> tuple[date, int] | None:
        """Return (day, turns of that day before it) of a turn such as t34, or None; raises as day()."""
        return await asyncio.to_thread(self._place_of_turn, name, int(turn[1:]))

    def figures(self, device: Device, days: int) -> BoardFigures:
        index, today = self._index(device), device.zone.day_of(int(time.time()))
        marks = tuple(index.mark(day) for day in range(today - days + 1, today + 1))
        return BoardFigures(dict(index.counts), index.turns, marks, tuple(index.tags.most_common(MOST_TAGS)))

    def _days(self, name: str, first: int, days: int) -> Days:
        device = self._boards.device(name)
        index, notes = self._index(device), self._read_notes(name)
        known = sorted(index.days.keys() | notes.keys())
        marks = tuple(index.mark(day, len(notes.get(day, ()))) for day in known if first <= day < first + days)
        return Days(device.zone, marks, day_date(known[0]) if known else None, day_date(known[-1]) if known else None)

    def _day(self, name: str, day: int, principal: str, offset: int, limit: int, note_line: int) -> Day:
        device = self._boards.device(name)
        index, notes = self._index(device), self._read_notes(name)
        order = index.entries(day).ordered_turns()
        made = index.of_notes.get(f"{day_date(day)}.md", array("q"))
        # Memories distilled from a note are listed with it.
        given = set(made)
        others = [seq for seq in index.entries(day).memories if seq not in given]
        known = index.days.keys() | notes.keys()
        before = max((each for each in known if each < day), default=None)
        after = min((each for each in known if each > day), default=None)
        turns = (_turn(seq, line) for seq, line in self._lines(device, "journal", order[offset : offset + limit]))
        return Day(
            zone=device.zone,
            mark=index.mark(day, len(notes.get(day, ()))),
            before=None if before is None else day_date(before),
            after=None if after is None else day_date(after),
            turns=tuple(turns),
            turns_total=len(order),
            offset=offset,
            memories=self._memories(device, index, others[:MOST_MEMORIES]),
            note=self._note(name, f"{day_date(day)}.md", principal, note_line),
            made=self._memories(device, index, made[:MOST_MEMORIES]),
            made_total=len(made),
            principals=tuple(notes.get(day, ())),
        )

    def _place_of_turn(self, name: str, number: int) -> tuple[date, int] | None:
        index = self._index(self._boards.device(name))
        for day, entries in index.days.items():
            if number in entries.turns[1::2]:
                return day_date(day), entries.ordered_turns().index(number)
        return None

    def _read_notes(self, name: str) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for note in self._notes.note_names(name):
            with contextlib.suppress(ValueError):  # MEMORY.md is of no day
                found.setdefault(day_number(date.fromisoformat(note.name.removesuffix(".md"))), []).append(
                    note.principal
                )
        return found

    def _note(self, name: str, file: str, principal: str, first: int) -> DayNote:
        lines = self._notes.note_lines(name, file, principal) or []
        if lines and not lines[-1]:
            lines.pop()  # the text after the last line end
        shown = tuple(lines[first - 1 : first - 1 + MOST_NOTE_LINES])
        return DayNote(file, principal, first, shown, len(lines))

    def _memories(self, device: Device, index: _Index, seqs: Sequence[int]) -> tuple[ReadEntry, ...]:
        return tuple(
            ReadEntry(str(line.get("id", "")), index.states.get(seq, "live"), line)
            for seq, line in self._lines(device, "records", seqs)
        )

    def _lines(self, device: Device, log: LogName, seqs: Sequence[int]) -> list[tuple[int, dict[str, Any]]]:
        found = read_lines(self._boards, device, log, seqs)
        return [(seq, found[seq]) for seq in seqs if seq in found]

    def _index(self, device: Device) -> _Index:
        """Return the index, rebuilt for a changed copy or a new hour, since memories expire."""
        now = int(time.time())
        key = (device.name, device.generation, device.version, device.zone, now // 3600)
        return self._kept.get(key, lambda: _read_index(self._boards, device, now))


def _read_index(boards: BoardTable, device: Device, now: int) -> _Index:
    index = _Index()
    for entry in scan_entries(boards, device, "journal", now):
        index.add_to(device.zone.day_of(entry.at)).turns.extend((entry.session, entry.seq))
        index.turns += 1
    for entry in scan_entries(boards, device, "records", now):
        index.add_to(device.zone.day_of(entry.at)).memories.append(entry.seq)
        index.counts[entry.state] += 1
        for note in dict.fromkeys(entry.notes):
            index.of_notes.setdefault(note, array("q")).append(entry.seq)
        if entry.state == "live":
            index.tags.update(entry.tags)
        else:
            index.states[entry.seq] = entry.state
    return index


def _turn(seq: int, line: dict[str, Any]) -> Turn:
    return Turn(
        f"t{seq}",
        str(line.get("sid", "")),
        str(line.get("role", "")),
        str(line.get("who", "")),
        line.get("at", 0),
        line_meaning.attributed_text(line),
        "command" in line,
    )
