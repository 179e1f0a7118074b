"""A companion that runs, with a household beside it (see household.py)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chromium import Tab
from household import Household, Write, fill_household, write_folders
from page_views import PageView
from peers import Companion


@dataclass(frozen=True)
class House:
    """A companion, and the boards of a household."""

    companion: Companion
    boards: Household

    @property
    def url(self) -> str:
        return self.companion.url

    def address(self, view: PageView, **parameters: str) -> str:
        """Where a view of this companion is."""
        return self.url + view.address(self.boards.places, **parameters)

    def open(self, tab: Tab, view: PageView, **parameters: str) -> None:
        """Open a view in a tab."""
        tab.open(self.address(view, **parameters))


@contextmanager
def open_house(folder: Path, write: Write) -> Iterator[House]:
    """Run a companion with a household whose texts pass through `write`."""
    home = folder / "home"
    write_folders(home, folder / "notes", write)
    with Companion(home) as running:
        yield House(running, fill_household(running, int(time.time()), write))
