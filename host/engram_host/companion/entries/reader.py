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
from engram.store.types import ARCHIVED, FORGOTTEN, LIVE
from engram.transfer import jsonl
from engram_host.companion.entries.embedding_text import describe_line
from engram_host.companion.entries.lifecycle import EntryState, EntryStates
from engram_host.companion.errors import UnknownEntry
from engram_host.companion.store.replica import ReplicaReader
from engram_host.companion.store.row_types import fields_of
from engram_host.companion.types import Device, LogName, SeqRange

STATES = ("live", "superseded", "expired", "archived")

_ARCHIVED_AT_ONCE = 1000

_LOGS: dict[str, LogName] = {"m": "records", "t": "journal"}


@dataclass(frozen=True)
class ReadEntry:
    """A memory or a turn: its id, one of STATES, and its latest line."""

    id: str
    state: str
    line: dict[str, Any]


@dataclass(frozen=True)
class EntryPage:
    """The newest matching entries, newest first, and the total of matches."""

    total: int
    entries: list[ReadEntry]


def log_of_entry(entry_id: str) -> LogName:
    """Return the log of an id such as m12 or t34; raise UnknownEntry if it is malformed."""
    if not entry_id[1:].isascii() or not entry_id[1:].isdigit() or entry_id[0] not in _LOGS or len(entry_id) > 11:
        raise UnknownEntry(entry_id, "no_id")
    return _LOGS[entry_id[0]]


class LogCopy:
    """One log of a board; any call may raise StoreUnavailable."""

    def __init__(self, store: ReplicaReader, device: Device, log: LogName, now: int):
        """`now`, in Unix seconds, decides which entries have expired."""
        self.device = device
        self._store = store
        self._log: LogName = log
        self._now = now
        self._sessions: dict[int, int] = {}
        self._firsts: set[int] = set()
        self._archived: set[int] = set()  # seqs of the latest versions of archived entries
        self._fates = EntryStates(lambda number: self._sessions.get(number, 0))
        self._load_states()

    def newest(self, fits: Callable[[ReadEntry], bool], limit: int) -> EntryPage:
        kept: deque[ReadEntry] = deque(maxlen=limit)
        total = 0
        for entry in self.oldest_first():
            if fits(entry):
                kept.append(entry)
                total += 1
        return EntryPage(total, list(reversed(kept)))

    def oldest_first(self) -> Iterator[ReadEntry]:
        """Yield all entries that were not forgotten, in the order of their latest lines."""
        for seq, line in self._lines():
            number = describe_line(self._log, line, self.device.zone.standard).number
            entry = self._entry_state(number)
            if entry and entry.latest == seq and entry.state != FORGOTTEN:
                yield ReadEntry(self._id(number), self._state(entry, line), line)

    def versions(self, entry_id: str) -> tuple[ReadEntry, list[dict[str, Any]]]:
        """Return an entry and its lines, oldest first, with those of memories it superseded."""
        chain = [self._require_entry(int(entry_id[1:]), entry_id)]
        lines = self._lines_at([seq for _, entry in chain for seq in entry.versions])
        latest = lines[chain[0][1].latest]
        while older := self._predecessor(lines[chain[-1][1].latest], {number for number, _ in chain}):
            chain.append(older)
            lines |= self._lines_at(older[1].versions)
        versions = [lines[seq] for _, entry in reversed(chain) for seq in entry.versions if seq in lines]
        return ReadEntry(entry_id, self._state(chain[0][1], latest), latest), versions

    def has_entry(self, entry_id: str) -> bool:
        entry = self._entry_state(int(entry_id[1:]))
        return entry is not None and entry.state != FORGOTTEN

    def latest_of(self, entry_id: str) -> dict[str, Any] | None:
        """Return the latest line of an entry, None if it is missing or was forgotten."""
        entry = self._entry_state(int(entry_id[1:]))
        return self._lines_at([entry.latest]).get(entry.latest) if entry and entry.state != FORGOTTEN else None

    def _require_entry(self, number: int, entry_id: str) -> tuple[int, EntryState]:
        entry = self._entry_state(number)
        if entry is None or entry.state == FORGOTTEN:
            raise UnknownEntry(entry_id, "not_copied", board=self.device.name)
        return number, entry

    def _predecessor(self, line: dict[str, Any], seen: set[int]) -> tuple[int, EntryState] | None:
        older = line.get("supersedes")
        if not isinstance(older, str) or not older[1:].isdigit() or int(older[1:]) in seen:
            return None
        entry = self._entry_state(int(older[1:]))
        return (int(older[1:]), entry) if entry and entry.state != FORGOTTEN else None

    def _load_states(self) -> None:
        self._archived.update(seq for seq, _ in self._archive())
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
        if entry.state not in (LIVE, ARCHIVED):
            return "superseded"
        expires = line.get("expires")
        if isinstance(expires, int) and expires <= self._now:
            return "expired"
        # The line that archives it may be gone again: the archive's content decides.
        return "archived" if entry.state == ARCHIVED or entry.latest in self._archived else "live"

    def _id(self, number: int) -> str:
        return ("m" if self._log == "records" else "t") + str(number)

    def _lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        state = self.device.logs.get(self._log)
        if state is None:
            return
        before = 0
        span = SeqRange(self.device.name, self._log, state.epoch, 0, log_line.MAX_SEQ)
        for seq, line in heapq.merge(self._store.lines(span), self._archive()):
            if seq > before and (fields := fields_of(line)):
                before = seq
                yield seq, fields

    def _archive(self) -> Iterator[tuple[int, bytes]]:
        if self._log == "records":
            yield from archived_lines(self._store, self.device.name)

    def _lines_at(self, seqs: Iterable[int]) -> dict[int, dict[str, Any]]:
        return read_lines(self._store, self.device, self._log, list(seqs))


def archived_lines(store: ReplicaReader, device: str) -> Iterator[tuple[int, bytes]]:
    """Yield (seq, line) of a board's archive by seq; may raise StoreUnavailable."""
    after = 0
    while True:
        part = store.archived(device, after, _ARCHIVED_AT_ONCE)
        yield from part
        if len(part) < _ARCHIVED_AT_ONCE:
            return
        after = part[-1][0]


def read_lines(store: ReplicaReader, device: Device, log: LogName, seqs: Sequence[int]) -> dict[int, dict[str, Any]]:
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
    journal = logs["journal"].epoch if "journal" in logs else 0
    states = ("live", "archived") if archived else ("live",)
    there = sum(entry.state in states for entry in copy.oldest_first())
    yield jsonl.head(epoch, journal, now, there)
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
        for line in jsonl.lines(pairs):
            yield line
            count += 1
    yield jsonl.tail(count)


def _origin_before(copy: LogCopy, line: dict[str, Any], epoch: int) -> str:
    older = line.get("supersedes")
    before = copy.latest_of(older) if isinstance(older, str) and older[1:].isdigit() else None
    return provenance.origin_of(before, epoch) if before else ""
