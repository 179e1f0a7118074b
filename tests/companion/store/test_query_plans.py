"""What is done for one board reads no table from end to end, however many boards there are.

PostgreSQL is asked for its plans in a database of a thousand boards: for the values that were used, and for the plan that it
may keep for any values. SQLite makes the same plans whatever its tables have.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import psycopg
import pytest

from engram import log_line
from engram_host.companion.store import CompanionStore, choose_store, removal
from engram_host.companion.store.boards.status import BoardStatus
from engram_host.companion.store.boards.table import BoardQuery
from engram_host.companion.store.database import tables_with
from engram_host.companion.store.postgres import PostgresRows
from engram_host.companion.store.sqlite import SqliteRows
from engram_host.companion.types import LEFT_NOTES, NOTES, NoteSpan, RetentionLimits, SeqRange
from filled_boards import (
    EPOCH,
    IDENTITY,
    NOW,
    TEMPLATE,
    FilledBoard,
    fill_template,
    open_filled,
    record_lines,
    turn_lines,
)
from one_case import in_one_case
from postgres_server import PostgresServer
from query_plans import Scan, recorded_statements, scanned_by_sqlite, scans, scans_whatever_the_values

BOARDS, LINES = 1000, 40
SENT = 10_000
"""More messages than the filled boards have sent."""

OF_A_BOARD = re.compile(r"\b(device|name|folder|mid|digest|number)\b")
"""One of these columns has to be in an index's condition: of a board, or of a row."""

PARTIAL = {"damaged_lines"}
"""Indexes of few rows: of lines that were found damaged."""

A_ROW_A_BOARD = {"devices", "logs", "board_status", "senses", "sense_copies"}
"""Tables with some rows for each board: lists of all boards read these as a whole."""

DAY = 86400


@dataclass(frozen=True)
class Filled:
    """A store with many boards, and a connection that asks for plans."""

    store: CompanionStore
    connection: "psycopg.Connection[Any]"

    def scans_of(self, work: Callable[[], object]) -> Iterator[tuple[str, Scan]]:
        """(statement, how it reads a table) of all that some work executes."""
        with recorded_statements(PostgresRows) as recorded:
            work()
        for sql, values in recorded.statements.items():
            found = [*scans(self.connection, sql, values), *scans_whatever_the_values(self.connection, sql)]
            yield from ((sql, scan) for scan in found)


@pytest.fixture(scope="module")
def filled(postgres: PostgresServer) -> Iterator[Filled]:
    name = "plans"
    with psycopg.connect(postgres.url, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}".encode())
        with (
            closing(open_filled(postgres.at(name), BOARDS, LINES, LINES)) as store,
            psycopg.connect(postgres.at(name), autocommit=True) as connection,
        ):
            yield Filled(store, connection)
        admin.execute(f"DROP DATABASE {name}".encode())


# --- what boards send


def send_lines(board: FilledBoard):
    board.greet()
    records, turns = list(record_lines(LINES + 10)), list(turn_lines(LINES + 60))
    board.send("records", records[LINES:])
    board.send("journal", turns[LINES:])


def send_archived_and_changed_lines(board: FilledBoard):
    store, name = board.store, board.device
    archive = [("seq", LINES + 1), ("op", "archive"), ("id", "m3"), ("at", NOW), ("was", 3)]
    board.send("records", [(LINES + 1, log_line.encode(archive))])
    records = list(record_lines(LINES))
    board.send("records", [records[9], records[11]])
    board.next["records"] = LINES + 2
    board.greet(rewrites=1)
    store.replication.is_same(board.sender, SeqRange(name, "records", EPOCH, 0, LINES + 1), LINES, "00000000")
    for log in ("records", "journal"):
        store.replication.mark_agreed(board.sender, name, log, EPOCH, 1)
    store.replication.promise_lines(board.sender, name, "records", EPOCH, [4], "00000000")
    store.replication.resolve_archive(board.sender, name, EPOCH, range(0), NOW)


def reset_and_go_back(board: FilledBoard):
    board.greet(epoch=EPOCH + 1)
    board.greet()
    board.next["records"] = LINES - 5
    board.greet()


def send_notes_senses_and_status(board: FilledBoard):
    board.greet()
    board.put_note(9, "# lamp\n\nthe lamp is new\n")
    board.store.notes.compare_notes(board.sender, NoteSpan(board.device, EPOCH, "", "", ()), NOW)
    board.put_senses(4, 6)
    board.store.status.put_status(board.sender, board.device, BoardStatus(run=2), NOW)


def converse(board: FilledBoard):
    board.greet()
    board.converse("new")
    board.store.conversations.cancel_conversation(board.device, "waits", NOW)
    board.store.conversations.conversation_after(board.device, "new", 0)
    board.store.conversations.conversations(board.device, 50)
    board.store.conversations.conversations(board.device, 50, before=1 << 40)
    board.store.conversations.conversations(board.device, 50, room="chat:1")


# --- what people and searches read


def update_an_index(board: FilledBoard):
    store, name = board.store, board.device
    version = store.boards.device(name).version
    for after in (0, version - 3):
        store.boards.changes(name, after)
        store.vectors.vectors(name, IDENTITY, after)
    board.put_vectors(range(1, 20))
    store.vectors.cached(IDENTITY, [b"%032d" % 1, b"%032d" % 2])
    store.boards.search_sources([name], (NOTES, LEFT_NOTES))


def look_through_a_board(board: FilledBoard):
    store, name = board.store, board.device
    assert len(list(store.boards.lines(SeqRange(name, "journal", EPOCH, 0, 1 << 40)))) == LINES
    assert store.boards.lines_at(name, "records", EPOCH, [4, 5, 6])
    store.boards.archived(name)
    store.boards.archived_seqs(name)
    assert store.boards.events(name) and store.boards.set_aside_lines(name)
    assert store.senses.senses_of(name) and store.senses.slots_known(name, 1) and store.senses.sense_events(name)
    store.senses.reading_rows(name, 1, 0, 0, 1 << 40)
    assert store.notes.note_names(name)
    store.notes.note_lines(name, "2026-01-01.md", "owner")
    store.status.board_status(name)
    store.status.board_days(name, 0)
    store.boards.board_row(name)


PATHS = (
    send_lines,
    send_archived_and_changed_lines,
    reset_and_go_back,
    send_notes_senses_and_status,
    converse,
    update_an_index,
    look_through_a_board,
)


@in_one_case("path", PATHS)
def test_what_is_done_for_a_board_reads_its_rows_only(filled: Filled, path: Callable[[FilledBoard], None]):
    board = FilledBoard(filled.store, f"board-{1 + PATHS.index(path)}", LINES, LINES, SENT)
    found = list(filled.scans_of(lambda: path(board)))
    assert found
    assert [
        (scan, sql) for sql, scan in found if not OF_A_BOARD.search(scan.condition) and scan.index not in PARTIAL
    ] == []


@in_one_case("path", PATHS)
def test_sqlite_reads_the_rows_of_a_board_only(tmp_path: Path, path: Callable[[FilledBoard], None]):
    with closing(choose_store(f"sqlite:///{tmp_path / 'companion.db'}")) as store:
        store.open()
        fill_template(store, LINES, LINES)
        with recorded_statements(SqliteRows) as recorded:
            path(FilledBoard(store, TEMPLATE, LINES, LINES, SENT))
        assert recorded.statements
        tables = {f"SCAN {name}" for name in tables_with()}
        whole = [
            (detail, sql)
            for sql, values in recorded.statements.items()
            for detail in store.database.read(lambda rows, sql=sql, values=values: scanned_by_sqlite(rows, sql, values))
            if detail in tables or (" USING INDEX " in detail and detail.rpartition(" ")[2] not in PARTIAL)
        ]
        assert whole == []


# --- what is done for all boards


def test_lists_of_boards_read_no_table_of_what_boards_sent(filled: Filled):
    def look():
        store = filled.store
        assert store.boards.sources() and store.boards.devices_after("board-5", 100)
        store.boards.heard_times()
        store.boards.list_boards(BoardQuery())
        store.health.gauges()
        store.senses.lasting_events()
        store.senses.senses_of_boards()
        store.conversations.boards_with_messages()
        store.conversations.newest_conversation()
        store.conversations.pushes_after(0, 10)
        store.conversations.unfinished_conversations("x", NOW + DAY, 10)
        store.boards.damaged()

    assert _whole_tables(filled, look) <= A_ROW_A_BOARD


def test_expiry_reads_no_table_of_what_boards_sent(filled: Filled):
    def sweep():
        with patch.object(removal, "_AT_ONCE", 20):
            filled.store.removal.expire(RetentionLimits(365, 1 << 28, 365, 730, 1 << 28), NOW)
        filled.store.conversations.end_old_conversations(0, 0, "too late", NOW + DAY)

    assert _whole_tables(filled, sweep) <= A_ROW_A_BOARD | {"gateway_use"}


def _whole_tables(filled: Filled, work: Callable[[], None]) -> set[str]:
    return {scan.table for _, scan in filled.scans_of(work) if not scan.index}
