"""Work for one board reads no table from end to end, however many boards there are."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from engram import log_line
from engram_host.companion.store import choose_store
from engram_host.companion.store.boards.status import BoardStatus
from engram_host.companion.store.database import tables_with
from engram_host.companion.store.rows import Rows
from engram_host.companion.store.sqlite import SqliteRows
from engram_host.companion.types import LEFT_NOTES, NOTES, NoteSpan, SeqRange
from filled_boards import EPOCH, IDENTITY, NOW, TEMPLATE, FilledBoard, fill_template, record_lines, turn_lines
from one_case import in_one_case

LINES = 40
SENT = 10_000
"""More messages than the filled boards have sent."""

PARTIAL = {"damaged_lines"}
"""Indexes of few rows: of lines that were found damaged."""

DAY = 86400


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
    store.status.statuses_of([name])
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


@contextmanager
def recorded_statements() -> Iterator[dict[str, Sequence[Any]]]:
    """Record what stores on SQLite execute meanwhile, each statement with the values that it was executed with last."""
    found: dict[str, Sequence[Any]] = {}
    run, run_many, count = SqliteRows.run, SqliteRows.run_many, SqliteRows.count

    def recording_run(self: SqliteRows, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        found[sql] = values
        return run(self, sql, values)

    def recording_run_many(self: SqliteRows, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        found.update({sql: rows[0]} if rows else {})
        run_many(self, sql, rows)

    def recording_count(self: SqliteRows, sql: str, values: Sequence[Any] = ()) -> int:
        found[sql] = values
        return count(self, sql, values)

    with patch.multiple(SqliteRows, run=recording_run, run_many=recording_run_many, count=recording_count):
        yield found


def scanned(rows: Rows, sql: str, values: Sequence[Any]) -> list[str]:
    """Return the tables that SQLite reads from end to end for a statement: `SCAN table`, or `SCAN table USING INDEX index`."""
    plan = rows.run(f"EXPLAIN QUERY PLAN {sql}", values)
    return [detail for *_, detail in plan if detail.startswith("SCAN ")]


@in_one_case("path", PATHS)
def test_sqlite_reads_the_rows_of_a_board_only(tmp_path: Path, path: Callable[[FilledBoard], None]):
    with closing(choose_store(f"sqlite:///{tmp_path / 'companion.db'}")) as store:
        store.open()
        fill_template(store, LINES, LINES)
        with recorded_statements() as recorded:
            path(FilledBoard(store, TEMPLATE, LINES, LINES, SENT))
        assert recorded
        tables = {f"SCAN {name}" for name in tables_with()}
        whole = [
            (detail, sql)
            for sql, values in recorded.items()
            for detail in store.database.read(lambda rows, sql=sql, values=values: scanned(rows, sql, values))
            if detail in tables or (" USING INDEX " in detail and detail.rpartition(" ")[2] not in PARTIAL)
        ]
        assert whole == []
