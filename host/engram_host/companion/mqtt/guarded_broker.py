"""The MQTT broker inside the companion: amqtt's, with checks of who may connect, which topics are whose, and bounds.

amqtt lets plugins say who may connect and publish. That is not enough: it takes over a session before it knows whose it is,
sends last wills and retained messages past the plugins, reads packets of any length from anybody, and queues without bound.
So the checks stand in the broker itself, at the few places where these things are decided.

It knows MQTT 3.1.1 and forgets what it holds when it is stopped, which the protocol above does not mind.
"""

import asyncio
import logging
import re
import secrets
import ssl
from dataclasses import dataclass
from functools import partial
from typing import Any

from amqtt.adapters import ReaderAdapter, StreamReaderAdapter, StreamWriterAdapter, WriterAdapter
from amqtt.broker import Broker
from amqtt.contexts import Action, BrokerConfig, ListenerConfig, ListenerType
from amqtt.errors import AMQTTError, MQTTError
from amqtt.mqtt.connack import NOT_AUTHORIZED, SERVER_UNAVAILABLE, ConnackPacket
from amqtt.mqtt.protocol.broker_handler import BrokerProtocolHandler
from amqtt.session import Session

from engram.link.messages import MOST_BYTES
from engram_host.companion.auth.connections import Connection, Connections, StreamProtocol, accept_streams, bind_socket
from engram_host.companion.auth.identity import CallerLookup
from engram_host.companion.auth.rate_limit import FailedLogins, RateLimiter
from engram_host.companion.auth.tokens import token_digest
from engram_host.companion.errors import CompanionError, StoreUnavailable
from engram_host.companion.types import DEVICE_NAME

_log = logging.getLogger("engram.broker")

WORKER = "$companion"
"""The companion's own name at its broker; no board can be called so."""

CONNECT_SECONDS = 10.0
"""How long a client may take to say who it is."""

MOST_CONNECT_BYTES = 2048
"""Of anything in the first packet: names and a token."""

MOST_PACKET_BYTES = MOST_BYTES + 1024
"""A message, its topic and what is around it."""

MOST_WAITING = 64
"""Messages of one client that wait to be passed on, or to be acknowledged by it."""

MOST_UNREAD = 1 << 18
"""Bytes that wait in the broker for one client; until it reads them it is not read from, and sent nothing."""

MOST_AT_WORKER = 1024
"""Messages that wait for the companion itself; until it has taken some, boards are not read from."""

MOST_HALF_SENT = 256
"""Messages of quality 2 whose second half a client may owe; with more it is disconnected."""

_TOPIC_UP = re.compile(f"engram/v1/({DEVICE_NAME})/up")
_TOPIC_CHAT = re.compile(rf"engram/v1/(?:{DEVICE_NAME}|\+)/chat/(in|out)")

_LOOK_AGAIN = 0.02
"""Seconds after which it is looked again whether a client has caught up."""


@dataclass(frozen=True)
class BrokerAccess:
    """Who comes in: `secret` is the password of the companion's own connection, a random one of this process."""

    callers: CallerLookup
    requires_tokens: bool
    rate_limiter: RateLimiter
    secret: str
    failed_logins: FailedLogins
    has_door: bool = False
    """Whether programs with an operator's token talk to boards."""


class BrokerBroken(CompanionError):
    """The broker runs no more as a whole."""


class GuardedBroker(Broker):
    """A broker of boards and of programs, where tokens are asked for: a board writes engram/v1/NAME/up and reads
    engram/v1/NAME/down, a program with an operator's token talks to boards, and nothing else. It keeps no retained messages,
    wills or sessions, which the boards' protocol has no use for.
    """

    def __init__(
        self, config: BrokerConfig, access: BrokerAccess, connections: Connections, tls: ssl.SSLContext | None
    ):
        super().__init__(config)
        self._access = access
        self._connections = connections
        self._tls = tls
        self._worker = token_digest(access.secret)
        self._worker_session: Session | None = None

    def _create_ssl_context(self, listener: ListenerConfig) -> ssl.SSLContext:  # pyright: ignore[reportIncompatibleMethodOverride]
        assert self._tls, "only a listener with TLS asks for it"
        return self._tls

    async def _create_server_instance(
        self,
        listener_name: str,
        listener_type: ListenerType,
        address: str | None,
        port: int,
        ssl_context: ssl.SSLContext | None,
    ) -> Any:
        """Listen as amqtt does, but accept within the bound of open connections."""
        connected = partial(self.stream_connected, listener_name=listener_name)
        return accept_streams(bind_socket(address or "", port), self._connections, connected, ssl_context)

    async def until_broken(self) -> None:
        """Wait until a task ends that the started broker needs, and raise what ended it."""
        needed = [task for task in (self._broadcast_task, self._session_monitor_task) if task]
        ended, _ = await asyncio.wait(needed, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            if not task.cancelled():
                task.result()
        raise BrokerBroken("a task of the MQTT broker ended, so no message would be passed on any more.")

    def stop_listening(self) -> None:
        """Let nobody connect any more; also after a shutdown that was cut short."""
        for server in self._servers.values():
            server.instance.close()

    # --- connecting

    async def stream_connected(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, listener_name: str
    ) -> None:
        """A client has connected."""
        await self._client_connected(listener_name, _Reader(reader, writer), _Writer(writer))

    async def _initialize_client_session(
        self, reader: ReaderAdapter, writer: WriterAdapter, remote_address: str, remote_port: int
    ) -> tuple[BrokerProtocolHandler, Session]:
        """Read who the client is, and let it in; MQTTError if it does not come in. No session of anybody is touched before."""
        assert isinstance(reader, _Reader)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                handler, session = await BrokerProtocolHandler.init_from_connect(reader, writer, self.plugins_manager)
                if answer := await self._login_refusal(session, remote_address):
                    await ConnackPacket.build(0, answer).to_stream(writer)
                    raise MQTTError("refused")
        except (
            AMQTTError,
            MQTTError,
            TimeoutError,
            _TooMuch,
            asyncio.IncompleteReadError,
            OSError,
            ValueError,
        ) as error:
            await _close(writer)
            raise MQTTError(f"{remote_address}: {error}") from None
        # One's own name before it: nobody takes a client's session by calling itself as that does.
        session.client_id = f"{session.username or ''}/{session.client_id or secrets.token_hex(8)}"
        session.clean_session = True
        session.will_flag = False
        session.parent = 0
        await self._delete_session(session.client_id)
        if session.username == WORKER:
            self._worker_session = session
        reader.begin(session)
        reader.connection.mark_known()
        return handler, session

    async def _login_refusal(self, session: Session, address: str) -> int:
        """The code that refuses a client, 0 if it may come in. Whose token it has is not known while the database is down:
        that is no failed login, or each outage would slow down the boards that connect again.
        """
        try:
            if await self._authenticate(session, self.listeners_config["default"]):
                return 0
        except StoreUnavailable as problem:
            _log_outage(problem)
            return SERVER_UNAVAILABLE
        await self._access.failed_logins.note("MQTT", address, session.username or "")
        return NOT_AUTHORIZED

    async def _authenticate(self, session: Session, _: ListenerConfig) -> bool:
        name, password = session.username or "", session.password or ""
        digest = token_digest(password)
        session.attributes["digest"] = digest
        session.attributes["name"] = name
        if name == WORKER:
            return secrets.compare_digest(digest, self._worker)
        return await self._is_let_in(session)

    async def _is_let_in(self, session: Session) -> bool:
        """Whether a client's token is still that of the board which it says it is. StoreUnavailable."""
        name = session.attributes.get("name", "")
        if name == WORKER or not self._access.requires_tokens:
            return True
        caller = await self._access.callers.by_digest(session.attributes["digest"])
        is_program = caller.is_operator and not caller.is_read_only and caller.name == name
        session.attributes["is_program"] = is_program = is_program and self._access.has_door
        return bool(name) and (is_program or caller.device == name)

    # --- topics

    async def _topic_filtering(self, session: Session, topic: str, action: Action) -> bool:
        name = session.attributes.get("name", "")
        if name == WORKER:
            return True
        if action is Action.RECEIVE and not self._keeps_up(session):
            return False  # boards ask again
        try:
            if not await self._is_let_in(session):
                return False
        except StoreUnavailable as problem:
            _log_outage(problem)
            return False
        is_publishing = action is Action.PUBLISH
        if self._access.requires_tokens and not _is_own_topic(session, name, topic, is_publishing=is_publishing):
            _log.warning("%s may not %s %r", name, action, topic[:80], extra={"repeat": f"{name} {action}"})
            return False
        if action is Action.PUBLISH:
            # It waits here, then in its socket: what comes too fast is slowed down, and nothing is lost.
            while wait := self._access.rate_limiter.wait_seconds(_board_of(topic)):
                await asyncio.sleep(wait)
            while self._is_worker_behind():
                await asyncio.sleep(_LOOK_AGAIN)
        return True

    def _is_worker_behind(self) -> bool:
        worker = self._worker_session
        waits = len(worker.inflight_out) if worker and worker.transitions.is_connected() else 0
        return max(waits, self._broadcast_queue.qsize()) > MOST_AT_WORKER

    def _keeps_up(self, session: Session) -> bool:
        handler = self._get_handler(session)
        reader = handler.reader if handler else None
        return len(session.inflight_out) < MOST_WAITING and isinstance(reader, _Reader) and not reader.is_unread

    async def retain_message(
        self,
        source_session: Session | None,
        topic_name: str | None,
        data: bytes | bytearray | None,
        qos: int | None = None,
    ) -> None:
        """Keep nothing: amqtt would give it to everybody who connects."""


def _is_own_topic(session: Session, name: str, topic: str, *, is_publishing: bool) -> bool:
    """Whether a client may write to a topic, or read it: a board its own two, a program those of conversations."""
    if session.attributes.get("is_program"):
        found = _TOPIC_CHAT.fullmatch(topic)
        return bool(found) and found[1] == ("in" if is_publishing else "out")
    return topic == f"engram/v1/{name}/{'up' if is_publishing else 'down'}"


def _log_outage(problem: StoreUnavailable) -> None:
    _log.warning("a board was not let in: %s", problem, extra={"repeat": "outage"})


def _board_of(topic: str) -> str:
    """The board that a topic belongs to: over HTTP its requests are counted under that name. Else the topic."""
    found = _TOPIC_UP.fullmatch(topic)
    return found[1] if found else topic


class _TooMuch(CompanionError):
    """A client sent more than is taken."""


class _Reader(StreamReaderAdapter):
    """Reads from a client no faster than what it sent before is done with, and no more than is taken."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        super().__init__(reader)
        self._writer = writer
        self._session: Session | None = None

    @property
    def connection(self) -> Connection:
        """What counts among the open ones."""
        stream = self._writer.transport.get_protocol()
        assert isinstance(stream, StreamProtocol), "accept_streams() makes no other"
        return stream.connection

    def begin(self, session: Session) -> None:
        """From now on it is known who it is."""
        self._session = session

    @property
    def is_unread(self) -> bool:
        """Whether the client leaves too much unread of what it was sent."""
        return self._writer.transport.get_write_buffer_size() > MOST_UNREAD

    async def read(self, n: int = -1) -> bytes:
        """So many bytes; _TooMuch ends the connection."""
        session = self._session
        if n > (MOST_PACKET_BYTES if session else MOST_CONNECT_BYTES):
            raise _TooMuch("a packet is longer than is taken.")
        if session:
            if len(session.inflight_in) > MOST_HALF_SENT:
                raise _TooMuch("too many messages of quality 2 were begun.")
            while session.delivered_message_queue.qsize() > MOST_WAITING or self.is_unread:
                await asyncio.sleep(_LOOK_AGAIN)
        return await super().read(n)


class _Writer(StreamWriterAdapter):
    """Writes to a client, which may have closed its side before the broker closes its own."""

    async def close(self) -> None:
        """Close the connection, whatever the client has done."""
        try:
            await super().close()
        except OSError as error:
            # amqtt lets it through where it refuses a client: a traceback, and a connection that counts for ever.
            _log.debug("a client had closed its connection: %s", error)
            self._writer.transport.abort()


async def _close(writer: WriterAdapter) -> None:
    try:
        async with asyncio.timeout(1):
            await writer.close()
    except (OSError, TimeoutError) as error:
        _log.debug("a connection did not close: %s", error)
