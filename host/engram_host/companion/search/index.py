"""An in-memory index of one board's lines, updated incrementally from the store.

The order of lines and their replacements do not matter: an updated index equals a rebuilt one. A
row depends on its line alone, an entry's state on all lines by seq. Texts are not kept; hits are
read from the store.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engram.memory import ALL, attributes
from engram.memory.line_meaning import phrases_of
from engram.store.types import ARCHIVED, EIGHTHS, FORGOTTEN, HEAD, MOST_TERMS, SUPERSEDED, Entry, row_length
from engram.text.openers import only_asks
from engram_host.companion.entries import lines as entry_lines
from engram_host.companion.entries.lines import EntryState, EntryStates
from engram_host.companion.search import tables
from engram_host.companion.search.tables import (
    KEY_BYTES,
    NONE,
    Postings,
    RecordTurns,
    Row,
    RowTable,
    StringTable,
    digest_key,
    moment,
    turns_of,
)
from engram_host.companion.search.tokenizer import Tokenizer, term_id
from engram_host.companion.search.vectors import Vectors, quantize
from engram_host.companion.store.vectors import Identity, StoredVector, text_digest
from engram_host.companion.types import Change, Device, LogName

OBJECT_BYTES = 10_000

_STATE_BYTES = 400  # of a line that concerns other entries

_IMPORTANCE = 50
_LABELS = "#!^"
PINNED = "*pinned"
"""Label of pinned memories, which boards do not have."""


@dataclass
class _NewRows:
    """New rows with the terms of all, their weights, the number of each row's, and (row, turn) of records."""

    rows: list[Row] = field(default_factory=list)
    terms: list[int] = field(default_factory=list)
    weights: list[int] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    sources: list[tuple[int, int]] = field(default_factory=list)


class SearchView(Protocol):
    @property
    def nbytes(self) -> int: ...


class DeviceIndex:
    """One board's index; callers hold `lock` to update or search it."""

    def __init__(self, device: Device, words: Tokenizer):
        self.lock = threading.RLock()
        self.name = device.name
        self.zone = device.zone
        self._epochs = _epochs(device)
        self._generation = device.generation
        self.version = 0
        self.vectors_seen = -1
        self.changes = 0
        self.view: SearchView | None = None
        self.identity: Identity | None = None
        self.vector_version = 0
        self.rows = RowTable()
        self.postings = Postings()
        self.vectors = Vectors()
        self.links = RecordTurns()
        self.scopes = StringTable()
        self.speakers = StringTable()
        self.threads = StringTable()
        self._words = words
        self._zone = device.zone.standard
        self._entry_states: dict[LogName, EntryStates] = {
            "records": EntryStates(lambda number: 0),
            "journal": EntryStates(self._session_of),
        }

    # --- lines

    def apply(self, changes: Sequence[Change]) -> None:
        """Apply changes in order of version, each line at most once."""
        self.changes += bool(changes)
        touched: set[tuple[LogName, int]] = set()
        slots: dict[tuple[LogName, int], tuple[int, int]] = {}
        for change in changes:
            kept = self._drop(change.log, change.seq, touched)
            if kept:
                slots[change.log, change.seq] = kept
        new = _NewRows()
        described: list[tuple[LogName, int, int, int]] = []
        for change in changes:
            if change.line is not None:
                line = entry_lines.parse_line(change.line)
                entry = entry_lines.describe_line(change.log, line, self._zone)
                self._entry_states[change.log].add_line(change.seq, entry)
                described.append((change.log, change.seq, entry.number, entry.session))
                if entry.number >= 0:
                    self._read(change.log, line, entry, new)
        self._add(new)
        for each in described:
            # After all lines: one may end a thread or hide an entry of the same batch.
            self._note_affected(*each, touched)
        for log, number in touched:
            self._set_states(log, number)
        if slots or self.vectors.has_early:
            self._give_vectors(new.rows, slots)
        if changes:
            self.version = max(self.version, changes[-1].version)
        self.postings.settle()

    def _drop(self, log: LogName, seq: int, touched: set[tuple[LogName, int]]) -> tuple[int, int] | None:
        row = self.rows.row_of(log, seq)
        if row == NONE and not self._entry_states[log].affects_others(seq):
            return None
        number = int(self.rows.column("number")[row]) if row != NONE else NONE
        self._note_affected(log, seq, number, 0, touched)
        self._entry_states[log].remove_line(seq)
        if row == NONE:
            return None
        self.rows.drop(log, row)
        if log == "journal":
            self.links.set_turn(seq, NONE)
        slot = int(self.rows.column("slot")[row])
        self.rows.column("slot")[row] = NONE
        return (slot, int(self.rows.column("key")[row])) if slot != NONE else None

    def _note_affected(
        self, log: LogName, seq: int, number: int, session: int, touched: set[tuple[LogName, int]]
    ) -> None:
        states = self._entry_states[log]
        if not (number == seq and states.is_plain(number, session)):
            touched.update((log, other) for other in states.affected_entries(seq, number))
        ended = states.ended_thread(seq)
        if ended:
            thread = self.threads.find(f"s{ended}")
            members = self.rows.column("thread") == thread if thread != NONE else np.zeros(0, np.bool_)
            touched.update((log, other) for other in self.rows.column("seq")[members].tolist())

    def _read(self, log: LogName, line: dict[str, Any], entry: Entry, new: "_NewRows") -> None:
        """Add an entry's line to the new rows."""
        counted, more = self._terms(log, line)
        del counted[MOST_TERMS:]
        if log == "records":
            more += [term_id(label) for label in entry.labels if label[0] in _LABELS]
            more += [term_id(PINNED)] if line.get("pinned") is True else []
            new.sources += [(len(new.rows), seq) for seq in turns_of(line)]
        head = min(len(counted), HEAD)
        new.terms += counted
        new.terms += more
        new.weights += [EIGHTHS] * head + [1] * (len(counted) - head) + [EIGHTHS] * len(more)
        new.sizes.append(len(counted) + len(more))
        new.rows.append(self._row(log, line, entry, row_length(len(counted))))

    def _add(self, new: "_NewRows") -> None:
        first = len(self.rows)
        self.rows.add(new.rows)
        self.postings.add(new.terms, new.weights, new.sizes, first)
        for number, row in enumerate(new.rows, first):
            if row.turn:
                self.links.set_turn(row.seq, number)
        for place, seq in new.sources:
            self.links.add_pair(first + place, seq, self.rows.row_of("journal", seq))

    def _row(self, log: LogName, line: dict[str, Any], entry: Entry, length: int) -> Row:
        is_turn = log == "journal"
        key = entry_lines.embedding_text(log, line, self._zone)
        return Row(
            is_turn,
            entry.is_reply,
            is_turn and only_asks(line.get("text", "")),
            line["seq"],
            entry.number,
            self.threads.intern(f"s{entry.session}") if is_turn else NONE,
            self.speakers.intern(line["who"]) if is_turn else NONE,
            self.scopes.intern("@" + line.get("scope", ALL)),
            moment(entry.at),
            moment(line["expires"]) if "expires" in line else 0,
            _importance(line["importance"]) if "importance" in line else _IMPORTANCE,
            length,
            digest_key(text_digest(key)) if key else 0,
        )

    def _terms(self, log: LogName, line: dict[str, Any]) -> tuple[list[int], list[int]]:
        if "gone" in line or "command" in line:
            return [], []
        said = [term_id(term) for term in attributes.terms(line["content" if log == "records" else "text"])]
        # In the board's order: the first words count most.
        if log == "records":
            texts = [line["content"], entry_lines.heading_of(line), *phrases_of(line)]
        else:
            texts = [entry_lines.day_of(line, self._zone), line["who"], line["text"]]
            texts += [line[name] for name in ("caption", "forwarded") if name in line]
        counted, more = self._words.term_ids(" ".join(texts), log == "records")
        return said + counted, more

    # --- states of entries

    def _session_of(self, number: int) -> int:
        row = self.rows.row_of("journal", number)
        thread = int(self.rows.column("thread")[row]) if row != NONE else NONE
        return int(self.threads.texts[thread][1:]) if thread != NONE else 0

    def entry_state(self, log: LogName, number: int) -> EntryState | None:
        row = self.rows.row_of(log, number)
        return self._entry_states[log].state_of(number, row != NONE and int(self.rows.column("number")[row]) == number)

    def _set_states(self, log: LogName, number: int) -> None:
        entry = self.entry_state(log, number)
        states = self.rows.column("state")
        for seq in entry.versions if entry else ():
            state = tables.EARLIER if entry and seq != entry.latest else tables.LIVE
            if entry and entry.state == FORGOTTEN:
                state = tables.GONE
            elif entry and entry.state == SUPERSEDED and state == tables.LIVE:
                state = tables.SUPERSEDED
            elif entry and entry.state == ARCHIVED and state == tables.LIVE:
                state = tables.ARCHIVED
            states[self.rows.row_of(log, seq)] = state

    def latest(self, found: NDArray[np.intp]) -> NDArray[np.intp]:
        states = (self.entry_state("records", number) for number in self.rows.column("number")[found].tolist())
        return np.array([self.rows.row_of("records", entry.latest) for entry in states if entry], np.intp)

    def successors(self, number: int) -> list[int]:
        found = self._entry_states["records"].hidden_by(number)
        return [other for other in found if (state := self.entry_state("records", other)) and state.state != FORGOTTEN]

    def row_of(self, log: LogName, number: int) -> int:
        entry = self.entry_state(log, number)
        row = self.rows.row_of(log, entry.latest) if entry else NONE
        is_found = row != NONE and self.rows.column("state")[row] in (tables.LIVE, tables.ARCHIVED)
        return row if is_found else NONE

    # --- vectors

    def use_identity(self, identity: Identity | None) -> None:
        if identity != self.identity:
            self.identity, self.vector_version, self.vectors_seen = identity, 0, -1
            self.changes += 1
            self.vectors = Vectors()
            self.rows.column("slot")[:] = NONE

    def apply_vectors(self, entries: Sequence[tuple[int, StoredVector]]) -> None:
        if not entries:
            return
        self.changes += 1
        codes, scales = quantize(np.array([stored.vector for _, stored in entries], np.float32))
        rows = np.array([self.rows.row_of(stored.log, stored.seq) for _, stored in entries], np.int32)
        keys = np.array([digest_key(stored.digest) for _, stored in entries], np.uint64)
        fits = (rows != NONE) & (self.rows.column("key")[rows] == keys) if len(self.rows) else rows != NONE
        for at in np.flatnonzero(~fits).tolist():
            stored = entries[at][1]
            self.vectors.keep_early(stored.log, stored.seq, stored.digest, codes[at], scales[at])
        for at in np.flatnonzero(fits).tolist() if self.vectors.has_early else ():
            self.vectors.forget_early(entries[at][1].log, entries[at][1].seq)
        slots = self.rows.column("slot")
        for former in slots[rows[fits]].tolist():
            if former != NONE:
                self.vectors.drop(former)
        slots[rows[fits]] = self.vectors.add(rows[fits], codes[fits], scales[fits])
        self.vector_version = max(self.vector_version, entries[-1][0])

    def _give_vectors(self, new: Sequence[Row], slots: dict[tuple[LogName, int], tuple[int, int]]) -> None:
        for one in new:
            log: LogName = "journal" if one.turn else "records"
            row = self.rows.row_of(log, one.seq)
            slot, key = slots.pop((log, one.seq), (NONE, 0))
            if slot != NONE and key == one.key:
                self.vectors.move(slot, row)
                self.rows.column("slot")[row] = slot
            elif slot != NONE:
                self._keep_early_vector(log, one.seq, slot, key)
            digest = self.vectors.early_digest(log, one.seq)
            if digest and digest_key(digest) == one.key:
                self.rows.column("slot")[row] = self.vectors.put_early(log, one.seq, row)
        for (log, seq), (slot, key) in slots.items():
            self._keep_early_vector(log, seq, slot, key)

    def _keep_early_vector(self, log: LogName, seq: int, slot: int, key: int) -> None:
        self.vectors.drop_early(slot, log, seq, key.to_bytes(KEY_BYTES, "little"))

    # --- the whole

    def fits(self, device: Device) -> bool:
        return (self.zone, self._epochs, self._generation) == (device.zone, _epochs(device), device.generation)

    @property
    def is_worn(self) -> bool:
        return self.rows.wasted > max(1024, len(self.rows) // 2)

    @property
    def nbytes(self) -> int:
        parts = (self.rows, self.postings, self.vectors, self.links, self.scopes, self.speakers, self.threads)
        states = _STATE_BYTES * sum(states.count for states in self._entry_states.values())
        view = self.view.nbytes if self.view else 0
        return OBJECT_BYTES + sum(part.nbytes for part in parts) + states + view


def _importance(value: object) -> int:
    return round(100 * max(0, min(value, 1))) if isinstance(value, int | float) else _IMPORTANCE


def _epochs(device: Device) -> dict[LogName, int]:
    return {log: state.epoch for log, state in device.logs.items()}
