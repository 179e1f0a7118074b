"""Answers while their client is there: a stream that holds what it needs until it is over, and work that ends with a client."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from engram_host.companion.gateway.errors import ClientGone

_log = logging.getLogger("engram.gateway")

MOST_STREAM = 32 << 20
"""Bytes of a stream that are passed on; what is longer is cut off."""

Result = TypeVar("Result")


async def run_while_connected(request: Request, work: Awaitable[Result]) -> Result:
    """Do work as long as the client is there; ClientGone when it has gone, and the work is over then."""
    doing = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_wait_for_disconnect(request.receive))
    try:
        await asyncio.wait([doing, leaving], return_when=asyncio.FIRST_COMPLETED)
        if doing.done():
            return doing.result()
        _log.info("a client has gone before its answer")
        raise ClientGone(499, "the client has gone.", "client_gone")
    finally:
        doing.cancel()
        leaving.cancel()
        await asyncio.gather(doing, leaving, return_exceptions=True)


async def _wait_for_disconnect(receive: Callable[[], Awaitable[Any]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class StreamedAnswer(Response):
    """A stream of events; `held` is released when it is over, also by an error."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], held: AsyncExitStack):
        super().__init__(headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._events = events
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        async with self._held:
            sending = asyncio.create_task(self._send(send))
            leaving = asyncio.create_task(_wait_for_disconnect(receive))
            try:
                await asyncio.wait([sending, leaving], return_when=asyncio.FIRST_COMPLETED)
                if sending.done():
                    sending.result()
            finally:
                sending.cancel()
                leaving.cancel()
                await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        left = MOST_STREAM
        async with contextlib.aclosing(self._events) as events:  # pyright: ignore[reportArgumentType]
            async for piece in events:
                left -= len(piece)
                if left < 0:
                    break
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})
