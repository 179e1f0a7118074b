"""Merge candidates of a memory: search results for its text, then memories with its tags."""

from collections.abc import Sequence
from typing import Any, Protocol

from engram.memory.access import Caller
from engram_host.companion.entries.reader import ReadEntry
from engram_host.companion.errors import BadSearch
from engram_host.companion.memories import commands
from engram_host.companion.memories.browse import MemoryBrowser
from engram_host.companion.memories.types import MemoryQuery
from engram_host.companion.search.request import MOST_QUERY, SearchResult

MOST_SIMILAR = 12

_ROOM = "page"


class Search(Protocol):
    """A search like SearchService.search."""

    async def __call__(self, caller: Caller, *, devices: Sequence[str], **options: Any) -> SearchResult: ...


class SimilarMemories:
    """Merge candidates; each call may raise UnknownDevice and StoreUnavailable."""

    def __init__(self, browser: MemoryBrowser, search: Search):
        self._browser = browser
        self._search = search

    async def find(self, device: str, memory: ReadEntry, words: str = "") -> list[ReadEntry]:
        """Return merge candidates, most similar first, or results for `words`."""
        found = dict.fromkeys(await self._found(device, memory, words or str(memory.line.get("content", ""))))
        if not words:
            for tag in memory.line.get("tags", ()):
                query = MemoryQuery(tag=str(tag), scope=_scope(memory.line), limit=MOST_SIMILAR)
                found |= dict.fromkeys(each.id for each in (await self._browser.page(device, query)).entries)
        found.pop(memory.id, None)
        entries = await self._browser.entries(device, found)
        scope = _scope(memory.line)
        fitting = [each for id in found if (each := entries.get(id)) and each.state == "live"]
        return [each for each in fitting if _scope(each.line) == scope][:MOST_SIMILAR]

    async def _found(self, device: str, memory: ReadEntry, words: str) -> list[str]:
        said = commands.speak("", "", memory.line)
        caller = Caller(said.principal, _ROOM, False, said.workspace)
        options: dict[str, Any] = {"log": "records", "limit": 2 * MOST_SIMILAR, "rerank": False, "expand": False}
        try:
            result = await self._search(caller, devices=(device,), query=words[:MOST_QUERY], **options)
        except BadSearch:  # no searchable text, such as spaces
            return []
        return [hit.id for hit in result.hits]


def _scope(line: dict[str, Any]) -> str:
    return str(line.get("scope", "all"))
