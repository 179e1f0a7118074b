"""Memory services for views, routes and commands, and merge candidates."""

from typing import Any, Protocol

from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.entries.reader import ReadEntry
from engram_host.companion.memories import commands
from engram_host.companion.memories.browse import MemoryBrowser, MemoryQuery
from engram_host.companion.memories.changes import MemoryChanges
from engram_host.companion.memories.commands import TrashReader
from engram_host.companion.memories.exchanges import ExchangeMemories, SessionBrowser
from engram_host.companion.search.engine import IndexCache
from engram_host.companion.search.request import MOST_QUERY, SearchRequest, SearchResult
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.supervisor import Supervisor

MOST_SIMILAR = 12


class Search(Protocol):
    async def __call__(self, request: SearchRequest) -> SearchResult: ...


class MemoryServices:
    """Memory services; the caller starts and stops `changes`."""

    def __init__(
        self,
        *,
        boards: BoardTable,
        indexes: IndexCache,
        search: Search,
        conversations: ConversationService,
        supervisor: Supervisor,
    ):
        self.browser = MemoryBrowser(boards, indexes)
        self.changes = MemoryChanges(conversations, self.browser, supervisor)
        self.trash = TrashReader(conversations)
        self.sessions = SessionBrowser(boards, indexes)
        self.exchanges = ExchangeMemories(self.browser, self.sessions, self.changes)
        self._search = search

    async def find_similar(self, device: str, memory: ReadEntry, words: str = "") -> list[ReadEntry]:
        """Return merge candidates, most similar first, or results for `words`.

        They are search results for the text, then memories with its tags.
        """
        scope = _scope(memory.line)
        found = dict.fromkeys(await self._find(device, memory, words or str(memory.line.get("content", ""))))
        for tag in () if words else memory.line.get("tags", ()):
            query = MemoryQuery(tag=str(tag), scope=scope, limit=MOST_SIMILAR)
            found |= dict.fromkeys(each.id for each in (await self.browser.page(device, query)).entries)
        found.pop(memory.id, None)
        entries = await self.browser.entries(device, found)
        fitting = [each for id in found if (each := entries.get(id)) and each.state == "live"]
        return [each for each in fitting if _scope(each.line) == scope][:MOST_SIMILAR]

    async def _find(self, device: str, memory: ReadEntry, words: str) -> list[str]:
        if not words.strip():
            return []
        said = commands.speak("", "", memory.line)
        request = SearchRequest(
            query=words[:MOST_QUERY],
            devices=[device],
            principal=said.principal,
            workspace=said.workspace,
            log="records",
            limit=2 * MOST_SIMILAR,
        )
        return [hit.id for hit in (await self._search(request)).hits]


def _scope(line: dict[str, Any]) -> str:
    return str(line.get("scope", "all"))
