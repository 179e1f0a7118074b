"""The firmware as a package for mip: what is in it, and mpremote and MicroPython's own mip putting it on a board."""

import functools
import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import get_micropython
from board_files import KEPT, NEW, files_on, flash_with, with_code_json
from board_images import STORE_IN_APP, needs_micropython, run_on
from board_stand_in import StandIn
from cli_case import engram, fine
from engram_host.boards import file_set, profile
from engram_host.boards.file_set import Files

BOARD = profile.load_profile("ESP32_GENERIC_SPIRAM")
SECONDS = 180


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Files:
    """Few files of code, in place of all that would have to be compiled."""
    code = with_code_json(NEW)
    code["code.json"] = json.dumps(json.loads(code["code.json"]) | {"version": "0.1"}).encode()
    monkeypatch.setattr(file_set, "code_files", lambda board: code)
    return code


def _made(folder: Path, *more: str | Path) -> Path:
    out = folder / "mip-package"
    told = fine("board", "package", "--board", BOARD.name, "--out", out, *more, "--json").json
    assert told["done"] and len(told["told"]) == 2
    return out


def _named(list_file: Path) -> list[list[str]]:
    return json.loads(list_file.read_text())["urls"]


def _install(port: str, *lists: Path) -> None:
    for each in lists:
        words = ["connect", port, "mip", "install", "--target", "/", str(each)]
        done = subprocess.run(
            [sys.executable, "-m", "mpremote", *words], capture_output=True, text=True, timeout=SECONDS
        )
        assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def test_the_package_names_all_code_and_nothing_that_is_a_persons(few: Files, tmp_path: Path):
    out = _made(tmp_path)
    assert {path for path, _ in _named(out / "package.json")} == set(few)
    assert {path for path, _ in _named(out / "new-board.json")} == set(file_set.seed_files(BOARD, {}))
    assert json.loads((out / "package.json").read_text())["version"] == "0.1"


def test_what_starts_the_board_is_installed_last(few: Files, tmp_path: Path):
    assert [path for path, _ in _named(_made(tmp_path) / "package.json")][-3:] == ["boot.py", "main.py", "code.json"]


def test_a_file_stands_where_the_package_says(few: Files, tmp_path: Path):
    out = _made(tmp_path)
    assert {path: (out / url).read_bytes() for path, url in _named(out / "package.json")} == few


def test_with_a_url_each_file_has_one(few: Files, tmp_path: Path):
    out = _made(tmp_path, "--url", "github:someone/engram/mip/")
    assert ["boot.py", "github:someone/engram/mip/boot.py"] in _named(out / "package.json")


def test_settings_of_ones_own_are_what_a_new_board_gets(few: Files, tmp_path: Path):
    (tmp_path / "own.json").write_text('{"llm": {"model": "mine"}}')
    out = _made(tmp_path, "--config", tmp_path / "own.json")
    assert json.loads((out / "config.json").read_text())["llm"]["model"] == "mine"


def test_a_folder_that_cannot_be_written_is_said(few: Files, tmp_path: Path):
    (tmp_path / "file").touch()
    ran = engram("board", "package", "--board", BOARD.name, "--out", tmp_path / "file", "--json")
    assert ran.status == 2 and "cannot be written" in ran.json["problem"]


@needs_micropython
def test_mpremote_brings_the_code_up_to_date_and_keeps_all_else(few: Files, tmp_path: Path):
    flash = flash_with(tmp_path, with_code_json({"boot.py": NEW["boot.py"], "main.py": b"print('old')\n"}) | KEPT)
    with StandIn(flash) as board:
        _install(board.port, _made(tmp_path) / "package.json")
    assert files_on(flash) == few | KEPT


@needs_micropython
def test_the_app_runs_from_what_mpremote_installed(tmp_path: Path):
    out = _made(tmp_path)
    flash = flash_with(tmp_path, {"boot.py": b"# This file is executed on every boot\n"}, BOARD.filesystem.size)
    with StandIn(flash) as board:
        _install(board.port, out / "new-board.json", out / "package.json")
    assert files_on(flash) == file_set.seed_files(BOARD, {}) | {
        path: (out / path).read_bytes() for path, _ in _named(out / "package.json")
    }
    assert run_on(flash, STORE_IN_APP).split() == ["1"]


@pytest.mark.skipif(not get_micropython.usable(get_micropython.HOME / "64", 64), reason="there is no MicroPython")
def test_micropythons_own_mip_installs_it_over_http(few: Files, tmp_path: Path):
    (tmp_path / "mip-package").mkdir()
    with _served(tmp_path / "mip-package") as url:
        out = _made(tmp_path, "--url", url)
        code = f"import mip; mip.install('{url}/package.json', target='{tmp_path}/board')"
        micropython = get_micropython.HOME / "64"
        done = subprocess.run([micropython, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0 and "Done" in done.stdout, done.stdout + done.stderr
    assert {path: (tmp_path / "board" / path).read_bytes() for path, _ in _named(out / "package.json")} == few
