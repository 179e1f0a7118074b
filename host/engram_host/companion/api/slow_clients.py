"""HTTP connections whose other side is slow: each may be so for some time, and is ended then, with all that it holds."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 15.0
"""How long the head of a request may take, from the connection or from its first byte."""

STALLED_SECONDS = 60.0
"""How long an answer may wait for its reader without a byte being taken."""


class SlowClientProtocol(H11Protocol):
    """uvicorn's protocol, which waits for slow clients without end, with an end to it."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self._head: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """A connection begins: the head of its first request has to come."""
        super().connection_made(transport)
        self._head = self.loop.call_later(HEAD_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        """Bytes came: the beginning of a head has to be followed by its end."""
        super().data_received(data)
        is_in_head = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        if not is_in_head:
            self._head = _cancelled(self._head)
        elif self._head is None:
            self._head = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def pause_writing(self) -> None:
        """The other side takes no more for now."""
        super().pause_writing()
        self._stalled = self._stalled or self.loop.call_later(STALLED_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """The other side has taken what was there."""
        super().resume_writing()
        self._stalled = _cancelled(self._stalled)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is over."""
        self._head = _cancelled(self._head)
        self._stalled = _cancelled(self._stalled)
        super().connection_lost(exc)


def _cancelled(timer: asyncio.TimerHandle | None) -> None:
    if timer:
        timer.cancel()
