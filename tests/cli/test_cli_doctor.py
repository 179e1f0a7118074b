"""`engram doctor` on set-ups of which something is wrong: it names it, says what to do, and has status 1."""

import socket
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from cli_case import Ran, engram, fine
from companion_store import opened_store
from damaging import overwrite_page, tree_pages
from engram_host.cli import companion as serve_command
from engram_host.companion.auth import tokens
from engram_host.extras import EXTRAS
from peers import Companion, free_port
from plain_board import copy_lines


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A companion's folder with a database, and ports that are free."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "companion.toml").write_text(f"[http]\nport = {free_port()}\n")
    with opened_store(home):
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


def _hundred_lines(home: Path) -> Path:
    """The database of a companion with a board's hundred lines."""
    with opened_store(home) as store:
        copy_lines(store, 100)
    return home / "companion.db"


def test_a_damaged_page_is_found_and_the_advice_is_to_repair(home: Path):
    path = _hundred_lines(home)
    overwrite_page(path, tree_pages(path)["lines"][-1])
    advice = _wrong(_doctor(home))["database"]["do"]
    assert advice.index("engram repair") < advice.index("archive")


def test_lines_that_were_found_damaged_are_told_of(home: Path):
    path = _hundred_lines(home)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE lines SET crc = '' WHERE seq IN (3, 7)")
    ran = _doctor(home)
    assert ran.status == 0
    (told,) = [check for check in ran.json["checks"] if check["name"] == "database" and check["state"] == "watch"]
    assert told["told"] == (
        "kitchen: 2 lines of its journal found damaged in the database; the board sends again what it still has."
    )


def test_a_port_that_is_taken(home: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        (home / "companion.toml").write_text(f"[http]\nport = {port}\n")
        assert list(_wrong(_doctor(home))) == [f"port {port}"]


def test_files_that_others_may_read(home: Path):
    (home / "operator.token").write_text("x")
    (home / "operator.token").chmod(0o644)
    home.chmod(0o755)
    assert set(_wrong(_doctor(home))) == {"folder", "files", "tokens"}


def test_a_file_that_is_removed_while_the_folder_is_read_is_no_fault(home: Path):
    (home / "secrets").mkdir(mode=0o700)
    for path in (home / "companion.db-old", home / "secrets" / "removed"):
        path.symlink_to(home / "nowhere")  # listed, and not there
    (home / "loop").symlink_to("loop")
    assert _wrong(_doctor(home)) == {}


def _set(home: Path, more: str, mode: int = 0o600) -> None:
    (home / "companion.toml").write_text((home / "companion.toml").read_text() + more)
    (home / "companion.toml").chmod(mode)


_ONE_LINE = "a key of two words"
REFUSED = {
    "a host that all reach, and no device has a token": (
        "[http]\nhost = '0.0.0.0'\n",
        {},
        "tokens",
        "engram device add",
    ),
    "a certificate that is empty": ("[http]\ncertificate = 'c'\nkey = 'c'\n", {"c": ""}, "tls", "http.certificate"),
    "a certificate without its key": ("[http]\ncertificate = 'c'\n", {"c": ""}, "tls", "http.certificate"),
    "a gateway's key that others may read": (
        "[gateway]\nurl = 'http://127.0.0.1:9/v1'\n",
        {"secrets/gateway.key": "sk-x"},
        "gateway",
        "chmod 600",
    ),
    "a gateway's address that is none": ("[gateway]\nurl = 'ftp://x'\n", {}, "gateway", "gateway.url"),
    "a broker's address that is none": ("[mqtt]\nurl = 'mqtt://host:port'\n", {}, "broker", "mqtt.url"),
    "one folder twice": ("[folders]\npaths = ['/nowhere/a', '/nowhere/a']\n", {}, "folders", "twice"),
    "an operator's token that is none": ("", {"operator.token": _ONE_LINE}, "tokens", "operator.token"),
}


@pytest.mark.parametrize(("content", "files", "name", "told"), REFUSED.values(), ids=REFUSED)
def test_what_serve_refuses_is_wrong_here_too(
    tmp_path: Path, content: str, files: dict[str, str], name: str, told: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(serve_command, "set_up", lambda *_: None)  # the log is pytest's
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "companion.toml").write_text(content)
    for file, text in files.items():
        (home / file).parent.mkdir(mode=0o700, exist_ok=True)
        (home / file).write_text(text)
        (home / file).chmod(0o600 if text == _ONE_LINE else 0o644)
    assert told in _wrong(_doctor(home))[name]["do"]
    status = engram("serve", "--home", home, *([] if "http]" in content else ["--http-port", "0"])).status
    assert status == 2


def test_a_device_with_a_token_and_a_word_make_it_well_to_be_reached(home: Path):
    with opened_store(home) as store:
        store.tokens.add_token(tokens.stored_token("kitchen", tokens.new_token()))
    assert _wrong(_doctor(home, ENGRAM_HTTP_HOST="0.0.0.0", ENGRAM_TOKENS="on")) == {}
    assert list(_wrong(_doctor(home, ENGRAM_HTTP_HOST="0.0.0.0"))) == ["tokens"]


def test_a_folder_that_is_not_there(home: Path, tmp_path: Path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A")
    _set(home, f"[folders]\npaths = ['{tmp_path}/notes', '{tmp_path}/gone', '{tmp_path}/notes/b.md']\n")
    assert list(_wrong(_doctor(home))) == ["folder gone", "folder b.md"]


SECRET = {
    "embedding.api_key": "[embedding]\napi_key = 'sk-x'\n",
    "embedding.headers": '[embedding]\nheaders = \'{"X-Key": "y"}\'\n',
    "store.url": "[store]\nurl = 'postgresql://me:hush@127.0.0.1:1/x'\n",
}


@pytest.mark.parametrize(("name", "content"), SECRET.items())
def test_settings_with_a_secret_in_them_that_others_may_read(home: Path, name: str, content: str):
    _set(home, content, 0o644)
    files = _wrong(_doctor(home)).get("files", {})
    assert name in files["told"] and files["do"] == f"chmod 600 {home / 'companion.toml'}"
    _set(home, "", 0o600)
    assert "files" not in _wrong(_doctor(home))


def test_a_broker_that_is_away_and_its_password(home: Path):
    ran = _doctor(home, ENGRAM_MQTT_URL="mqtt://me:hush@127.0.0.1:1")
    assert "broker" in _wrong(ran) and "hush" not in ran.out


def test_a_fresh_install_without_the_optional_model_is_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from engram_host.companion.embedding.e5 import MultilingualE5
    from engram_host.companion.embedding.minilm import MiniLm

    for model in (MiniLm, MultilingualE5):
        monkeypatch.setattr(model, "package", "no_such_package")
    ports = {"ENGRAM_HTTP_PORT": str(free_port()), "ENGRAM_MQTT_PORT": str(free_port())}
    ran = _doctor(tmp_path / "none", EMBEDDING_PROVIDER="auto", **ports)
    assert _wrong(ran) == {}
    (found,) = (check for check in ran.json["checks"] if check["name"] == "embedder")
    assert (found["state"], found["told"]) == ("watch", "without the optional local model searches use words only")
    assert "pip install" in found["do"]


def test_a_local_model_without_the_packages_that_run_it(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(EXTRAS, "onnx", {"onnxruntime": "no_such_package"})
    found = _wrong(_doctor(home, EMBEDDING_PROVIDER="minilm"))
    assert "pip install 'engram-mcu[onnx]'" in found["embedder"]["do"]


def test_a_board_that_is_silent_is_reported_and_is_not_wrong(home: Path):
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
