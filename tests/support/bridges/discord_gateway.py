"""The gateway of the fake of Discord: hello, identify, resume, heartbeats and events, in a stream of zlib or zstd.

A session outlives its connection, and is resumed with what was missed; forget() ends all, as a long outage does.
"""

import asyncio
import importlib
import json
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

from discord_records import Json, snowflake

if TYPE_CHECKING:
    from discord_fake import DiscordServer

_HEARTBEAT_MS = 41_250
_MESSAGE_CONTENT = 1 << 15
_GUILD_MESSAGES = 1 << 9
_DIRECT_MESSAGES = 1 << 12


class _Closed(Exception):
    """The gateway ends the connection, with a code of the documentation."""

    def __init__(self, code: int):
        super().__init__(code)
        self.code = code


class Session:
    """What a client has identified for: its intents, and its numbered events."""

    def __init__(self, intents: int):
        self.id = f"session-{snowflake()}"
        self.intents = intents
        self.events: list[Json] = []
        self.connection: Connection | None = None

    def add(self, name: str, data: Json) -> None:
        event = {"op": 0, "t": name, "s": len(self.events) + 1, "d": data}
        self.events.append(event)
        if self.connection is not None:
            self.connection.put(event)


class Connection:
    """A websocket; what it is to send waits in a queue."""

    def __init__(self, socket: web.WebSocketResponse):
        self.socket = socket
        self.session: Session | None = None
        self._queue: asyncio.Queue[Json] = asyncio.Queue()
        self._compress: Callable[[bytes], bytes] = bytes

    def compress_with(self, name: str) -> None:
        """Compress what is sent, with zlib-stream, or zstd-stream, which the library takes on Python 3.14."""
        if name == "zstd-stream":
            zstd = importlib.import_module("compression.zstd").ZstdCompressor()
            self._compress = lambda data: zstd.compress(data, zstd.FLUSH_BLOCK)
        else:
            plain = zlib.compressobj()
            self._compress = lambda data: plain.compress(data) + plain.flush(zlib.Z_SYNC_FLUSH)

    def put(self, payload: Json) -> None:
        self._queue.put_nowait(payload)

    async def send_all(self) -> None:
        while True:
            data = json.dumps(await self._queue.get()).encode()
            await self.socket.send_bytes(self._compress(data))


class Gateway:
    """Serves websockets, and gives events to those that have identified."""

    def __init__(self, discord: "DiscordServer") -> None:
        self._discord = discord
        self._sessions: dict[str, Session] = {}
        self.identified = 0
        self.resumed = 0
        self.doubles = False
        """Every event comes twice."""

    @property
    def url(self) -> str:
        return f"ws://{self._discord.address}/gateway"

    def forget(self) -> None:
        self._sessions.clear()

    def dispatch(self, name: str, data: Json) -> None:
        """Give an event to all sessions that want it."""
        is_message = name.startswith("MESSAGE_")
        wanted = (_GUILD_MESSAGES if "guild_id" in data else _DIRECT_MESSAGES) if is_message else 0
        for session in self._sessions.values():
            if not wanted or session.intents & wanted:
                for _time in range(2 if self.doubles else 1):
                    session.add(name, data)

    def ask_to_reconnect(self) -> None:
        """Opcode 7, as before a restart of the service."""
        for session in self._sessions.values():
            if session.connection is not None:
                session.connection.put({"op": 7, "d": None, "s": None, "t": None})

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        connection = Connection(socket)
        sender = asyncio.ensure_future(connection.send_all())
        try:
            query = dict(request.query)
            connection.compress_with(query.pop("compress", ""))
            if query != {"v": "10", "encoding": "json"}:
                raise _Closed(4012)
            connection.put({"op": 10, "d": {"heartbeat_interval": _HEARTBEAT_MS}, "s": None, "t": None})
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._take(connection, message.data)
        except _Closed as closed:
            await socket.close(code=closed.code)
        except ConnectionError:
            pass  # the client has gone
        finally:
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)
            if connection.session is not None and connection.session.connection is connection:
                connection.session.connection = None
        return socket

    def _take(self, connection: Connection, text: str) -> None:
        payload: Any = json.loads(text)
        operation, data = payload["op"], payload["d"]
        if operation == 1:
            connection.put({"op": 11, "d": None, "s": None, "t": None})
        elif operation == 2:
            self._identify(connection, data)
        elif operation == 6:
            self._resume(connection, data)

    def _identify(self, connection: Connection, data: Any) -> None:
        if not self._discord.is_bots_token(data["token"]):
            raise _Closed(4004)
        intents = data["intents"]
        if intents & _MESSAGE_CONTENT and not self._discord.has_message_content:
            raise _Closed(4014)
        self.identified += 1
        session = connection.session = Session(intents)
        session.connection = connection
        self._sessions[session.id] = session
        discord = self._discord
        application = {"id": str(discord.application_id), "flags": 0}
        session.add(
            "READY",
            {
                "v": 10,
                "user": discord.bot.as_json(),
                "session_id": session.id,
                "application": application,
                "guilds": [{"id": str(discord.guild_id), "unavailable": True}],
                "resume_gateway_url": self.url,
            },
        )
        session.add("GUILD_CREATE", discord.guild_as_json())

    def _resume(self, connection: Connection, data: Any) -> None:
        if not self._discord.is_bots_token(data["token"]):
            raise _Closed(4004)
        session = self._sessions.get(data["session_id"])
        if session is None:
            connection.put({"op": 9, "d": False, "s": None, "t": None})
            return
        self.resumed += 1
        connection.session, session.connection = session, connection
        for event in session.events[data["seq"] :]:
            connection.put(event)
        session.add("RESUMED", {})
