"""The companion as a whole: wires its parts, starts and stops them."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engram_host.companion.auth.exposure import listener_tls, listeners, tokens_required
from engram_host.companion.auth.identity import CallerLookup
from engram_host.companion.auth.middleware import HttpAccess
from engram_host.companion.auth.rate_limit import RateLimiter
from engram_host.companion.auth.tls import trust_certificate
from engram_host.companion.auth.tokens import new_token
from engram_host.companion.embedding.embedding_service import EmbeddingService
from engram_host.companion.figures import CompanionGauges
from engram_host.companion.folders.service import FolderService
from engram_host.companion.gateway.api_key import ApiKey
from engram_host.companion.gateway.proxy import Gateway
from engram_host.companion.metrics import Metrics
from engram_host.companion.mqtt.client import BrokerLogin, MqttClient, broker_login
from engram_host.companion.mqtt.guarded_broker import WORKER, BrokerAccess, EmbeddedBroker
from engram_host.companion.replication.protocol import MessageDispatcher, Replication
from engram_host.companion.search_service import SearchService
from engram_host.companion.settings import Settings
from engram_host.companion.store import Store
from engram_host.companion.supervisor import Supervisor

_log = logging.getLogger("engram.service")

THREADS = 4
"""That wait for the database or search: each has a connection of its own, with some MB of memory."""

_BROKER_SECONDS = 10.0
_WARM_AFTER_SECONDS = 5.0
_MOST_WARMINGS = 3
"""Times that indexes are made ahead if that fails: it takes seconds of a core, and each search makes what it needs."""


class CompanionApp:
    """A companion: `store`, `replication`, `searching`, `folders`, `meaning` and `dispatch` are its parts."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        meaning: EmbeddingService,
        operator: str,
        gateway_key: ApiKey,
        metrics: Metrics,
        supervisor: Supervisor,
    ):
        """`operator` is the operator's token. SettingError."""
        self.settings = settings
        security = settings.security
        self.rates = RateLimiter(security.messages_a_second, security.messages_at_once)
        self.doors = HttpAccess(
            CallerLookup(store, operator),
            tokens_required(security, listeners(settings.http, settings.mqtt)),
            frozenset(security.hosts.lower().replace(",", " ").split()),
            self.rates,
        )
        self.gateway = Gateway(store, settings.gateway, gateway_key, metrics)
        self.store = store
        self.meaning = meaning
        self.metrics = metrics
        self.supervisor = supervisor
        self.replication = Replication(store, meaning.wake, metrics, supervisor=supervisor)
        self.folders = FolderService(store, settings.folders, settings.home, meaning.wake, supervisor)
        self.searching = SearchService(store, settings.search, meaning, self.folders, metrics)
        answers = self.searching.answer_board, self.searching.answer_get
        self.dispatch = MessageDispatcher(self.replication, *answers, metrics)
        self.broker: EmbeddedBroker | None = None
        self.bus: MqttClient | None = None
        self.figures = CompanionGauges(self)
        metrics.watch(self.figures)

    @property
    def store_name(self) -> str:
        """Which database it is."""
        return self.store.database.name

    @property
    def mqtt_name(self) -> str:
        """Which broker it is, and whether it is reached."""
        if not self.bus:
            return "off"
        where = self.broker.url if self.broker else "your broker"
        return f"{where}, connected" if self.bus.is_connected else f"{where}, not connected"

    def problems(self) -> list[str]:
        """What does not work now, a sentence each."""
        found = self.supervisor.problems()
        if self.bus and not self.bus.is_connected:
            found.append(self.bus.problem)
        if self.meaning.problem:
            found.append(self.meaning.problem)
        return found + self.folders.problems()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Take messages and answer searches; the store is open before, and closed after."""
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, "work"))
        async with contextlib.AsyncExitStack() as stack:
            for part in (self.meaning, self.gateway, self.folders, self.replication):
                part.start()
                stack.push_async_callback(part.stop)
            stack.push_async_callback(self._stop_mqtt)
            warming = self.supervisor.start("warming", self._warm, is_finite=True, most_failures=_MOST_WARMINGS)
            stack.push_async_callback(warming.stop)
            stack.callback(self.searching.stop)
            await self._start_mqtt()
            yield

    async def _warm(self) -> None:
        """Leave the first seconds to boards and people who come at once."""
        await asyncio.sleep(_WARM_AFTER_SECONDS)
        await self.searching.warm()

    async def _stop_mqtt(self) -> None:
        if self.bus:
            await self.bus.stop()
        if self.broker:
            await self.broker.stop()

    async def _start_mqtt(self) -> None:
        mqtt = self.settings.mqtt
        if not mqtt.on:
            return
        answers = self._answers_in_turn
        if mqtt.url:
            login = broker_login(mqtt, self.settings.home)
        else:
            tls = listener_tls("mqtt", mqtt.certificate, mqtt.key, self.settings.home)
            certificate = self.settings.home / Path(mqtt.certificate).expanduser()
            login = BrokerLogin(
                WORKER, new_token(), trust_certificate("mqtt.certificate", certificate) if tls else None
            )
            door = BrokerAccess(self.doors.callers, self.doors.asks_tokens, self.rates, login.password)
            self.broker = EmbeddedBroker(mqtt.host, mqtt.port, door, tls, self.supervisor)
            await self.broker.start()
            answers = self.dispatch.answers_or_nothing  # the broker inside slows them down by itself
        url = self.broker.own_url if self.broker else mqtt.url
        # The broker inside has one worker, and cannot share a subscription.
        self.bus = MqttClient(url, login, answers, share=not self.broker, supervisor=self.supervisor)
        self.bus.start()
        if not await self.bus.wait(_BROKER_SECONDS):
            _log.warning("%s It goes on trying.", self.bus.problem)

    async def _answers_in_turn(self, device: str, data: bytes) -> list[bytes]:
        if self.rates.take(device):
            _log.info("%s sends too many messages: one was passed over, and it will say it again.", device)
            return []
        return await self.dispatch.answers_or_nothing(device, data)
