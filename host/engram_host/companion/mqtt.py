"""Boards over MQTT, on engram/v1/DEVICE/up and down; and programs, on engram/v1/DEVICE/chat/in and out.

Where the broker supports shared subscriptions, processes take turns, and each answers the messages it got. The name of
their group is a secret: a client that joined it would get messages of others, as access lists of mosquitto do not cover
subscriptions. Nothing depends on the broker's memory: boards repeat messages without an answer.
"""

import asyncio
import contextlib
import logging
import re
import ssl
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, cast
from urllib.parse import SplitResult, urlsplit

import aiomqtt

from engram.link.messages import MOST_BYTES
from engram_host.companion.auth.exposure import trust_authority
from engram_host.companion.errors import SettingError
from engram_host.companion.settings import MqttSettings
from engram_host.companion.supervisor import BackgroundPart, Backoff, Supervisor, TaskSet
from engram_host.companion.types import DEVICE_NAME

_log = logging.getLogger("engram.mqtt")

UP = "engram/v1/+/up"
CHAT_IN = "engram/v1/+/chat/in"

MOST_AT_WORK = 256
"""Limit of concurrent answers, besides held ones: bounds the memory."""

MOST_QUEUED = 2048
"""Limit of queued messages: two of each of a thousand boards; boards repeat dropped ones."""

LATE_SECONDS = 3.5
"""Age at which a hello is dropped: the board repeats it, and an overloaded companion catches up."""

_GREETING = b'{"op":"hello"'

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
"""Longest wait in seconds before another attempt to reach the broker."""

_LONGEST_RESTART = 5.0
"""Longest wait in seconds before a restart after an unknown error: no board is heard meanwhile."""


@dataclass(frozen=True)
class BrokerLogin:
    """Login at a broker; `tls` is None for the system's authorities."""

    name: str
    password: str = field(repr=False)
    tls: ssl.SSLContext | None = None


AnswerMessage = Callable[[str, bytes], Awaitable[list[bytes]]]


Publish = Callable[[str, bytes], Awaitable[None]]


class ChatDoor(Protocol):
    def take(self, device: str, data: bytes, publish: Publish) -> None: ...

    def resume(self, publish: Publish) -> None:
        """Publish answers that were open when the companion stopped."""
        ...


class _Arrivals(asyncio.Queue[aiomqtt.Message]):
    def __init__(self, clock: Callable[[], float]):
        super().__init__(MOST_QUEUED)
        self._clock = clock
        self._times: deque[float] = deque()
        self._taken = 0.0

    def waited(self) -> float:
        return self._clock() - self._taken

    def _put(self, item: aiomqtt.Message) -> None:
        self._times.append(self._clock())
        super()._put(item)

    def _get(self) -> aiomqtt.Message:
        self._taken = self._times.popleft()
        return super()._get()


class MqttClient(BackgroundPart):
    def __init__(
        self,
        url: str,
        login: BrokerLogin,
        answers: AnswerMessage,
        supervisor: Supervisor,
        group: str = "",
        door: ChatDoor | None = None,
        most_held: int = 0,
        count_overdue: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ):
        """`group` shares the subscriptions ("" for none); at most `most_held` answers are held."""
        super().__init__(supervisor, "mqtt", longest_pause=_LONGEST_RESTART)
        self._where = parse_broker_url(url)
        self._login = login
        self._answers = answers
        self._topics = [f"$share/{group}/{topic}" if group else topic for topic in ((UP, CHAT_IN) if door else (UP,))]
        self._door = door
        self._count_overdue = count_overdue
        self._ready = asyncio.Event()
        self._client_now: aiomqtt.Client | None = None
        self._has_resumed = False
        self.connections = 0
        self._clock = clock
        self._at_work = TaskSet("an answer to a board")
        self._room = asyncio.Semaphore(MOST_AT_WORK + most_held)
        self.problem = f"{self._broker_name}: the companion has not connected to it yet."

    @property
    def is_connected(self) -> bool:
        return self._ready.is_set()

    @property
    def _broker_name(self) -> str:
        default = 8883 if self._where.scheme == "mqtts" else 1883
        return f"the MQTT broker at {self._where.hostname}:{self._where.port or default}"

    async def wait(self, seconds: float) -> bool:
        """Wait for a connection; True if there is one."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ready.wait()
        return self._ready.is_set()

    async def stop(self) -> None:
        """Stop receiving; cancel pending answers."""
        await super().stop()
        await self._at_work.stop()

    async def _run(self) -> None:
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        while True:
            try:
                arrivals = _Arrivals(self._clock)
                async with self._client(arrivals) as client:
                    for topic in self._topics:
                        await client.subscribe(topic, qos=1)
                    _log.info("connected to %s", self._where.netloc.rpartition("@")[2])
                    self._client_now = client
                    self.connections += 1
                    self._ready.set()
                    backoff.reset()
                    if self._door and not self._has_resumed:
                        self._has_resumed = True
                        self._door.resume(self._publish_chat)
                    await self._listen(client, arrivals)
            except aiomqtt.MqttError as error:
                self.problem = f"{self._broker_name}: {error}."
                _log.warning("%s", self.problem)
            finally:
                self._ready.clear()
            await asyncio.sleep(backoff.next())

    def _client(self, arrivals: _Arrivals) -> aiomqtt.Client:
        secure = self._where.scheme == "mqtts"
        client = aiomqtt.Client(
            self._where.hostname or "",
            self._where.port or (8883 if secure else 1883),
            username=self._where.username or self._login.name or None,
            password=self._where.password or self._login.password or None,
            tls_context=(self._login.tls or ssl.create_default_context()) if secure else None,
            queue_type=cast("type[_Arrivals]", lambda maxsize: arrivals),
            max_queued_outgoing_messages=MOST_QUEUED,
            max_inflight_messages=MOST_AT_WORK,
            max_concurrent_outgoing_calls=MOST_AT_WORK,
        )
        client.pending_calls_threshold = MOST_AT_WORK  # it warns if more than ten publishes are pending
        return client

    async def _listen(self, client: aiomqtt.Client, arrivals: _Arrivals) -> None:
        async for message in client.messages:
            device, *what = message.topic.value.split("/")[2:]
            data = message.payload
            if not re.fullmatch(DEVICE_NAME, device) or not isinstance(data, bytes) or len(data) > MOST_BYTES:
                line = "ignored message from %r: invalid name or too large"
                _log.warning(line, device[:40], extra={"repeat": "passed over"})
                continue
            if what != ["up"]:
                if self._door:
                    self._door.take(device, data, self._publish_chat)
                continue
            await self._room.acquire()
            if data.startswith(_GREETING) and arrivals.waited() > LATE_SECONDS:
                self._room.release()
                self._count_overdue()
                line = "overloaded: dropped hello from %s (the board retries)"
                _log.warning(line, device, extra={"repeat": "late"})
                continue
            self._at_work.begin(self._answer(client, device, data))

    async def _publish_chat(self, device: str, data: bytes) -> None:
        while True:
            await self._ready.wait()
            assert self._client_now
            try:
                await self._client_now.publish(f"engram/v1/{device}/chat/out", data, qos=1)
                return
            except aiomqtt.MqttError as error:
                _log.info("%s: chat output delayed: %s", device, error, extra={"repeat": "chat"})
            await asyncio.sleep(FIRST_PAUSE)

    async def publish_retained(self, topic: str, message: str) -> bool:
        """Publish a retained message, or remove it if empty; True if it was sent."""
        if not self._ready.is_set() or self._client_now is None:
            return False
        try:
            await self._client_now.publish(topic, message.encode(), qos=1, retain=True)
        except aiomqtt.MqttError as error:
            _log.info("%s was not published: %s", topic, error, extra={"repeat": "retained"})
            return False
        return True

    async def _answer(self, client: aiomqtt.Client, device: str, data: bytes) -> None:
        try:
            for answer in await self._answers(device, data):
                await client.publish(f"engram/v1/{device}/down", answer, qos=1)
        except aiomqtt.MqttError as error:
            # The board asks again when the broker is back.
            _log.info("%s: an answer did not go out: %s", device, error)
        finally:
            self._room.release()


def broker_login(mqtt: MqttSettings, home: Path) -> BrokerLogin:
    """Return the login at the broker of the settings; raises SettingError."""
    authority = home / Path(mqtt.authority).expanduser()
    return BrokerLogin(
        mqtt.username, mqtt.password, trust_authority("mqtt.authority", authority) if mqtt.authority else None
    )


def parse_broker_url(url: str) -> SplitResult:
    """Parse a broker's URL; raises SettingError."""
    try:
        where = urlsplit(url)
        is_good = where.scheme in ("mqtt", "mqtts") and bool(where.hostname) and where.port != 0
    except ValueError:
        is_good, where = False, urlsplit("")
    if not is_good:
        raise SettingError("mqtt.url", "must look like mqtt://host:1883 or mqtts://host:8883.")
    return where
