"""`engram doctor` on set-ups of which something is wrong: it names it, says what to do, and has status 1."""

import os
import socket
import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest

from cli_case import Ran, engram, fine
from engram_host.cli.checks import machine
from engram_host.companion.store import choose_store
from peers import Companion, free_port


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A companion's folder with a database, and ports that are free."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "companion.toml").write_text(f"[http]\nport = {free_port()}\n[mqtt]\nport = {free_port()}\n")
    store = choose_store("auto", "", home)
    store.open()
    store.close()
    return home


def _doctor(home: Path, **variables: str) -> Ran:
    return engram("doctor", "--home", home, "--json", **variables)


def _wrong(ran: Ran) -> dict[str, Any]:
    found = {check["name"]: check for check in ran.json["checks"] if check["state"] == "wrong"}
    assert ran.json["well"] == (not found) and ran.status == (1 if found else 0)
    assert all(check["do"] for check in found.values())
    return found


def test_where_all_is_well_nothing_is_wrong(home: Path):
    assert _wrong(_doctor(home)) == {}
    assert "WRONG" not in fine("doctor", "--home", home).out


def test_nothing_is_made_where_no_companion_was(tmp_path: Path):
    engram("doctor", "--home", tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_wrong_setting(home: Path):
    (home / "companion.toml").write_text("[http]\nport = 'x'\n")
    assert "http.port" in _wrong(_doctor(home))["settings"]["do"]


def test_a_port_that_is_taken(home: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        (home / "companion.toml").write_text(f"[http]\nport = {port}\n[mqtt]\nport = {free_port()}\n")
        assert list(_wrong(_doctor(home))) == [f"port {port}"]


def test_files_that_others_may_read(home: Path):
    (home / "operator.token").write_text("x")
    (home / "operator.token").chmod(0o644)
    home.chmod(0o755)
    assert set(_wrong(_doctor(home))) == {"folder", "files"}


def test_a_database_that_is_damaged(home: Path):
    (home / "companion.db").write_bytes(b"no database at all" * 100)
    assert "database" in _wrong(_doctor(home))


def test_a_database_of_a_newer_version(home: Path):
    with sqlite3.connect(home / "companion.db") as database:
        database.execute("INSERT INTO migrations VALUES (999, 'later', 'x', 0)")
    assert "update Engram" in _wrong(_doctor(home))["database"]["do"]


def test_a_postgres_that_is_away_and_its_password(home: Path):
    ran = _doctor(home, ENGRAM_STORE_URL="postgresql://me:hush@127.0.0.1:1/x")
    assert "database" in _wrong(ran) and "hush" not in ran.out


def test_a_broker_that_is_away_and_its_password(home: Path):
    ran = _doctor(home, ENGRAM_MQTT_URL="mqtt://me:hush@127.0.0.1:1")
    assert "broker" in _wrong(ran) and "hush" not in ran.out


def test_a_disk_that_is_full(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(machine, "NO_ROOM", 1 << 60)
    assert list(_wrong(_doctor(home))) == ["disk"]


def test_a_clock_that_is_behind_what_was_written(home: Path):
    later = time.time() + 86400
    os.utime(home / "companion.toml", (later, later))
    assert list(_wrong(_doctor(home))) == ["clock"]


def test_a_model_that_is_not_installed(home: Path, monkeypatch: pytest.MonkeyPatch):
    from engram_host.companion.embedding import minilm

    monkeypatch.setattr(minilm, "_PACKAGE", "no_such_package")
    assert "pip install" in _wrong(_doctor(home, EMBEDDING_PROVIDER="minilm"))["embedder"]["do"]


def test_a_board_that_is_silent_is_told_and_is_not_wrong(home: Path):
    with sqlite3.connect(home / "companion.db") as database:
        columns = "name, board, link, n, heard, zone, version"
        database.execute(f"INSERT INTO devices ({columns}) VALUES ('attic', 'b1', 1, 1, 1760000000, 0, 0)")
    ran = _doctor(home)
    silent = next(check for check in ran.json["checks"] if check["name"] == "board attic")
    assert _wrong(ran) == {} and silent["state"] == "watch" and "2025-10-09" in silent["told"]


def test_a_companion_that_runs_is_asked(tmp_path: Path):
    with Companion(tmp_path / "home") as companion:
        ran = _doctor(companion.home)
        told = {check["name"]: check["told"] for check in ran.json["checks"]}
        assert _wrong(ran) == {} and companion.url in told["companion"] and companion.url in told["ports"]
