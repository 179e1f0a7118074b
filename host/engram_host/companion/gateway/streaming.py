"""Server-sent events, and streamed answers that release their resources when the client leaves."""

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from engram_host.companion.gateway.dialects import ClientGone, ServiceFailed

MOST_EVENT = 1 << 20  # bytes of one event: bounds the memory if the service never ends it
_NAME = re.compile(r"[a-z_.]{1,64}")


@dataclass(frozen=True)
class ServerEvent:
    """An event with its name ("" for none) and data; None is a comment, which keeps connections alive."""

    name: str
    data: bytes | None

    def encode(self) -> bytes:
        if self.data is None:
            return b":\n\n"
        name = f"event: {self.name}\n".encode() if _NAME.fullmatch(self.name) else b""
        return name + b"data: " + self.data + b"\n\n"


class EventParser:
    """Incremental parser of events; raises ServiceFailed if one is too long."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._name = ""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> list[ServerEvent]:
        found: list[ServerEvent] = []
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._hold(line)
            whole = bytes(self._line).removesuffix(b"\r")
            self._line.clear()
            found += self._end_line(whole)
        self._hold(rest)
        return found

    def end(self) -> list[ServerEvent]:
        line, self._line = bytes(self._line), bytearray()
        return self._end_line(line) + self._end_line(b"")

    def _hold(self, part: bytes) -> None:
        self._line += part
        if len(self._line) + sum(map(len, self._data)) > MOST_EVENT:
            raise ServiceFailed(502, "the model's service sent an event that is too long.", "upstream_failed")

    def _end_line(self, line: bytes) -> list[ServerEvent]:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._name = value.decode("ascii", "replace")
        elif not name and line:
            return [ServerEvent("", None)]
        if line:
            return []
        found = [ServerEvent(self._name, b"\n".join(self._data))] if self._data else []
        self._name, self._data = "", []
        return found


_log = logging.getLogger("engram.gateway")

MOST_STREAM = 32 << 20  # bytes of a stream; the rest is cut off

Result = TypeVar("Result")


async def run_while_connected(request: Request, work: Awaitable[Result]) -> Result:
    """Run work while the client is connected; cancel it and raise ClientGone otherwise."""
    doing = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_wait_for_disconnect(request.receive))
    try:
        await asyncio.wait([doing, leaving], return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            return doing.result()
        _log.info("a client has gone before its answer")
        raise ClientGone(499, "the client has gone.", "client_gone")
    finally:
        await cancel(doing, leaving)


async def _wait_for_disconnect(receive: Callable[[], Awaitable[Any]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def with_pings(events: AsyncGenerator[bytes], seconds: float, held: AsyncExitStack) -> AsyncGenerator[bytes]:
    """Yield events, and a comment for each time that none comes for so long; `held` ends the events."""
    # Only `held` cancels the wait: the scope of an answer cancels again and again, also what closes the connection.
    waiting: list[asyncio.Task[bytes]] = []
    held.push_async_callback(events.aclose)
    held.push_async_callback(lambda: cancel(*waiting))
    while True:
        waiting[:] = [asyncio.create_task(_next(events))]
        while not (await asyncio.wait(waiting, timeout=seconds))[0]:
            yield ServerEvent("", None).encode()
        if not (event := waiting[0].result()):
            return
        yield event


async def _next(events: AsyncGenerator[bytes]) -> bytes:
    return await anext(events, b"")


async def cancel(*works: asyncio.Future[Any]) -> None:
    """Cancel works and wait for their ends."""
    for work in works:
        work.cancel()
    await asyncio.gather(*works, return_exceptions=True)


class StreamedAnswer(StreamingResponse):
    """A stream of events; `held` is released at its end, even after an error."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], held: AsyncExitStack):
        super().__init__(_bounded(events), headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._held:
            await super().__call__(scope, receive, send)


async def _bounded(events: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    left = MOST_STREAM
    async with contextlib.aclosing(events):  # pyright: ignore[reportArgumentType]
        async for piece in events:
            left -= len(piece)
            if left < 0:
                return
            yield piece
