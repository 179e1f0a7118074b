"""The whole companion: wires its parts, starts them, serves, and stops them."""

import asyncio
import contextlib
import logging
import shutil
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from engram_host.companion.alerts.service import AlertService, AlertSources
from engram_host.companion.auth.access import AuditLog, CallerLookup, FailedLogins, RateLimiter
from engram_host.companion.auth.exposure import tokens_required
from engram_host.companion.auth.middleware import HttpAccess
from engram_host.companion.auth.mosquitto import GROUP, broker_secret
from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.auth.sessions import Sessions
from engram_host.companion.board_settings import BoardSettingsService
from engram_host.companion.bridges.runner import BridgeRunner
from engram_host.companion.conversations.board_side import MOST_LISTENING
from engram_host.companion.conversations.bridge_engine import BridgeEngine, BridgeParts
from engram_host.companion.conversations.mqtt_door import MqttDoor
from engram_host.companion.conversations.people import PeopleService, admission_rules
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.embedding.embedding_service import EmbeddingService
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.folders.service import FolderService
from engram_host.companion.gateway.proxy import Gateway
from engram_host.companion.gateway.service import ApiKey
from engram_host.companion.habits.finder import HabitFinder
from engram_host.companion.habits.sources import HabitSources
from engram_host.companion.habits.verdict import SCHEMA
from engram_host.companion.home_assistant.publisher import HomeAssistantPublisher, home_assistant_prefix
from engram_host.companion.imports.chat_imports import ChatImports
from engram_host.companion.imports.service import ImportService
from engram_host.companion.media.service import MediaFiles, MediaService
from engram_host.companion.media.upkeep import MediaUpkeep
from engram_host.companion.memories.service import MemoryServices
from engram_host.companion.metrics import Metrics, last_backup
from engram_host.companion.mqtt import MqttClient, broker_login
from engram_host.companion.overview.service import BoardOverviews
from engram_host.companion.replication.protocol import MessageDispatcher, Replication
from engram_host.companion.search_service import SearchService
from engram_host.companion.senses.anomaly_watch import AnomalyWatch
from engram_host.companion.senses.service import ReadingService
from engram_host.companion.settings import (
    Settings,
    conversation_limits,
    database_file,
    line_quota,
    media_limits,
    read_settings,
    retention_limits,
)
from engram_host.companion.store import CompanionStore, recovery
from engram_host.companion.store.health import StoreLook
from engram_host.companion.store.processes import LeaseKeeper, NoticeListener, PeriodicTask, SettingsReload
from engram_host.companion.supervisor import Supervisor

_log = logging.getLogger("engram.service")

THREADS = 4
"""Threads for the database and search; each has a connection of some MB."""

FIRST_SECONDS = 60.0
"""Delay of upkeep after the start, since boards and people connect in the first minute."""

EXPIRE_SECONDS, CHECK_SECONDS = 3600.0, 24 * 3600.0

_BROKER_SECONDS = 10.0
_PAUSE_SECONDS = 0.02
"""Pause after some thousand checked lines, to leave disk and processor to others."""


class CompanionApp:
    def __init__(
        self,
        *,
        settings: Settings,
        store: CompanionStore,
        embedding: EmbeddingService,
        operator: str,
        gateway_key: ApiKey,
        metrics: Metrics,
        supervisor: Supervisor,
        leases: LeaseKeeper,
    ):
        """`operator` is the operator's token; raises SettingError."""
        self.settings = settings
        self.store = store
        self.boards, self.audit = store.boards, store.audit
        self.embedding = embedding
        self.metrics = metrics
        self.supervisor = supervisor
        self.leases = leases
        self.look = StoreLook(store.health.probe)
        security, secrets = settings.security, SecretStore(settings.home)
        callers = CallerLookup(store.tokens, operator)
        requires_tokens = tokens_required(security, settings.http.host)
        self.access = HttpAccess(
            callers=callers,
            sessions=Sessions(store.sessions, callers, requires_tokens=requires_tokens),
            requires_tokens=requires_tokens,
            names=frozenset(security.hosts.lower().replace(",", " ").split()),
            rate_limiter=RateLimiter(security.messages_a_second, security.messages_at_once),
            failed_logins=FailedLogins(metrics.failed_logins.inc),
            audit=AuditLog(store.audit),
        )
        self.gateway = Gateway(store.gateway, settings.gateway, gateway_key, metrics)
        self.media = MediaService(
            boards=store.boards, media=store.media, files=MediaFiles(settings.home), limits=media_limits(settings.media)
        )
        self._media_upkeep = MediaUpkeep(
            boards=store.boards,
            media=store.media,
            service=self.media,
            waiting_days=settings.chat.waiting_days,
            supervisor=supervisor,
        )
        self.replication = Replication(
            replication=store.replication,
            notes=store.notes,
            senses=store.senses,
            status=store.status,
            taken=self._on_lines,
            supervisor=supervisor,
            metrics=metrics,
            quota=line_quota(settings.store),
        )
        file = database_file(settings)
        self.backup = recovery.DailyBackup(settings.home, file, settings.store.daily_backups) if file else None
        self.folders = FolderService(
            boards=store.boards,
            folders=store.folders,
            settings=settings.folders,
            home=settings.home,
            supervisor=supervisor,
            lease_of=leases.lease,
            taken=embedding.wake,
        )
        self.search = SearchService(
            boards=store.boards,
            notes=store.notes,
            passages=store.folders,
            values=store.values,
            vectors=store.vectors,
            settings=settings.search,
            meaning=embedding,
            folders=self.folders,
            metrics=metrics,
        )
        self.anomalies = AnomalyWatch(
            boards=store.boards, senses=store.senses, supervisor=supervisor, lease=leases.lease("anomalies")
        )
        self.conversations = ConversationService(
            boards=store.boards, conversations=store.conversations, settings=settings.chat, supervisor=supervisor
        )
        self.imports = ImportService(
            boards=store.boards,
            notes=store.notes,
            conversations=self.conversations,
            home=settings.home,
            supervisor=supervisor,
            lease=leases.lease("imports"),
        )
        self.board_settings = BoardSettingsService(self.conversations)
        self.readings = ReadingService(store.boards, store.senses)
        self._home_assistant = HomeAssistantPublisher(
            senses=store.senses,
            values=store.values,
            prefix=home_assistant_prefix(settings.mqtt),
            supervisor=supervisor,
            lease=leases.lease("home assistant"),
        )
        self.alerts = AlertService(
            sources=AlertSources(store.boards, store.conversations, store.people, store.status, store.values),
            settings=settings.alerts,
            secrets=secrets,
            supervisor=supervisor,
            lease=leases.lease("alerts"),
        )
        self.overviews = BoardOverviews(
            boards=store.boards, status=store.status, notes=store.notes, flash_percent=self.alerts.flash_percent
        )
        self.memories = MemoryServices(
            boards=store.boards,
            indexes=self.search.indexes,
            search=self.search.search,
            conversations=self.conversations,
            supervisor=supervisor,
        )
        self.habits = HabitFinder(
            sources=HabitSources(store.boards, store.folders, store.vectors, self.memories.browser),
            values=store.values,
            identity=lambda: None if embedding.changes_left else embedding.identity,
            ask=partial(self.gateway.complete, SCHEMA),
            conversations=self.conversations,
            supervisor=supervisor,
            lease=leases.lease("habits"),
        )
        self.dispatcher = MessageDispatcher(
            replication=self.replication,
            searching=self.search.answer_board,
            reading=self.search.answer_get,
            files=self.search.answer_file,
            talking=self.conversations.answer_board,
            metrics=metrics,
        )
        self.people = PeopleService(
            store.people,
            admission_rules(settings.people, settings.bridges),
            on_request=lambda request: self.alerts.wake(),
            on_owed=self.conversations.wake_pushes,
        )
        self.door = self._make_door() if settings.chat.mqtt else None
        bridge_parts = BridgeParts(
            boards=store.boards,
            deliveries=store.deliveries,
            conversations=self.conversations,
            people=self.people,
            limits=conversation_limits(settings.chat),
            media=self.media,
            imports=ChatImports(self.imports),
        )
        self.bridge_engine = BridgeEngine(bridge_parts, settings.chat, supervisor)
        self.bridges = BridgeRunner(
            bridges=settings.bridges,
            secrets=secrets,
            engine=self.bridge_engine,
            supervisor=supervisor,
            lease_of=leases.lease,
            count=metrics.count_bridge,
        )
        self.mqtt_client: MqttClient | None = None
        self._settings_reload = SettingsReload(store.values, self._reload)
        self._notices = NoticeListener(
            store.database, supervisor, (self.conversations.take_notice, self._settings_reload.take_notice)
        )
        self._began = time.monotonic()
        metrics.add_gauges(self.gauges)

    def _on_lines(self) -> None:
        self.embedding.wake()
        self._media_upkeep.wake()

    def _make_door(self) -> MqttDoor:
        return MqttDoor(
            messages=self.store.conversations,
            values=self.store.values,
            conversations=self.conversations,
            people=self.people,
            supervisor=self.supervisor,
            lease=self.leases.lease("door"),
        )

    @property
    def mqtt_name(self) -> str:
        if not self.mqtt_client:
            return "off"
        return "your broker, connected" if self.mqtt_client.is_connected else "your broker, not connected"

    def problems(self) -> list[str]:
        found = self.supervisor.problems()
        if self.mqtt_client and not self.mqtt_client.is_connected:
            found.append(self.mqtt_client.problem)
        found += [part.problem for part in (self.embedding, self.backup) if part and part.problem]
        return found + self.folders.problems() + self.bridges.problems() + self.alerts.problems()

    async def reload_bridges(self) -> None:
        """Apply the settings of bridges, people and alerts in all processes; a SettingError changes nothing."""
        await self._settings_reload.reload_all()

    async def _reload(self) -> None:
        settings = await asyncio.to_thread(read_settings, self.settings.home, {})
        rules = admission_rules(settings.people, settings.bridges)
        self.bridges.check(settings.bridges)
        self.people.set_rules(rules)  # before a changed bridge receives its first message
        await self.bridges.reload(settings.bridges)
        await self.alerts.reload(settings.alerts)

    def gauges(self) -> dict[str, float]:
        """Return current values by the names in metrics.GAUGES, without unknown ones; blocks some ms."""
        read = [one.progress for one in self.folders.standings]
        states = [status.state for status in self.supervisor.statuses()]
        found: dict[str, float] = {
            "engram_up_seconds": time.monotonic() - self._began,
            "engram_waiting_batches": self.replication.waiting,
            "engram_index_bytes": self.search.indexes.nbytes,
            "engram_indexes": len(self.search.indexes.board_names),
            "engram_backlog_lines": self.embedding.changes_left,
            "engram_disk_free_bytes": shutil.disk_usage(self.settings.home).free,
            "engram_last_backup_timestamp_seconds": last_backup(self.settings.home),
            "engram_database_usable": float(self.look.is_usable),
            "engram_tasks_down": states.count("restarting") + states.count("failed"),
            "engram_folder_files": sum(progress.total for progress in read),
            "engram_folder_passages": sum(progress.passages for progress in read),
        }
        if bridges := [status.state for status in self.bridges.statuses()]:
            found["engram_bridges_connected"] = bridges.count("connected")
            found["engram_bridges_down"] = bridges.count("away") + bridges.count("stopped")
        if self.mqtt_client:
            found["engram_broker_connected"] = float(self.mqtt_client.is_connected)
        with contextlib.suppress(StoreUnavailable):  # /v1/health shows it
            found |= self.store.health.gauges()
        return found

    def _periodic_tasks(self) -> list[PeriodicTask]:
        store = self.store

        def task(name: str, work: Callable[[], object], first: float, every: float) -> PeriodicTask:
            return PeriodicTask(name, work, self.supervisor, self.leases.lease(name), first=first, every=every)

        limits = retention_limits(self.settings.store)
        pause = partial(time.sleep, _PAUSE_SECONDS)
        found = [
            task("expiry", lambda: store.removal.expire(limits, int(time.time())), FIRST_SECONDS, EXPIRE_SECONDS),
            task("checking", lambda: store.health.check(pause), FIRST_SECONDS, CHECK_SECONDS),
        ]
        if self.backup and self.settings.store.daily_backups:
            found.append(task("backup", self.backup.save_if_due, recovery.FIRST_SECONDS, recovery.LOOK_SECONDS))
        return found

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run the companion; the store must be open all the while."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "work"))
        async with contextlib.AsyncExitStack() as stack:
            for part in (
                self.leases,
                self._notices,
                self.embedding,
                self.gateway,
                self.folders,
                *self._periodic_tasks(),
                self.replication,
                self.conversations,
                self.memories.changes,
                self.imports,
                self._media_upkeep,
                self.anomalies,
                *([self.habits] if self.settings.gateway.has_model else []),
                self.alerts,
                self.bridge_engine,
                self.bridges,
            ):
                part.start()
                stack.push_async_callback(part.stop)
            stack.push_async_callback(self._settings_reload.stop)
            stack.push_async_callback(self._stop_mqtt)
            self.search.start()
            stack.push_async_callback(self.search.stop)
            await self._start_mqtt()
            yield

    async def _stop_mqtt(self) -> None:
        await self._home_assistant.stop()
        if self.mqtt_client:
            await self.mqtt_client.stop()
        if self.door:
            await self.door.stop()

    async def _start_mqtt(self) -> None:
        mqtt = self.settings.mqtt
        if not mqtt.url:
            return
        self.mqtt_client = MqttClient(
            url=mqtt.url,
            login=broker_login(mqtt, self.settings.home),
            answers=self._answers_in_turn,
            supervisor=self.supervisor,
            group=await asyncio.to_thread(broker_secret, self.store.values, GROUP),
            door=self.door,
            most_held=MOST_LISTENING,
            count_overdue=partial(self.metrics.count_message, "hello", "overdue"),
        )
        self.mqtt_client.start()
        await self._home_assistant.start(self.mqtt_client)
        if not await self.mqtt_client.wait(_BROKER_SECONDS):
            _log.warning("%s Retrying in the background.", self.mqtt_client.problem)

    async def _answers_in_turn(self, device: str, data: bytes) -> list[bytes]:
        if self.access.rate_limiter.wait_seconds(device):
            _log.info("rate limit: dropped a message from %s; the board repeats it", device)
            return []
        return await self.dispatcher.answers_or_nothing(device, data)
