"""Signing in and out in a real browser, and what another site's page cannot do there."""

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from chromium import Chromium, Tab
from cli_case import fine
from device_tokens import make_tokens
from engram_host.companion.auth import tokens
from peers import Companion

pytestmark = pytest.mark.xdist_group("chromium")  # one browser for all of them


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """A companion that asks for tokens."""
    home = tmp_path_factory.mktemp("strict") / "home"
    make_tokens(home, "kitchen")
    with Companion(home, ENGRAM_TOKENS="on") as companion:
        yield companion


@contextmanager
def another_site(folder: Path) -> Iterator[str]:
    """A site on this computer by another name, with the files of a folder."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def operator(strict: Companion) -> str:
    return (strict.home / tokens.OPERATOR_FILE).read_text().strip()


@pytest.mark.parametrize("has_script", [True, False])
def test_a_person_signs_in_with_a_token_and_out(strict: Companion, chromium: Chromium, has_script: bool):
    tab = chromium.tab()
    if not has_script:
        tab.without_script()
    tab.open(f"{strict.url}/boards/nobody")
    assert "Sign in" in tab.text("h1")
    tab.fill("#token", "wrong")
    tab.click("main button")
    tab.wait("it is refused", "document.querySelector('.problem')")
    tab.fill("#token", operator(strict))
    tab.click("main button")
    tab.wait("the view that was asked for is there", "location.pathname === '/boards/nobody'")
    assert tab.run("document.cookie") == ""
    tab.open(f"{strict.url}/signout")
    tab.click("main button")
    tab.wait("signed out", "location.pathname === '/signin'")
    tab.open(f"{strict.url}/")
    assert "Sign in" in tab.text("h1")


def test_the_link_of_engram_page_opens_it_signed_in(strict: Companion, tab: Tab):
    tab.open(fine("page", "--home", strict.home, "--no-browser").out.strip())
    assert tab.text("h1") == "Boards" and tab.run("location.href") == f"{strict.url}/"
    assert tab.complaints() == []
    tab.open(f"{strict.url}/signout")
    tab.click("main button")


def test_a_page_of_another_site_can_neither_send_a_form_nor_frame_a_view(strict: Companion, tab: Tab, tmp_path: Path):
    form = f"<form method=post action='{strict.url}/signout'><input name=everywhere value=yes></form>"
    frame = f"<iframe src='{strict.url}/'></iframe>"
    (tmp_path / "evil.html").write_text(f"<title>evil</title>{form}{frame}")
    tab.open(fine("page", "--home", strict.home, "--no-browser").out.strip())
    with another_site(tmp_path) as site:
        tab.open(f"{site}/evil.html")
        assert tab.run("document.querySelector('iframe').contentDocument") is None
        tab.run("document.querySelector('form').submit()")
        tab.wait("the form is refused", "location.pathname === '/signout' && document.querySelector('.problem')")
    tab.open(f"{strict.url}/")
    assert tab.text("h1") == "Boards"
