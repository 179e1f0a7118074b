"""Searches, of boards and of people: what both ask goes to the same engine."""

from typing import Any

from engram_host.companion.errors import Refused
from engram_host.companion.meaning import Meaning
from engram_host.companion.settings import SearchSettings
from engram_host.companion.store.base import Store


class Searching:
    """Answers searches over a store."""

    def __init__(self, store: Store, settings: SearchSettings, meaning: Meaning):
        self._store = store
        self._settings = settings
        self._meaning = meaning

    async def answer_board(self, device: str, head: dict[str, Any]) -> list[bytes]:
        """The answers to a board's search."""
        raise Refused("the search is not there yet.", 60)
