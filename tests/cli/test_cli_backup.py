"""The companion's database saved while it takes lines, and put back: `engram backup` and `engram restore`."""

import getpass
import shutil
import sqlite3
import threading
from pathlib import Path

import pytest

from cli_case import audit_log, engram, fine
from companion_store import opened_store
from damaging import harm_line, overwrite_page, tree_pages
from engram_host.companion.store import CompanionStore, recovery
from engram_host.companion.store.sqlite import SqliteDatabase
from engram_host.companion.types import AuditEntry
from killed_at import STEP, killed_at
from peers import Companion
from plain_board import copy_lines
from sending import Sent

LINES = 40


def _board(companion: Companion, name: str) -> Sent:
    return Sent(companion.posted, name)


def _copied(path: Path, device: str) -> int:
    """How many lines a database has of a board, which says that it is whole."""
    with sqlite3.connect(path) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        ((have,),) = database.execute(
            "SELECT have FROM logs WHERE device = ? AND log = 'journal'", (device,)
        ).fetchall()
        ((count,),) = database.execute("SELECT count(*) FROM lines WHERE device = ?", (device,)).fetchall()
    assert have == count  # what was acknowledged is there, and nothing else: one state of the database
    return count


def test_a_backup_that_is_made_while_lines_come_is_one_state_of_the_database(companion: Companion, tmp_path: Path):
    board = _board(companion, "busy")
    board.hello()
    stop = threading.Event()

    def talk() -> None:
        while not stop.is_set():
            seq = board.say("something")
            board.send("journal", seq - 1)

    talking = threading.Thread(target=talk)
    talking.start()
    try:
        counts = []
        for number in range(4):
            file = tmp_path / f"{number}.db"
            assert fine("backup", file, "--home", companion.home, "--json").json["bytes"] == file.stat().st_size
            counts.append(_copied(file, "busy"))
    finally:
        stop.set()
        talking.join()
    assert counts == sorted(counts) and counts[-1] <= board.lines["journal"][-1][0]


def test_a_restored_database_is_what_was_saved_and_the_board_sends_the_rest(tmp_path: Path):
    home, file = tmp_path / "home", tmp_path / "saved.db"
    with Companion(home) as companion:
        board = _board(companion, "kitchen")
        board.say("before")
        board.sync()
        fine("backup", file, "--home", home)
        board.say("after")
        board.sync()
        companion.stop()
        assert engram("restore", file, "--home", home).status == 1  # there is one, and --replace was not said
        fine("restore", file, "--home", home, "--replace")
        companion.start()
        assert [line["text"] for line in companion.lines("kitchen", "journal")] == ["before"]
        board.sync()
        assert [line["text"] for line in companion.lines("kitchen", "journal")] == ["before", "after"]


def test_nothing_is_restored_while_a_companion_runs(companion: Companion, tmp_path: Path):
    file = tmp_path / "saved.db"
    fine("backup", file, "--home", companion.home)
    ran = engram("restore", file, "--home", companion.home, "--replace", "--json")
    assert ran.status == 1 and "end it first" in ran.json["problem"]
    assert companion.client.get("/v1/devices").status_code == 200


def test_a_backup_is_for_its_owner_alone(companion: Companion, tmp_path: Path):
    file = tmp_path / "saved.db"
    fine("backup", file, "--home", companion.home)
    assert file.stat().st_mode & 0o077 == 0


def test_a_backup_takes_the_place_of_another_file_only_where_that_is_said(tmp_path: Path):
    home, file = _kept(tmp_path), tmp_path / "saved.db"
    file.write_text("a thesis")
    ran = engram("backup", file, "--home", home)
    assert ran.status == 1 and "--replace" in ran.err and file.read_text() == "a thesis"
    fine("backup", file, "--home", home, "--replace")
    assert file.read_bytes().startswith(b"SQLite format 3")


@pytest.mark.parametrize("tree", ["lines", "lines_by_version"])
def test_a_damaged_database_is_refused_and_takes_the_place_of_no_backup(tmp_path: Path, tree: str):
    home, file = tmp_path / "home", tmp_path / "saved.db"
    with opened_store(home) as store:
        copy_lines(store, 100)
    fine("backup", file, "--home", home)
    good = file.read_bytes()
    overwrite_page(home / "companion.db", tree_pages(home / "companion.db")[tree][-1])
    for words in (("--replace",), ("--keep", "3")):
        ran = engram("backup", file, "--home", home, *words)
        assert ran.status == 1 and "no backup was made" in ran.err
        assert "engram repair" in ran.err
        assert file.read_bytes() == good and [path.name for path in tmp_path.glob("saved*")] == ["saved.db"]


def test_a_database_with_damaged_lines_is_saved_but_in_the_place_of_no_backup(tmp_path: Path):
    home, file = tmp_path / "home", tmp_path / "saved.db"
    with opened_store(home) as store:
        copy_lines(store, 100)
        fine("backup", file, "--home", home)
        harm_line(store, "kitchen", "journal", 5)
    good = file.read_bytes()
    for words in (("--replace",), ("--keep", "3")):
        ran = engram("backup", file, "--home", home, *words)
        assert ran.status == 1 and "damaged lines (1)" in ran.err and "has 1 of these whole" in ran.err
        assert file.read_bytes() == good and "engram repair" in ran.err
    assert fine("backup", tmp_path / "other.db", "--home", home, "--json").json["damaged_lines"] == 1


@pytest.mark.parametrize("has_line", [True, False])
def test_a_damaged_line_of_a_former_epoch_keeps_an_earlier_backup_only_if_that_has_it(tmp_path: Path, has_line: bool):
    home, file = tmp_path / "home", tmp_path / "saved.db"
    with opened_store(home) as store:
        copy_lines(store, 100)
        if has_line:
            fine("backup", file, "--home", home)
        harm_line(store, "kitchen", "journal", 5)
        if not has_line:
            fine("backup", file, "--home", home)
        store.database.write(lambda rows: rows.run("UPDATE logs SET is_present = (1 = 0)"))
    ran = engram("backup", file, "--home", home, "--replace")
    assert ran.status == has_line and ("has 1 of these whole" in ran.err) == has_line
    assert fine("repair", "--home", home, "--json").json["lines_set_aside"] == 1
    assert fine("backup", file, "--home", home, "--replace", "--json").json["damaged_lines"] == 0


def test_so_many_backups_are_kept_as_is_said(tmp_path: Path):
    home, file = tmp_path / "home", tmp_path / "saved.db"
    with opened_store(home) as store:
        for number in range(5):
            store.values.put("said", str(number))
            fine("backup", file, "--home", home, "--keep", "3")
    assert sorted(path.name for path in tmp_path.glob("saved*")) == ["saved.db", "saved.db.1", "saved.db.2"]
    assert [_said(file.with_name(name)) for name in ("saved.db", "saved.db.1", "saved.db.2")] == ["4", "3", "2"]


@pytest.mark.parametrize("name", ["companion.db", "companion.db-wal", "companion.db-shm", "soft", "hard"])
def test_a_backup_never_takes_the_place_of_the_database(tmp_path: Path, name: str):
    home = _kept(tmp_path)
    (home / "soft").symlink_to("companion.db")
    (home / "hard").hardlink_to(home / "companion.db")
    number = (home / "companion.db").stat().st_ino
    ran = engram("backup", home / name, "--home", home, "--replace")
    assert ran.status == 1 and "the database itself" in ran.err
    assert (home / "companion.db").stat().st_ino == number and not list(home.glob("*.part"))


def _kept(folder: Path) -> Path:
    """A companion's folder with a database."""
    with opened_store(folder / "home") as store:
        store.values.put("note", "kept")
    return folder / "home"


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _newer(file: Path) -> None:
    with sqlite3.connect(file) as database:
        database.execute("INSERT INTO migrations VALUES (999, 'later', 'x', 0)")


def _text(file: Path) -> None:
    file.write_text("hello")


def _other(file: Path) -> None:
    file.unlink()
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE cats (name TEXT)")


@pytest.mark.parametrize("harm", [_cut, _newer, _text, _other])
def test_a_file_that_is_no_whole_backup_is_not_taken(tmp_path: Path, harm):
    home, file = _kept(tmp_path), tmp_path / "saved.db"
    shutil.copy(home / "companion.db", file)
    harm(file)
    ran = engram("restore", file, "--home", home, "--replace")
    assert ran.status == 1 and str(file) in ran.err
    with opened_store(home) as store:
        assert store.values.get("note") == "kept"


def _said(path: Path) -> str:
    with opened_store(path.parent, path.name) as store:
        return store.values.get("said")


@pytest.mark.shortened
def test_a_restore_that_is_killed_leaves_the_one_database_or_the_other(tmp_path: Path):
    saved, used, path = tmp_path / "saved.db", tmp_path / "used.db", tmp_path / "companion.db"
    for place, word in ((saved, "new"), (used, "old")):
        store = CompanionStore(SqliteDatabase(place))
        store.open()
        store.values.put("said", word)
        if word == "new":
            store.close()

    def restore() -> None:
        recovery.restore_backup(saved, path, AuditEntry(1, "ann", "restore", "done"))

    found = []
    is_killed = True
    while is_killed:
        # As a companion that was killed leaves it: the last change stands in the log beside the file alone.
        for ending in ("", "-wal"):
            shutil.copyfile(f"{used}{ending}", f"{path}{ending}")
        is_killed = killed_at(len(found) * STEP + 1, recovery, restore)
        found.append(_said(path))
    store.close()
    assert found[0] == "old" and found[-1] == "new" and set(found) == {"old", "new"}
    assert found == sorted(found, reverse=True) and found.count("old") * STEP > 20


# --- the audit log


def _audit(home: Path) -> list[tuple[str, str]]:
    return [(entry.who, entry.action) for entry in audit_log(home)]


def test_a_backup_and_a_restore_are_in_the_audit_log(tmp_path: Path):
    home, file = _kept(tmp_path), tmp_path / "saved.db"
    fine("backup", file, "--home", home)
    user = f"command of {getpass.getuser()}"
    assert _audit(home) == [(user, f"backup to {file}")]
    fine("restore", file, "--home", home, "--replace")
    assert _audit(home) == [(user, f"restore from {file}")]


def test_a_postgres_database_is_left_to_its_own_programs(tmp_path: Path):
    variables = {"ENGRAM_STORE_URL": "postgresql://nobody:hush@127.0.0.1:1/x"}
    ran = engram("backup", tmp_path / "out", "--home", tmp_path / "home", **variables)
    assert ran.status == 1 and "pg_dump" in ran.err and "hush" not in ran.err
