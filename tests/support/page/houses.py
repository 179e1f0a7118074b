"""A companion that runs, with a household beside it (see household.py)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chromium import Tab
from household import Household, Write, fill_household, write_folders
from page_views import PERSON, PageView
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

    def sign_in(self, tab: Tab, view: PageView) -> None:
        """Let a tab be that of whoever a view is for: the operator by default."""
        if view.is_personal:
            answer = self.companion.client.post("/v1/people/page", json={"who": PERSON})
            tab.follow_link(self.url + answer.raise_for_status().json()["path"])

    def open(self, tab: Tab, view: PageView, **parameters: str) -> None:
        """Open a view in a tab."""
        self.sign_in(tab, view)
        tab.open(self.address(view, **parameters))


@contextmanager
def open_house(folder: Path, write: Write) -> Iterator[House]:
    """Run a companion with a household whose texts pass through `write`."""
    home = folder / "home"
    write_folders(home, folder / "notes", write)
    with Companion(home) as running:
        yield House(running, fill_household(running, int(time.time()), write))
