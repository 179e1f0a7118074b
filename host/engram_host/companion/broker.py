"""The MQTT broker inside the companion: amqtt, for whoever has none of their own.

It knows MQTT 3.1.1 and forgets what it holds when it is stopped, which the protocol above does not mind.
"""

import logging
import socket

from amqtt.broker import Broker
from amqtt.contexts import BrokerConfig, ListenerConfig
from amqtt.errors import BrokerError

from engram_host.companion.errors import CompanionError

_log = logging.getLogger("engram.broker")

MOST_CONNECTIONS = 4096
"""Boards that may be connected at once: bounds the memory."""


class BrokerFailed(CompanionError):
    """The broker could not listen."""


class EmbeddedBroker:
    """A broker that listens at host and port; with port 0 at a free one, which `port` then is."""

    def __init__(self, host: str, port: int):
        self.host = host
        self.port = port or _free_port(host)
        self._broker: Broker | None = None

    @property
    def url(self) -> str:
        """Where it is."""
        return f"mqtt://{self.host}:{self.port}"

    async def start(self) -> None:
        """Listen; BrokerFailed if that cannot be done."""
        # amqtt tells of each packet and each client, and shows a traceback where a sentence does.
        for name in ("amqtt", "transitions"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        listener = ListenerConfig(bind=f"{self.host}:{self.port}", max_connections=MOST_CONNECTIONS)
        plugins = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}}
        config = BrokerConfig(listeners={"default": listener}, plugins=plugins, session_expiry_interval=300)
        self._broker = Broker(config)
        try:
            await self._broker.start()
        except (BrokerError, OSError) as error:
            self._broker = None
            problem = f"the MQTT broker cannot listen at {self.host}:{self.port}: {error}; "
            raise BrokerFailed(problem + "set mqtt.port to another one, or mqtt.url to your broker.") from None
        _log.info("listening at %s", self.url)

    async def stop(self) -> None:
        """Stop listening; what it held is forgotten."""
        if self._broker:
            await self._broker.shutdown()
            self._broker = None


def _free_port(host: str) -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]
