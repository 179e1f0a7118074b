"""What the tests in a real browser share: one Chromium for all, a companion, and a board beside it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chromium import Chromium, Tab, find_chromium
from companion_fixtures import board, companion

__all__ = ["board", "companion"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """One browser for all tests of this worker."""
    command: Path | None = find_chromium()
    if command is None:
        pytest.skip("there is no Chromium, and none can be had here: tools/setup/get_chromium.py says why")
    with Chromium(command) as browser:
        yield browser


@pytest.fixture
def tab(chromium: Chromium) -> Tab:
    """A tab of its own."""
    return chromium.tab()
