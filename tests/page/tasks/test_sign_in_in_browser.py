"""Signing in and out in a real browser."""

import pytest

from chromium import Chromium
from engram_host.companion.auth import tokens
from peers import Companion


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
    tab.fill("#token", (strict.home / tokens.OPERATOR_FILE).read_text().strip())
    tab.click("main button")
    tab.wait("the view that was asked for is there", "location.pathname === '/boards/nobody'")
    assert tab.run("document.cookie") == ""
    tab.open(f"{strict.url}/signout")
    tab.click("main button")
    tab.wait("signed out", "location.pathname === '/signin'")
    tab.open(f"{strict.url}/")
    assert "Sign in" in tab.text("h1")
