"""The entries of one log of a board's copy as they are now, by the board's own rules, and an export of them.

A log is read twice: first for the state of each entry, then for the requested lines. So only returned text stays in memory,
and a board of any size can be read. Lines that arrive between the two passes are left for the next read.

Archived memories are included, whether the board's log still has them or not. The profile, notes and use counts of memories
are files of the board that the companion has no copy of: they are not included.
"""

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from engram import log_line
from engram.memory.records import provenance
from engram.store.types import FORGOTTEN
from engram.transfer import jsonl
from engram_host.companion.entries.lines import EntryState, EntryStates, describe_line, state_name
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.rows import fields_of
from engram_host.companion.types import Device, LogName, SeqRange

STATES = ("live", "superseded", "expired", "archived")

_ARCHIVED_AT_ONCE = 1000


@dataclass(frozen=True)
class ReadEntry:
    """A memory or a turn: its id, one of STATES, and its latest line."""

    id: str
    state: str
    line: dict[str, Any]


@dataclass(frozen=True)
class EntryPage:
    """A page of entries, newest first, with the total, and the archived matches where only live ones are wanted."""

    total: int
    archived: int
    entries: Sequence[ReadEntry]


class LogCopy:
    """One log of a board; any call may raise StoreUnavailable."""

    def __init__(self, store: BoardTable, device: Device, log: LogName, now: int):
        """`now`, in Unix seconds, decides which entries have expired."""
        self.device = device
        self._store = store
        self._log: LogName = log
        self._now = now
        self._sessions: dict[int, int] = {}
        self._firsts: set[int] = set()
        self._archived = archived_seqs(store, device, log)
        self._fates = EntryStates(lambda number: self._sessions.get(number, 0))
        self._load_states()

    def newest(self, fits: Callable[[ReadEntry], bool], state: str, limit: int) -> EntryPage:
        kept: deque[ReadEntry] = deque(maxlen=limit)
        total = archived = 0
        for entry in filter(fits, self.oldest_first()):
            if state in ("all", entry.state):
                kept.append(entry)
                total += 1
            elif state == "live" and entry.state == "archived":
                archived += 1
        return EntryPage(total, archived, list(reversed(kept)))

    def oldest_first(self) -> Iterator[ReadEntry]:
        for seq, line in self._lines():
            number = describe_line(self._log, line, self.device.zone.standard).number
            entry = self._entry_state(number)
            if entry and entry.latest == seq and entry.state != FORGOTTEN:
                yield ReadEntry(self._id(number), self._state(entry, line), line)

    def has_entry(self, number: int) -> bool:
        entry = self._entry_state(number)
        return entry is not None and entry.state != FORGOTTEN

    def latest_of(self, entry_id: str) -> dict[str, Any] | None:
        """Return the latest line of an entry, None if it is missing or was forgotten."""
        entry = self._entry_state(int(entry_id[1:]))
        return self._lines_at([entry.latest]).get(entry.latest) if entry and entry.state != FORGOTTEN else None

    def _load_states(self) -> None:
        for seq, line in self._lines():
            entry = describe_line(self._log, line, self.device.zone.standard)
            self._fates.add_line(seq, entry)
            if entry.number == seq:
                self._firsts.add(seq)
            if entry.session and entry.number >= 0:
                self._sessions[entry.number] = entry.session

    def _entry_state(self, number: int) -> EntryState | None:
        return self._fates.state_of(number, number in self._firsts) if number >= 0 else None

    def _state(self, entry: EntryState, line: dict[str, Any]) -> str:
        return state_name(entry.state, line.get("expires"), self._now, is_archived=entry.latest in self._archived)

    def _id(self, number: int) -> str:
        return ("m" if self._log == "records" else "t") + str(number)

    def _lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        return copied_lines(self._store, self.device, self._log, fields_of)

    def _lines_at(self, seqs: Iterable[int]) -> dict[int, dict[str, Any]]:
        return read_lines(self._store, self.device, self._log, list(seqs))


def archived_seqs(store: BoardTable, device: Device, log: LogName) -> set[int]:
    """Return the seqs of a board's archive, which has memories only; may raise StoreUnavailable."""
    return set(store.archived_seqs(device.name)) if log == "records" else set()


def copied_lines(
    store: BoardTable, device: Device, log: LogName, parse: Callable[[bytes], dict[str, Any]]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (seq, fields) of each readable line of a log or of its archive once; may raise StoreUnavailable."""
    state = device.logs.get(log)
    if state is None:
        return
    lines = store.lines(SeqRange(device.name, log, state.epoch, 0, log_line.MAX_SEQ))
    if log == "records":
        lines = heapq.merge(lines, _archived_lines(store, device.name))
    before = 0
    for seq, line in lines:
        if seq > before and (fields := parse(line)):
            before = seq
            yield seq, fields


def _archived_lines(store: BoardTable, device: str) -> Iterator[tuple[int, bytes]]:
    after = 0
    while part := store.archived(device, after, _ARCHIVED_AT_ONCE):
        yield from part
        after = part[-1][0]


def read_lines(store: BoardTable, device: Device, log: LogName, seqs: Sequence[int]) -> dict[int, dict[str, Any]]:
    """Return the readable lines among `seqs`, archived ones too; may raise StoreUnavailable."""
    state = device.logs.get(log)
    found = store.lines_at(device.name, log, state.epoch, seqs, archived=True) if state else {}
    return {seq: fields for seq, line in found.items() if (fields := fields_of(line))}


# --- export


_UNUSED = (0, 0)


def export_lines(copy: LogCopy, now: int, archived: bool = True) -> Iterator[str]:
    """Yield the lines of an export of a copy of `records`, oldest first; may raise StoreUnavailable."""
    logs = copy.device.logs
    epoch = logs["records"].epoch if "records" in logs else 0
    states = ("live", "archived") if archived else ("live",)
    there = sum(entry.state in states for entry in copy.oldest_first())
    yield jsonl.head(epoch, now, there)
    count = 1
    for entry in copy.oldest_first():
        if entry.state == "archived" and not archived:
            continue
        record = {"id": entry.id, **entry.line}
        is_past = entry.state == "superseded"
        follows = _origin_before(copy, entry.line, epoch)
        pairs: list[tuple[str, Any]] = [*jsonl.pairs(epoch, record, follows, is_past, _UNUSED)]
        if entry.state == "archived":
            pairs.append(("archived", True))
        yield jsonl.line(pairs)
        count += 1
    yield jsonl.tail(count)


def _origin_before(copy: LogCopy, line: dict[str, Any], epoch: int) -> str:
    older = line.get("supersedes")
    before = copy.latest_of(older) if isinstance(older, str) and older[1:].isdigit() else None
    return provenance.origin_of(before, epoch) if before else ""
