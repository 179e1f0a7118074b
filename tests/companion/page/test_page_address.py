"""How the page is opened: what `engram serve`, `engram page` and the ready file say."""

from contextlib import closing
from pathlib import Path

import pytest

from cli_case import audit_log, engram, fine
from device_tokens import make_tokens
from page_client import PageClient
from peers import Companion
from serve_process import serve_once


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
    home = tmp_path / "home"
    make_tokens(home, "kitchen")

    def sign_in(where: dict[str, str]) -> None:
        with closing(PageClient(where["http"])) as browser:
            assert "Boards" in browser.open(where["page"]).words

    served = serve_once(home, visit=sign_in, ENGRAM_TOKENS="on")
    assert "/signin?code=" in served.where["page"] and (tmp_path / "ready.json").stat().st_mode & 0o077 == 0
    assert "engram page" in served.shown and "code=" not in served.shown + served.told
