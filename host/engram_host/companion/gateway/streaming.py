"""An answer that is passed on as it comes, and ends with its client."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

MOST_STREAM = 32 << 20
"""Bytes of a stream that are passed on; what is longer is cut off."""


class StreamedAnswer(Response):
    """A stream of events; `held` is let go when it is over, however that comes."""

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
            leaving = asyncio.create_task(self._gone(receive))
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

    @staticmethod
    async def _gone(receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
