"""The MQTT broker inside the companion: amqtt, for whoever has none of their own.

It knows MQTT 3.1.1 and forgets what it holds when it is stopped, which the protocol above does not mind.
"""

import asyncio
import logging
import socket
import ssl

from amqtt.broker import Broker
from amqtt.contexts import BrokerConfig, ListenerConfig
from amqtt.errors import BrokerError

from engram_host.companion.errors import CompanionError
from engram_host.companion.presence import here
from engram_host.companion.security.broker_door import Door, GuardedBroker

_log = logging.getLogger("engram.broker")

MOST_CONNECTIONS = 4096
"""Boards that may be connected at once: bounds the memory."""

STOP_SECONDS = 5.0
"""How long clients may take to be let go."""


class BrokerFailed(CompanionError):
    """The broker could not listen."""


class EmbeddedBroker:
    """A broker that listens at host and port, with port 0 at a free one; with TLS if a context is given."""

    def __init__(self, host: str, port: int, door: Door, tls: ssl.SSLContext | None = None):
        self.host = host
        self.port = port or _free_port(host)
        self._door = door
        self._tls = tls
        self._broker: Broker | None = None

    @property
    def url(self) -> str:
        """Where it is."""
        return self._at(self.host)

    @property
    def own_url(self) -> str:
        """Where the companion itself reaches it."""
        return self._at(here(self.host))

    def _at(self, host: str) -> str:
        return f"{'mqtts' if self._tls else 'mqtt'}://{f'[{host}]' if ':' in host else host}:{self.port}"

    async def start(self) -> None:
        """Listen; BrokerFailed if that cannot be done."""
        # amqtt tells of each packet and each client, and shows a traceback where a sentence does.
        for name in ("amqtt", "transitions"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        host = f"[{self.host}]" if ":" in self.host else self.host
        listener = ListenerConfig(bind=f"{host}:{self.port}", max_connections=MOST_CONNECTIONS, ssl=bool(self._tls))
        config = BrokerConfig(listeners={"default": listener}, plugins={}, session_expiry_interval=300)
        self._broker = GuardedBroker(config, self._door, self._tls)
        try:
            await self._broker.start()
        except (BrokerError, OSError) as error:
            self._broker = None
            problem = f"the MQTT broker cannot listen at {self.host}:{self.port}: {error}; "
            raise BrokerFailed(problem + "set mqtt.port to another one, or mqtt.url to your broker.") from None
        _log.info("listening at %s", self.url)

    async def stop(self) -> None:
        """Stop listening; what it held is forgotten."""
        broker, self._broker = self._broker, None
        if not broker:
            return
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await broker.shutdown()
        except TimeoutError:
            _log.warning("a client did not let go of its connection; the broker ends without it.")


def _free_port(host: str) -> int:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]
