"""A companion that asks for tokens, whose people come from an IRC network that cannot be reached, and their pages."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from device_tokens import make_tokens
from engram_host.companion.auth import tokens
from page_client import PageClient
from peers import Companion

_SETTINGS = '[bridges.irc]\nnetwork = "irc"\nserver = "irc.invalid:6697"\n'


@contextlib.contextmanager
def personal_companion(home: Path) -> Iterator[Companion]:
    """Run it with the board kitchen; its client asks as the operator."""
    make_tokens(home, "kitchen")
    with (home / "companion.toml").open("a") as file:
        file.write(_SETTINGS)
    with Companion(home, ENGRAM_TOKENS="on") as companion:
        companion.client.headers["Authorization"] = f"Bearer {(home / tokens.OPERATOR_FILE).read_text().strip()}"
        yield companion


def approve(companion: Companion, *names: str) -> None:
    """Let people in, by their nicks."""
    for name in names:
        companion.client.post("/v1/people/approve", json={"who": f"irc:{name}", "name": name}).raise_for_status()


def open_page_of(companion: Companion, who: str) -> PageClient:
    """A browser that has followed the link to a person's page."""
    browser = PageClient(companion.url)
    browser.follow_link(companion.client.post("/v1/people/page", json={"who": who}).json()["path"])
    return browser
