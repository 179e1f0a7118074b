"""A board that is erased leaves nothing: no row, no byte in the files, no index in memory."""

import re
from pathlib import Path

import numpy as np
import pytest

from companion_store import opened_store
from engram import log_line
from engram_host.companion.auth import tokens
from engram_host.companion.embedding.indexer import IndexPosition, write_position
from engram_host.companion.errors import UnknownDevice
from engram_host.companion.search.engine import IndexCache
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.boards.replica import NO_QUOTA
from engram_host.companion.store.database import bundled_migrations, tables_with
from engram_host.companion.store.media import StoredMedia, media_id
from engram_host.companion.store.senses.types import Anomaly, Listed, ReadingBlock, Row, SenseList
from engram_host.companion.store.vectors import Identity, StoredVector
from engram_host.companion.types import GatewayUse, MediaLimits, Sender, SeqRange
from file_bytes import bytes_found
from noting_board import NotingBoard
from plain_board import PlainBoard
from postgres_server import PostgresServer

LINES = 150
SECRET = b"the-gate-opens-with-4711"
NUMBERS = [0.125 * number + 0.015625 for number in range(64)]
VECTOR = np.array(NUMBERS, np.float32)
IDENTITY = Identity("test", 64, 1)
NEVER_ERASED = {"migrations", "files", "notes", "devices", "operator_tokens", "audit"} | {
    "page_sessions",
    "page_codes",
    "people",
    "people_ids",
    "chat_groups",
    "pairing_codes",
    "bridge_marks",
    "bridge_chats",
}
"""Tables of the schema that are of no board, or that erase_board() handles by another column; the audit log names boards, and
has nothing of their memory.
"""


def turn(seq: int, text: str) -> list[tuple[str, object]]:
    said = [("sid", "s1"), ("role", "user"), ("who", "owner"), ("text", text), ("at", 1795247156 + seq)]
    return [("seq", seq), *said, ("prev", seq - 1), ("n", seq - 1), ("scope", "user:owner")]


def with_everything(store: CompanionStore, name: str, secret: bytes) -> PlainBoard:
    """A board that has rows in every table: lines of two epochs, some set aside, notes, vectors, events, a token and counts."""
    board = NotingBoard(store, name, f"id-of-{name}")
    for log in ("records", "journal"):
        for _ in range(LINES):
            seq = board.logs[log].next
            board.logs[log].lines[seq] = log_line.encode(turn(seq, f"{secret.decode()} {name} {log} {seq}"))
            board.logs[log].next += 1
    board.sync()
    board.notes = {"MEMORY.md": secret + b" in a note\n", "2026-09-20.md": b"- " + secret + b" in an old one\n"}
    board.sync_notes()
    board.left = {"2026-09-20.md"}
    del board.notes["2026-09-20.md"]
    board.sync_notes()
    board.logs["journal"].epoch += 1_000_000
    board.sync()
    board.logs["journal"].lines[3] = log_line.encode([("seq", 3), ("text", "another")])
    board.send("journal", 0, 8)
    vectors = [StoredVector("journal", seq, bytes([seq]) * 16, VECTOR) for seq in range(1, 5)]
    store.vectors.put_vectors(name, IDENTITY, vectors)
    write_position(store.values, name, IndexPosition(str(IDENTITY), top=7))
    store.values.put(f"embedding.jobs.{name}.{IDENTITY}", "{}")
    store.tokens.add_token(tokens.stored_token(name, tokens.new_token()))
    perceive(store, board, secret.decode())
    photo = StoredMedia(name, media_id(name, "all"), "0" * 64, "image/png", 9, "all", 1)
    store.media.keep_media(photo, MediaLimits(9, 99, 9, frozenset()))
    store.gateway.begin_call(1, name, 5, {"device": GatewayUse(0, 0), "all": GatewayUse(0, 0)})
    return board


def perceive(store: CompanionStore, board: NotingBoard, name: str) -> None:
    """Give a board a sense with a reading and an event."""

    def sender() -> Sender:
        board.n += 1
        return board.sender()

    listed = SenseList(board.epoch, 1, True, (Listed(0, name, "", 1, 0),))
    store.senses.put_senses(sender(), board.name, listed, board.now)
    block = ReadingBlock(board.epoch, 0, 1, "0011aabb", 60, {0: [Row(29833334, 1, 5, 5, 5, 5)]})
    store.senses.put_readings(sender(), board.name, block, board.now, NO_QUOTA)
    (sense,) = store.senses.senses_of(board.name)
    store.senses.put_anomalies(board.name, sense.key, [Anomaly("stuck", 5, 5, (5, 5))], 9)


def rows_of(store: CompanionStore, name: str) -> dict[str, int]:
    """How many rows each table has in which a name stands, in any column."""

    def count(rows) -> dict[str, int]:
        tables = set(re.findall(r"^CREATE TABLE (\w+)", _schema(), re.MULTILINE)) - {"migrations"}
        found = {table: [str(row) for row in rows.run(f"SELECT * FROM {table}")] for table in tables}
        return {table: sum(name in row for row in each) for table, each in found.items()}

    return {table: count for table, count in store.database.read(count).items() if count}


def _schema() -> str:
    return "".join(step.sql for step in bundled_migrations())


def test_every_table_of_the_schema_that_names_a_board_is_known():
    assert {*tables_with()} - {*tables_with("device")} <= NEVER_ERASED


def test_an_erased_board_leaves_no_row_and_others_keep_theirs(store: CompanionStore):
    with_everything(store, "kitchen", SECRET)
    other = with_everything(store, "kitchen-2", b"another")
    assert rows_of(store, "notes:kitchen'").keys() >= {"devices", "logs", "lines", "files"}
    assert rows_of(store, "'kitchen'").keys() >= {
        "senses",
        "sense_copies",
        "sense_blocks",
        "sense_parts",
        "sense_events",
        "media",
    }
    before = rows_of(store, "kitchen-2")
    contents = store.removal.erase_board("kitchen")
    assert (contents.lines, contents.aside, contents.vectors, contents.has_token) == (3 * LINES, 1, 4, True)
    assert (
        rows_of(store, "'kitchen'")
        == rows_of(store, "id-of-kitchen'")
        == rows_of(store, "notes:kitchen'")
        == rows_of(store, "embedding.position.kitchen'")
        == {}
    )
    assert rows_of(store, "kitchen-2") == before
    assert (
        len(list(store.boards.lines(SeqRange("kitchen-2", "journal", other.logs["journal"].epoch, 0, 1000)))) == LINES
    )


def test_what_is_not_known_cannot_be_erased(store: CompanionStore):
    for erase in (store.removal.board_contents, store.removal.erase_board):
        with pytest.raises(UnknownDevice):
            erase("nobody")


def test_no_file_of_sqlite_has_a_byte_of_an_erased_board(tmp_path: Path):
    with opened_store(tmp_path) as store:
        with_everything(store, "kitchen", SECRET)
        with_everything(store, "garden", b"another")
        store.removal.erase_board("kitchen")
        assert store.database.scrub() == []
        assert bytes_found(tmp_path.iterdir(), b"garden")
        assert not bytes_found(tmp_path.iterdir(), SECRET, b"kitchen", b"id-of-kitchen")


@pytest.mark.parametrize("store_url", ["postgres"], indirect=True)
def test_no_table_of_postgresql_has_a_byte_of_an_erased_board(store: CompanionStore, postgres: PostgresServer):
    with_everything(store, "kitchen", SECRET)
    with_everything(store, "garden", b"another")
    postgres.checkpoint()
    assert bytes_found(postgres.table_files(), SECRET)
    store.database.write(lambda rows: rows.run("ANALYZE"))  # the planner's statistics have values of columns
    store.removal.erase_board("kitchen")
    (sentence,) = store.database.scrub()
    assert "write-ahead log" in sentence
    postgres.checkpoint()
    assert bytes_found(postgres.table_files(), b"another garden")
    assert not bytes_found(postgres.table_files(), SECRET, b"id-of-kitchen")


@pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
def test_a_board_that_comes_after_an_erased_one_of_its_name_is_searched_alone(store: CompanionStore):
    former = with_everything(store, "kitchen", SECRET)
    cache = IndexCache(store.boards, store.vectors)
    index, _ = cache.get("kitchen", None)
    assert len(index.rows) == LINES - 1
    store.removal.erase_board("kitchen")
    board = PlainBoard(store, "kitchen")
    board.logs["journal"].epoch = former.logs["journal"].epoch
    board.logs["records"].epoch = former.logs["records"].epoch
    board.logs["journal"].lines[1] = log_line.encode(turn(1, "new"))
    board.logs["journal"].next = 2
    board.sync()
    index, _ = cache.get("kitchen", None)
    assert len(index.rows) == 1
