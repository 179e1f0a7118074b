"""Plays one answer to a client, with the fault that the rule asks for.

    400 to 599   that status, with an error in the API's form; "retry_after": seconds, or a text (429: 1)
    refuse       401
    silent       nothing is sent, not even a head, and the connection stays open
    cut          the connection ends after "after" characters
    stall        nothing comes after "after" characters, and the connection stays open
    malformed    an event that is not JSON comes after "after" characters, then the stream's usual end
    error        the service's error comes as an event after "after" characters, and the stream ends
    huge         the reply is a megabyte

"after" counts characters of the reply's text and then of its calls' arguments; 0, the default, is before the
first. An answer that is not streamed has statuses, silent and huge only.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from types import ModuleType

from fake_server.http import Outgoing

from .rules import Fault
from .types import ModelAnswer, ModelRequest, Piece, StreamEvent, json_bytes

_HUGE = (Piece("x" * 4096),) * 256
_BREAKS = ("cut", "stall", "malformed", "error")
_JSON = {"content-type": "application/json; charset=utf-8"}
_EVENTS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


ModelApi = ModuleType
"""One API: chat_completions.py or messages.py."""


class Player:
    """Plays the answer to the `number`-th request."""

    def __init__(self, api: ModelApi, out: Outgoing, number: int):
        self._api = api
        self._out = out
        self._number = number

    async def refuse(self, status: int, message: str, retry_after: str = "") -> None:
        """Send an error in the API's form."""
        headers = {**_JSON, "retry-after": retry_after} if retry_after else _JSON
        await self._out.send_whole(status, json_bytes(self._api.error(status, message)), headers)

    async def play(self, asked: ModelRequest, answer: ModelAnswer, fault: Fault | None) -> None:
        """Send the answer, whole or as a stream, as the request asks."""
        kind = fault.kind if fault else ""
        if fault and fault.status:
            await self.refuse(fault.status, f"The script answers {fault.status}.", fault.retry_after)
            return
        if kind == "silent":
            await self._out.hold_open()
            return
        if kind == "huge":
            answer = replace(answer, pieces=_HUGE)
        if asked.stream:
            await self._stream(asked, answer, fault)
        else:
            await asyncio.sleep(answer.delay)
            await self._out.send_whole(200, json_bytes(self._api.whole(asked, answer, self._number)), _JSON)

    async def _stream(self, asked: ModelRequest, answer: ModelAnswer, fault: Fault | None) -> None:
        await self._out.start(_EVENTS)
        if fault and fault.kind in _BREAKS:
            events = list(self._api.events(asked, answer.first(fault.after), self._number))
            await self._send(event for event in events if not event.closing)
            await self._break(fault.kind, (event for event in events if event.closing))
            return
        await self._send(self._api.events(asked, answer, self._number))
        await self._out.finish()

    async def _break(self, kind: str, closing: Iterable[StreamEvent]) -> None:
        """What follows in a stream where it breaks."""
        if kind == "cut":
            self._out.keeps = False
        elif kind == "stall":
            await self._out.hold_open()
        elif kind == "malformed":
            await self._out.send(self._api.BROKEN_EVENT)
            await self._send(closing)
            await self._out.finish()
        else:
            await self._out.send(self._api.error_event("The script ends this stream with an error."))
            await self._out.finish()

    async def _send(self, events: Iterable[StreamEvent]) -> None:
        for event in events:
            await asyncio.sleep(event.delay)
            await self._out.send(event.data)
