"""What a board archives stays at the companion whatever the board's log has, until it is forgotten or back."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from archiving_board import RECORDS, ArchivingBoard, archive, board_of_six
from engram import log_line
from engram.memory.access import OWNER, Caller
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.sqlite import SqliteDatabase
from engram_host.companion.store.vectors import Identity
from engram_host.companion.types import SeqRange
from search_store import asked

ANN = Caller("ann", "chat", False, "")
IDENTITY = Identity("test", 3, 1)


@pytest.fixture
def archiving(store: CompanionStore) -> ArchivingBoard:
    return board_of_six(store)


def test_a_promise_is_not_given_for_other_lines(archiving: ArchivingBoard):
    archiving.log.lines[3] = log_line.encode([("seq", 3), ("id", "m3"), ("content", "x"), ("created", 1)])
    assert archiving.promise([2, 3]) == 0


@pytest.mark.parametrize("is_compacted", [False, True])
def test_a_forgotten_one_goes_with_its_bytes(archiving: ArchivingBoard, is_compacted: bool):
    archive(archiving, 2, 4)
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
    copy = SeqRange(archiving.name, RECORDS, archiving.log.epoch, 0, 100)
    assert not any(b"tea number 2" in line for _, line in archiving.store.boards.lines(copy, archived=True))


def archived(archiving: ArchivingBoard, **fields: Any) -> int:
    """Archive a memory that has these fields; its number."""
    number = archiving.keep(**fields)
    archiving.sync()
    archive(archiving, number)
    archiving.sync()
    return number


def test_it_is_found_by_its_tag_alone(archiving: ArchivingBoard):
    number = archived(archiving, tags=["red-kite"])
    engine = archiving.engine()
    found = engine.search(asked("red-kite", archiving.name, tags=["red-kite"], meaning=False)).hits
    assert [(hit.id, hit.is_on_board) for hit in found] == [(f"m{number}", False)]


def test_who_may_not_see_it_does_not_forget_it(archiving: ArchivingBoard):
    number = archived(archiving, scope="user:ann")
    archiving.compact_records()
    archiving.sync()
    archiving.write(op="forget", id=f"m{number}", at=1, scopes=["all", "user:owner"])
    archiving.sync()
    assert [seq for seq, _ in archiving.store.boards.archived(archiving.name)] == [number]


def test_one_is_read_by_who_may_see_it(archiving: ArchivingBoard):
    number = archived(archiving, scope="user:owner")
    archiving.compact_records()
    archiving.sync()
    engine = archiving.engine()
    assert engine.engine.read(archiving.name, RECORDS, number, OWNER, 10) == archiving.archived[number]
    assert engine.engine.read(archiving.name, RECORDS, number, ANN, 10) == b""


SHORT, LONG = 30, 1000
"""Sequences of steps that are tried."""

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["keep", "update", "promise", "archive", "forget", "restore", "compact", "sync", "lose", "leave"]
        ),
        st.integers(0, 30),
    ),
    max_size=40,
)


def _steps(names: str) -> list[tuple[str, int]]:
    return [(name, 0) for name in names.split()]


@pytest.mark.parametrize("examples", [SHORT, pytest.param(LONG, marks=pytest.mark.soak)])
def test_whatever_happens_each_memory_is_where_the_board_thinks(examples: int):
    @settings(max_examples=examples)
    @given(steps=STEPS)
    @example(steps=_steps("promise archive restore update compact"))
    @example(steps=_steps("promise archive restore lose compact"))
    @example(steps=_steps("promise archive sync restore lose compact"))
    @example(steps=_steps("promise archive sync restore update leave compact"))
    def try_it(steps: list[tuple[str, int]]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = CompanionStore(SqliteDatabase(Path(folder) / "companion.db"))
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
    with_live = {
        "update": board.update,
        "promise": lambda number: _promise(board, number),
        "lose": board.forget,
        "leave": board.leave,
    }
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
