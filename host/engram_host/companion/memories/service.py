"""Construction of the memory services."""

from dataclasses import dataclass

from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.memories.browse import MemoryBrowser
from engram_host.companion.memories.changes import MemoryChanges
from engram_host.companion.memories.exchanges import ExchangeMemories
from engram_host.companion.memories.sessions import SessionBrowser
from engram_host.companion.memories.similar import Search, SimilarMemories
from engram_host.companion.memories.trash import TrashReader
from engram_host.companion.memories.turns import TurnBrowser
from engram_host.companion.search.indexes.cache import IndexCache
from engram_host.companion.store import CompanionStore
from engram_host.companion.supervisor import Supervisor


@dataclass(frozen=True)
class MemoryServices:
    """Memory services for views, routes and commands."""

    browser: MemoryBrowser
    changes: MemoryChanges
    trash: TrashReader
    sessions: SessionBrowser
    turns: TurnBrowser
    exchanges: ExchangeMemories
    similar: SimilarMemories


def make_memory_services(
    store: CompanionStore,
    indexes: IndexCache,
    search: Search,
    conversations: ConversationService,
    supervisor: Supervisor,
) -> MemoryServices:
    """Build the services; the caller starts and stops `changes`."""
    browser = MemoryBrowser(store, indexes)
    changes = MemoryChanges(conversations, browser, supervisor)
    sessions = SessionBrowser(store, indexes)
    return MemoryServices(
        browser,
        changes,
        TrashReader(conversations),
        sessions,
        TurnBrowser(store, indexes),
        ExchangeMemories(browser, sessions, changes),
        SimilarMemories(browser, search),
    )
