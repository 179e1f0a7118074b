"""What a person had forgotten leaves the store: rows, vectors, and in SQLite the bytes of the files."""

from pathlib import Path

import numpy as np
import pytest

from companion_store import opened_store
from engram import log_line
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.sqlite import SqliteDatabase
from engram_host.companion.store.vectors import Identity, StoredVector
from engram_host.companion.types import LOGS, SeqRange
from file_bytes import bytes_found
from plain_board import PlainBoard, PlainLog

IDENTITY = Identity("test", 3, 1)
SECRET = b"the-gate-opens-with-4711"


@pytest.fixture
def file(tmp_path: Path):
    """A store in a file, as a running companion has it."""
    with opened_store(tmp_path) as store:
        yield store


def with_secret(store: CompanionStore) -> PlainBoard:
    """A board with twenty turns of which the tenth holds a secret, and a copy of them."""
    board = PlainBoard(store)
    log = board.logs["journal"]
    log.append(9)
    log.lines[10] = log_line.encode([("seq", 10), ("text", SECRET.decode())])
    log.next = 11
    log.append(10)
    board.sync()
    vector = StoredVector("journal", 10, b"d" * 16, np.array([4, 7, 11], np.float32))
    store.vectors.put_vectors(board.name, IDENTITY, [vector])
    return board


def is_anywhere(store: CompanionStore, board: PlainBoard, epochs: list[int]) -> bool:
    """Whether the secret is in any row."""
    spans = [SeqRange(board.name, log, epoch, 0, 1000) for log in LOGS for epoch in epochs]
    lines = [line for span in spans for _, line in store.boards.lines(span)]
    return any(SECRET in line for line in [*lines, *(one.line for one in store.boards.set_aside_lines(board.name))])


def test_what_the_flash_lost_is_set_aside_until_a_compaction_says_that_it_was_forgotten(store: CompanionStore):
    board = with_secret(store)
    board.hello()
    del board.logs["journal"].lines[10]
    board.send("journal", 8, 12)
    assert [(one.seq, one.line) for one in store.boards.set_aside_lines(board.name) if SECRET in one.line]
    board.n += 1
    store.replication.mark_agreed(board.sender(), board.name, "journal", board.logs["journal"].epoch, 1)
    assert not is_anywhere(store, board, [board.logs["journal"].epoch])


def test_a_title_that_compaction_took_out_of_a_line_is_not_set_aside(store: CompanionStore):
    board = PlainBoard(store)
    log = board.logs["journal"]
    session = [("seq", 1), ("op", "session"), ("sid", "s1"), ("at", 5)]
    log.lines, log.next = {1: log_line.encode([*session, ("title", SECRET.decode())])}, 2
    board.sync()
    log.lines, log.rewrites = {1: log_line.encode(session)}, 1
    board.sync()
    assert not is_anywhere(store, board, [log.epoch])


@pytest.mark.parametrize("is_taken_back", [False, True])
def test_a_turn_that_had_left_the_board_goes_with_the_line_that_forgot_it(store: CompanionStore, is_taken_back: bool):
    board = with_secret(store)
    log = board.logs["journal"]
    operate(log, ("op", "redact"), ("turn", 10))
    if is_taken_back:
        log.append(9)
        operate(log, ("op", "show"), ("turn", 10))
    board.sync()
    log.drop_oldest(12)
    log.compact({seq for seq, line in log.lines.items() if b'"op":' in line}, set())
    board.sync()
    assert is_anywhere(store, board, [log.epoch]) == is_taken_back
    assert bool(store.vectors.vectors(board.name, IDENTITY, 0)) == is_taken_back


def test_turns_that_had_left_the_board_go_with_their_session(store: CompanionStore):
    board = PlainBoard(store)
    log = board.logs["journal"]
    operate(log, ("sid", "s1"), ("role", "user"), ("text", SECRET.decode()))
    operate(log, ("sid", "s2"), ("role", "user"), ("text", "another session"))
    log.append(5)
    operate(log, ("op", "drop"), ("sid", "s1"))
    board.sync()
    log.drop_oldest(4)
    log.compact(set(), set())
    board.sync()
    assert not is_anywhere(store, board, [log.epoch])
    assert [seq for seq, _ in store.boards.lines(SeqRange(board.name, "journal", log.epoch, 0, 4))] == [2, 3, 4]


def test_records_that_left_with_the_whole_beginning_of_their_log_go(store: CompanionStore):
    board = PlainBoard(store)
    log = board.logs["records"]
    operate(log, ("id", "m1"), ("content", SECRET.decode()))
    operate(log, ("id", "m2"), ("content", "another"))
    board.sync()
    operate(log, ("op", "forget"), ("id", "m1"))
    log.compact({1, 2, 3}, set())
    log.oldest = 4
    board.sync()
    assert not is_anywhere(store, board, [log.epoch])


def test_a_turn_that_had_left_the_board_goes_with_its_redaction_at_a_compaction(store: CompanionStore):
    board = with_secret(store)
    log = board.logs["journal"]
    operate(log, ("op", "redact"), ("turn", 10))
    board.sync()
    log.drop_oldest(25)
    log.compact(set(), set())
    board.sync()
    assert not is_anywhere(store, board, [log.epoch])
    assert len(list(store.boards.lines(SeqRange(board.name, "journal", log.epoch, 0, 100)))) == 20


def operate(log: PlainLog, *fields: tuple[str, object]) -> None:
    log.lines[log.next] = log_line.encode([("seq", log.next), *fields])
    log.next += 1


@pytest.mark.parametrize("gone, emptied", [({10}, set()), (set(), {10})])
def test_no_file_has_a_byte_of_a_forgotten_line(file: CompanionStore, gone: set[int], emptied: set[int]):
    board = with_secret(file)
    assert is_in_files(file)
    board.logs["journal"].compact(gone, emptied)
    board.sync()
    assert not is_in_files(file)


def test_bytes_that_a_reader_kept_in_the_file_leave_with_the_next_change(file: CompanionStore):
    board = with_secret(file)
    reader = database_of(file)._connection()
    reader.execute("PRAGMA busy_timeout = 0")
    file.database._writer.execute("PRAGMA busy_timeout = 50")  # type: ignore[union-attr]
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM lines").fetchall()
    board.logs["journal"].compact({10}, set())
    board.sync()
    assert is_in_files(file)
    reader.close()
    file.values.put("any", "change")
    assert not is_in_files(file)


def database_of(store: CompanionStore) -> SqliteDatabase:
    assert isinstance(store.database, SqliteDatabase)
    return store.database


def is_in_files(store: CompanionStore) -> bool:
    return bool(bytes_found(database_of(store).path.parent.iterdir(), SECRET))
