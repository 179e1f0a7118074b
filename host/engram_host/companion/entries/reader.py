"""The entries of one log of a board's copy as they are now, by the board's own rules, and an export of them.

A log is read twice: first for the state of each entry, then for the requested lines. So only returned text stays in memory,
and a board of any size can be read. Lines that arrive between the two passes are left for the next read.

Archived memories are included, whether the board's log still has them or not. The profile, notes and use counts of memories
are files of the board that the companion has no copy of: they are not included.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from engram.memory.records import provenance
from engram.transfer import jsonl
from engram_host.companion.entries.scan import copied_lines, scan_entries
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.rows import fields_of
from engram_host.companion.types import Device, LogName

STATES = ("live", "superseded", "expired", "archived")


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
        # By the seq of an entry's latest line, and by its number.
        self._entries = {entry.seq: (entry.number, entry.state) for entry in scan_entries(store, device, log, now)}
        self._seqs = {number: seq for seq, (number, _) in self._entries.items()}

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
        letter = "m" if self._log == "records" else "t"
        for seq, line in copied_lines(self._store, self.device, self._log, fields_of):
            if seq in self._entries:
                number, state = self._entries[seq]
                yield ReadEntry(f"{letter}{number}", state, line)

    def has_entry(self, number: int) -> bool:
        return number in self._seqs

    def latest_of(self, entry_id: str) -> dict[str, Any] | None:
        """Return the latest line of an entry, None if it is missing or was forgotten."""
        seq = self._seqs.get(int(entry_id[1:]), 0)
        return read_lines(self._store, self.device, self._log, [seq]).get(seq)


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
