"""What the tests in a real browser share: one Chromium for all, a companion, and a board or a household beside it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from another_site import another_site
from chromium import Chromium, Tab, find_chromium
from companion_fixtures import board, companion
from device_tokens import make_tokens
from hostile_texts import Hostile
from household import plainly
from houses import House, open_house
from peers import Companion

__all__ = ["board", "companion"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """One browser for all tests of this worker."""
    command: Path | None = find_chromium()
    if command is None:
        pytest.skip("there is no Chromium, and none can be had here: tools/setup/get_chromium.py says why")
    with Chromium(command) as browser:
        yield browser


@pytest.fixture(scope="session")
def used_tabs() -> list[Tab]:
    """The tab that the test before has left, if there is one."""
    return []


@pytest.fixture(scope="session")
def empty_page() -> Iterator[str]:
    """The address of a page that does nothing, on the companion's host."""
    with another_site("<title>empty</title>", "127.0.0.1") as address:
        yield address


@pytest.fixture
def tab(chromium: Chromium, used_tabs: list[Tab], empty_page: str) -> Iterator[Tab]:
    """A tab as of somebody who opens a browser for the first time."""
    made = used_tabs.pop() if used_tabs else chromium.tab()
    made.reset(empty_page)
    yield made
    # After a test that the browser did not survive there is none.
    if made.is_alive():
        used_tabs.append(made)


@pytest.fixture(scope="session")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """A companion that asks for tokens."""
    home = tmp_path_factory.mktemp("strict") / "home"
    make_tokens(home, "kitchen")
    with Companion(home, ENGRAM_TOKENS="on") as running:
        yield running


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A household as any."""
    with open_house(tmp_path_factory.mktemp("house"), plainly) as made:
        yield made


@pytest.fixture(scope="session")
def hostile_house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A household in which each text of a person, a model, a board or a file is hostile."""
    with open_house(tmp_path_factory.mktemp("hostile"), Hostile()) as made:
        yield made
