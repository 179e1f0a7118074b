"""Parts of a companion that routes and views ask, and the probe of its database."""

import asyncio
import contextlib
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from engram_host.companion.alerts.service import AlertService
from engram_host.companion.auth.middleware import HttpAccess
from engram_host.companion.board_settings.service import BoardSettingsService
from engram_host.companion.bridges.runner import BridgeRunner
from engram_host.companion.conversations.people import PeopleService
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.embedding.embedding_service import EmbeddingService
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.folders.service import FolderService
from engram_host.companion.gateway.proxy import Gateway
from engram_host.companion.imports.service import ImportService
from engram_host.companion.media.service import MediaService
from engram_host.companion.memories.service import MemoryServices
from engram_host.companion.metrics import Metrics, last_backup
from engram_host.companion.overview.service import BoardOverviews
from engram_host.companion.replication.protocol import MessageDispatcher, Replication
from engram_host.companion.search_service import SearchService
from engram_host.companion.senses.service import ReadingService
from engram_host.companion.settings import Settings
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.health import HealthTable
from engram_host.companion.store.tokens import AuditTable
from engram_host.companion.supervisor import Supervisor

KEPT_SECONDS = 1.0
"""Lifetime of a cached look, to bound the cost of health requests."""

LOOK_SECONDS = 3.0
"""Timeout of a look: a slower database cannot serve."""

_SLOW = f"the database did not answer within {LOOK_SECONDS:.0f} s: look at its disk, and at other programs that use it."


@dataclass(frozen=True)
class Look:
    down: str = ""
    problems: tuple[str, ...] = ()


class StoreLook:
    def __init__(self, probe: Callable[[], list[str]]):
        self._probe = probe
        # In its own thread, not one that waits for the database: it has to report if all of these hang.
        self._thread = ThreadPoolExecutor(1, "health")
        self._under_way: asyncio.Future[Look] | None = None
        self._began = 0.0
        self._until = 0.0
        self._found = Look()

    async def look(self) -> Look:
        now = time.monotonic()
        if now < self._until:
            return self._found
        if self._under_way is None or self._under_way.done():
            self._began = now
            self._under_way = asyncio.get_running_loop().run_in_executor(self._thread, self._look)
        done, _ = await asyncio.wait([self._under_way], timeout=max(self._began + LOOK_SECONDS - now, 0))
        self._found = done.pop().result() if done else Look(_SLOW)
        self._until = time.monotonic() + KEPT_SECONDS
        return self._found

    @property
    def is_usable(self) -> bool:
        return not self._found.down

    def _look(self) -> Look:
        try:
            return Look(problems=tuple(self._probe()))
        except StoreUnavailable as problem:
            return Look(problem.sentence)
        except Exception as error:  # noqa: BLE001 - detects a database that answers nonsense
            return Look(f"the database answers what it should not ({type(error).__name__}: {error}): look at the log.")


class Backend(Protocol):
    """Companion as routes and views need it; implemented by CompanionApp."""

    boards: BoardTable
    audit: AuditTable
    settings: Settings
    access: HttpAccess
    look: StoreLook
    supervisor: Supervisor
    metrics: Metrics
    replication: Replication
    dispatcher: MessageDispatcher
    embedding: EmbeddingService
    search: SearchService
    folders: FolderService
    gateway: Gateway
    conversations: ConversationService
    people: PeopleService
    bridges: BridgeRunner
    alerts: AlertService
    overviews: BoardOverviews
    memories: MemoryServices
    imports: ImportService
    media: MediaService
    readings: ReadingService
    board_settings: BoardSettingsService

    @property
    def store_name(self) -> str: ...

    @property
    def mqtt_name(self) -> str: ...

    def problems(self) -> list[str]: ...

    def gauges(self) -> dict[str, float]:
        """Return current values by their names in metrics.GAUGES."""
        ...

    async def reload_bridges(self) -> None:
        """Apply the current settings of bridges and alerts; raises SettingError."""
        ...


def read_gauges(companion: Backend, health: HealthTable) -> dict[str, float]:
    """Return values by the names in metrics.GAUGES, without those of the database if it cannot be used."""
    found: dict[str, float] = {
        "engram_waiting_batches": companion.replication.waiting,
        "engram_index_bytes": companion.search.index_bytes,
        "engram_indexes": len(companion.search.indexed),
        "engram_backlog_lines": companion.embedding.changes_left,
        "engram_disk_free_bytes": shutil.disk_usage(companion.settings.home).free,
        "engram_last_backup_timestamp_seconds": last_backup(companion.settings.home),
        "engram_database_usable": float(companion.look.is_usable),
    }
    states = [status.state for status in companion.supervisor.statuses()]
    found["engram_tasks_down"] = states.count("restarting") + states.count("failed")
    if bridges := [status.state for status in companion.bridges.statuses()]:
        found["engram_bridges_connected"] = bridges.count("connected")
        found["engram_bridges_down"] = bridges.count("away") + bridges.count("stopped")
    read = [one.progress for one in companion.folders.standings]
    found["engram_folder_files"] = sum(progress.total for progress in read)
    found["engram_folder_passages"] = sum(progress.passages for progress in read)
    with contextlib.suppress(StoreUnavailable):  # /v1/health shows it
        found |= health.gauges()
    return found
