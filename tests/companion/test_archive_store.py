"""What a board archives stays at the companion whatever the board's log has, until it is forgotten or back."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram import wire
from engram.link import messages
from engram.memory.scope import OWNER, Asker
from engram_host.companion.copy.reading import CopyOfLog
from engram_host.companion.model import Identity, LogName, Span, StoredVector
from engram_host.companion.search.cache import IndexCache
from engram_host.companion.search.engine import SearchEngine
from engram_host.companion.store.base import Store
from engram_host.companion.store.sqlite import SqliteStore
from plain_board import PlainBoard
from search_store import asked, ids

RECORDS: LogName = "records"
ANN = Asker("ann", "chat", False, "")
IDENTITY = Identity("test", 3, 1)


class ArchivingBoard(PlainBoard):
    """A board with records; what is live, archived and forgotten, by number, is known here."""

    def __init__(self, store: Store):
        super().__init__(store)
        self.log = self.logs[RECORDS]
        self.live: dict[int, int] = {}
        self.archived: dict[int, bytes] = {}
        self.promised: set[int] = set()
        self.is_known = False

    def write(self, **fields: Any) -> int:
        seq = self.log.next
        self.log.lines[seq] = wire.encode([("seq", seq), *fields.items()])
        self.log.next += 1
        return seq

    def keep(self, **more: Any) -> int:
        seq = self.log.next
        self.write(id=f"m{seq}", content=f"tea number {seq}", created=1, **more)
        self.live[seq] = seq
        return seq

    def update(self, number: int) -> None:
        was = self.live[number]
        self.live[number] = self.write(id=f"m{number}", content=f"tea again {number}", created=1, was=was)

    def promise(self, numbers: list[int]) -> int:
        """Ask for a promise; how many lines were promised."""
        seqs = [self.live[number] for number in numbers]
        check = 0
        for seq in seqs:
            check = messages.digest(self.log.lines[seq], check)
        epoch, crc = self.log.epoch, messages.shown(check)

        def make():
            sender = self.sender()
            return lambda: self.store.promise(sender, self.name, RECORDS, epoch, seqs, crc)

        count = self._ask(make)
        assert isinstance(count, int)
        self.promised |= set(seqs) if count == len(seqs) else set()
        return count

    def archive(self, number: int) -> None:
        """Archive a record of which the present line is promised."""
        seq = self.live.pop(number)
        assert seq in self.promised
        self.archived[number] = self.log.lines[seq]
        self.write(op="archive", id=f"m{number}", at=1, was=seq)

    def forget(self, number: int) -> None:
        if number in self.live:
            self.write(op="forget", id=f"m{number}", at=1, was=self.live.pop(number))
            return
        line = self.archived.pop(number)
        more = {"left": True} if line in self.log.lines.values() else {"scopes": ["all", "user:owner"]}
        self.write(op="forget", id=f"m{number}", at=1, **more)

    def restore(self, number: int) -> None:
        fields = wire.decode(self.archived.pop(number))
        del fields["seq"]
        fields.pop("restored", None)
        self.live[number] = self.write(**fields, restored=2)

    def compact_records(self) -> None:
        """As the board's own: what the companion was not told of stays."""
        have = self.store.device(self.name).have[RECORDS] if self.is_known else 0
        pending = any(
            b'"op":"archive"' in line or b'"left"' in line or b'"scopes"' in line
            for seq, line in self.log.lines.items()
            if seq > have
        )
        kept = set(self.live.values())
        for seq, line in self.log.lines.items():
            is_told = b'"op":"archive"' in line or b'"left"' in line or b'"scopes"' in line
            if (is_told and seq > have) or (pending and line in self.archived.values()):
                kept.add(seq)
        self.log.compact(set(self.log.lines) - kept, set())

    def sync(self) -> None:
        super().sync()
        self.is_known = True

    def check(self) -> None:
        """The companion has what is live and what is archived, each once, and nothing that went."""
        held = {wire.decode(line)["id"]: line for _, line in self.store.archived(self.name, 0, 1000)}
        assert held == {f"m{number}": line for number, line in self.archived.items()}
        assert self.hello().archived == self.store.count_archived() == len(self.archived)
        engine = SearchEngine(self.store, IndexCache(self.store))
        found = ids(engine.search(asked("tea", self.name, limit=100, log="records", use_meaning=False)))
        assert sorted(found) == sorted(f"m{number}" for number in {**self.live, **self.archived})
        copy = CopyOfLog(self.store, self.store.device(self.name), RECORDS, 2)
        states = {entry.id: entry.state for entry in copy.oldest_first() if entry.state != "superseded"}
        assert states == {f"m{number}": "live" for number in self.live} | {
            f"m{number}": "archived" for number in self.archived
        }


@pytest.fixture
def archiving(store: Store) -> ArchivingBoard:
    board = ArchivingBoard(store)
    for _ in range(6):
        board.keep()
    board.sync()
    return board


def _archive(board: ArchivingBoard, *numbers: int) -> None:
    assert board.promise(list(numbers)) == len(numbers)
    for number in numbers:
        board.archive(number)


def test_what_is_archived_stays_when_the_board_compacts(archiving: ArchivingBoard):
    _archive(archiving, 2, 4)
    archiving.sync()
    archiving.compact_records()
    archiving.sync()
    assert 2 not in archiving.log.lines and 7 not in archiving.log.lines
    archiving.check()
    copy = Span(archiving.name, RECORDS, archiving.log.epoch, 0, 100)
    assert dict(archiving.store.lines(copy)) == archiving.log.lines


@pytest.mark.parametrize("archived", [False, True])
def test_its_line_is_read_by_its_seq_only_from_the_archive(archiving: ArchivingBoard, archived: bool):
    _archive(archiving, 2)
    archiving.sync()
    archiving.compact_records()
    archiving.sync()
    found = archiving.store.lines_at(archiving.name, RECORDS, archiving.log.epoch, [2], archived)
    assert list(found) == ([2] if archived else [])


def test_it_keeps_its_vector(archiving: ArchivingBoard):
    vector = StoredVector(RECORDS, 2, b"d" * 16, np.array([4, 7, 11], np.float32))
    archiving.store.put_vectors(archiving.name, IDENTITY, [vector])
    _archive(archiving, 2)
    archiving.sync()
    archiving.compact_records()
    archiving.sync()
    assert [one.seq for _, one in archiving.store.vectors(archiving.name, IDENTITY, 0)] == [2]


def test_a_promise_of_which_nothing_came_keeps_nothing(archiving: ArchivingBoard):
    archiving.promise([2])
    archiving.forget(2)
    archiving.compact_records()
    archiving.sync()
    archiving.check()
    copy = Span(archiving.name, RECORDS, archiving.log.epoch, 0, 100)
    assert 2 not in dict(archiving.store.lines(copy, archived=True))


def test_a_promise_is_not_given_for_other_lines(archiving: ArchivingBoard):
    archiving.log.lines[3] = wire.encode([("seq", 3), ("id", "m3"), ("content", "x"), ("created", 1)])
    assert archiving.promise([2, 3]) == 0


@pytest.mark.parametrize("is_compacted", [False, True])
def test_a_forgotten_one_goes_with_its_bytes(archiving: ArchivingBoard, is_compacted: bool):
    _archive(archiving, 2, 4)
    archiving.sync()
    if is_compacted:
        archiving.compact_records()
        archiving.sync()
    archiving.forget(2)
    archiving.sync()
    archiving.check()
    archiving.compact_records()
    archiving.sync()
    archiving.check()
    copy = Span(archiving.name, RECORDS, archiving.log.epoch, 0, 100)
    assert not any(b"tea number 2" in line for _, line in archiving.store.lines(copy, archived=True))


def test_it_is_found_by_its_tag_alone(archiving: ArchivingBoard):
    """As memory_recall asks that has no query: with the tags as words."""
    number = archiving.keep(tags=["red-kite"])
    archiving.sync()
    _archive(archiving, number)
    archiving.sync()
    engine = SearchEngine(archiving.store, IndexCache(archiving.store))
    found = engine.search(asked("red-kite", archiving.name, tags=("red-kite",), use_meaning=False)).hits
    assert [(hit.id, hit.is_on_board) for hit in found] == [(f"m{number}", False)]


def test_who_may_not_see_it_does_not_forget_it(archiving: ArchivingBoard):
    number = archiving.keep(scope="user:ann")
    archiving.sync()
    _archive(archiving, number)
    archiving.sync()
    archiving.compact_records()
    archiving.sync()
    archiving.write(op="forget", id=f"m{number}", at=1, scopes=["all", "user:owner"])
    archiving.sync()
    assert [seq for seq, _ in archiving.store.archived(archiving.name)] == [number]


def test_one_that_is_back_is_archived_no_more(archiving: ArchivingBoard):
    _archive(archiving, 2, 4)
    archiving.sync()
    archiving.compact_records()
    archiving.sync()
    archiving.restore(4)
    archiving.sync()
    archiving.check()
    _archive(archiving, 4)
    archiving.sync()
    archiving.compact_records()
    archiving.sync()
    archiving.check()


def test_one_is_read_by_who_may_see_it(archiving: ArchivingBoard):
    number = archiving.keep(scope="user:owner")
    archiving.sync()
    _archive(archiving, number)
    archiving.sync()
    archiving.compact_records()
    archiving.sync()
    engine = SearchEngine(archiving.store, IndexCache(archiving.store))
    assert engine.read(archiving.name, RECORDS, number, OWNER, 10) == archiving.archived[number]
    assert engine.read(archiving.name, RECORDS, number, ANN, 10) == b""


def test_a_flash_that_went_back_has_its_memories_again(archiving: ArchivingBoard):
    flash = archiving.flash()
    live = dict(archiving.live)
    _archive(archiving, 2, 4)
    archiving.sync()
    archiving.compact_records()
    archiving.sync()
    archiving.put_flash(flash)
    archiving.log = archiving.logs[RECORDS]
    archiving.live, archiving.archived = live, {}
    archiving.sync()
    archiving.check()


SHORT, LONG = 30, 1000
"""Sequences of steps that are tried."""

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["keep", "update", "promise", "archive", "forget", "restore", "compact", "sync", "lose"]),
        st.integers(0, 30),
    ),
    max_size=40,
)


@pytest.mark.parametrize("examples", [SHORT, pytest.param(LONG, marks=pytest.mark.soak)])
def test_whatever_happens_each_memory_is_where_the_board_thinks(examples: int):
    @settings(max_examples=examples, deadline=None)
    @given(steps=STEPS)
    def try_it(steps: list[tuple[str, int]]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = SqliteStore(Path(folder) / "companion.db")
            store.open()
            try:
                _play(ArchivingBoard(store), steps)
            finally:
                store.close()

    run: Callable[[], None] = try_it
    run()


def _play(board: ArchivingBoard, steps: list[tuple[str, int]]) -> None:
    board.keep()
    board.sync()
    plain = {"keep": board.keep, "sync": board.sync, "compact": board.compact_records}
    with_live = {"update": board.update, "promise": lambda number: _promise(board, number), "lose": board.forget}
    with_archived = {"forget": board.forget, "restore": board.restore}
    for step, at in steps:
        ready = [number for number in board.live if board.live[number] in board.promised]
        if step in plain:
            plain[step]()
        elif step in with_live and board.live:
            with_live[step](sorted(board.live)[at % len(board.live)])
        elif step in with_archived and board.archived:
            with_archived[step](sorted(board.archived)[at % len(board.archived)])
        elif step == "archive" and ready:
            board.archive(ready[at % len(ready)])
    board.sync()
    board.sync()
    board.check()


def _promise(board: ArchivingBoard, number: int) -> None:
    board.sync()
    board.promise([number])
