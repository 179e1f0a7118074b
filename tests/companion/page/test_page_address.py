"""How the page is opened: what `engram serve`, `engram page` and the ready file say."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from cli_case import audit_log, engram, fine
from device_tokens import make_tokens
from page_client import PageClient
from peers import Companion
from serve_process import FREE, start_serve
from waiting import wait_until


def test_engram_page_prints_a_link_that_signs_in_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: bool(opened.append(address)) or True)
    home = tmp_path / "home"
    make_tokens(home, "kitchen")
    with Companion(home, ENGRAM_TOKENS="on") as companion:
        address = fine("page", "--home", home).out.strip()
        assert address.startswith(f"{companion.url}/signin?code=") and opened == [address]
        with closing(PageClient(companion.url)) as browser:
            assert "Boards" in browser.open(address).words
        assert fine("page", "--home", home, "--no-browser", "--json").json["page"] != address
        assert len(opened) == 1
        assert "page" in [entry.action for entry in audit_log(home)]


def test_engram_page_without_a_companion_says_how_one_is_started(tmp_path: Path):
    ran = engram("page", "--home", tmp_path)
    assert ran.status != 0 and "engram serve" in ran.err


def test_a_code_in_the_address_is_in_no_log(tmp_path: Path):
    """Not at a terminal: what is printed goes into a file, which others may read."""
    home, ready = tmp_path / "home", tmp_path / "ready.json"
    make_tokens(home, "kitchen")
    process = start_serve(home, *FREE, "--ready-file", str(ready), ENGRAM_TOKENS="on")
    where = json.loads(wait_until("it is ready", lambda: ready.read_text() if ready.exists() else ""))
    with closing(PageClient(where["http"])) as browser:
        assert "Boards" in browser.open(where["page"]).words
    process.terminate()
    shown, told = process.communicate(timeout=30)
    assert "/signin?code=" in where["page"] and ready.stat().st_mode & 0o077 == 0
    assert "engram page" in shown and "code=" not in shown + told


def test_without_tokens_the_address_is_the_plain_one(tmp_path: Path):
    ready = tmp_path / "ready.json"
    process = start_serve(tmp_path / "home", *FREE, "--ready-file", str(ready))
    where = json.loads(wait_until("it is ready", lambda: ready.read_text() if ready.exists() else ""))
    process.terminate()
    process.communicate(timeout=30)
    assert where["page"] == f"{where['http']}/"
