"""The life of the broker inside the companion: it listens, is started again when a task of it ends, and stops."""

import asyncio
import logging
import os
import socket
import ssl

from amqtt.contexts import BrokerConfig, ListenerConfig
from amqtt.errors import BrokerError

from engram_host.companion.auth.connections import Connections
from engram_host.companion.errors import CompanionError
from engram_host.companion.lockfile import reachable_host
from engram_host.companion.mqtt.guarded_broker import BrokerAccess, GuardedBroker
from engram_host.companion.supervisor import BackgroundTask, Supervisor

_log = logging.getLogger("engram.broker")

STOP_SECONDS = 5.0
"""How long clients may take to disconnect."""

_LONGEST_PAUSE = 5.0
"""Seconds until the broker is started again: no board is heard meanwhile."""


def _cause(error: Exception) -> str:
    """What the system says, without what amqtt and asyncio write around it."""
    cause = error.__cause__ or error.__context__ or error
    return os.strerror(cause.errno) if isinstance(cause, OSError) and cause.errno else str(error)


class BrokerFailed(CompanionError):
    """The broker could not listen."""


class EmbeddedBroker:
    """A broker that listens at host and port, with port 0 at a free one; with TLS if a context is given."""

    def __init__(
        self,
        host: str,
        port: int,
        access: BrokerAccess,
        supervisor: Supervisor,
        connections: Connections,
        tls: ssl.SSLContext | None = None,
    ):
        self.host = host
        self.port = port or _free_port(host)
        self._access = access
        self._connections = connections
        self._tls = tls
        self._supervisor = supervisor
        self._task: BackgroundTask | None = None
        self._broker: GuardedBroker | None = None

    @property
    def url(self) -> str:
        """Where it is."""
        return self._url_at(self.host)

    @property
    def own_url(self) -> str:
        """Where the companion itself reaches it."""
        return self._url_at(reachable_host(self.host))

    def _url_at(self, host: str) -> str:
        return f"{'mqtts' if self._tls else 'mqtt'}://{f'[{host}]' if ':' in host else host}:{self.port}"

    async def start(self) -> None:
        """Listen; BrokerFailed if that cannot be done."""
        await self._listen()
        self._task = self._supervisor.start("broker", self._serve, longest_pause=_LONGEST_PAUSE)

    async def stop(self) -> None:
        """Stop listening; what it held is forgotten."""
        if self._task:
            await self._task.stop()
        await self._shut_down()

    async def _serve(self) -> None:
        """Serve until one of the broker's own tasks ends; begun again, with a new broker at the same port."""
        broker = self._broker or await self._listen()
        try:
            await broker.until_broken()
        finally:
            await self._shut_down()

    async def _listen(self) -> GuardedBroker:
        # amqtt logs each packet and each client, and shows a traceback where a sentence does.
        for name in ("amqtt", "transitions"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        host = f"[{self.host}]" if ":" in self.host else self.host
        listener = ListenerConfig(bind=f"{host}:{self.port}", ssl=bool(self._tls))
        config = BrokerConfig(listeners={"default": listener}, plugins={}, session_expiry_interval=300)
        broker = GuardedBroker(config, self._access, self._connections, self._tls)
        try:
            await broker.start()
        except (BrokerError, OSError) as error:
            problem = f"the MQTT broker cannot listen at {self.host}:{self.port}: {_cause(error)}; "
            raise BrokerFailed(problem + "set mqtt.port to another one, or mqtt.url to your broker.") from None
        _log.info("listening at %s", self.url)
        self._broker = broker
        return broker

    async def _shut_down(self) -> None:
        broker, self._broker = self._broker, None
        if not broker:
            return
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await broker.shutdown()
        except TimeoutError:
            _log.warning("a client did not close its connection; the broker ends without it.")
        finally:
            broker.stop_listening()


def _free_port(host: str) -> int:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]
