"""Socket Mode of the fake of Slack: hello, envelopes, their acknowledgements, and what is sent again without one."""

import asyncio
import json
import uuid
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

if TYPE_CHECKING:
    from slack_fake import SlackServer

_MOST_TRIES = 4
_AGAIN_SECONDS = 3  # Slack's pause before it sends what is not acknowledged again
"""The first, and three more."""


class SocketMode:
    """Serves sockets of the app, and gives each event until it is acknowledged."""

    def __init__(self, slack: "SlackServer") -> None:
        self._slack = slack
        self._tickets: set[str] = set()
        self._sockets: list[web.WebSocketResponse] = []
        self._open: dict[str, dict[str, Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.doubles = False
        """Every event comes twice."""
        self.hellos = 0

    def new_url(self) -> str:
        """An address of a socket, good for one connection."""
        ticket = str(uuid.uuid4())
        self._tickets.add(ticket)
        return f"ws://{self._slack.address}/link?ticket={ticket}&app_id=A1"

    def forget(self) -> None:
        """An outage that is longer than Slack tries."""
        self._open.clear()
        self._sockets.clear()

    def give_event(self, event: dict[str, Any]) -> None:
        """Send an event to the app."""
        payload = {
            "type": "event_callback",
            "team_id": "T1",
            "api_app_id": "A1",
            "event_id": f"Ev{uuid.uuid4().hex[:9].upper()}",
            "event": event,
            "event_time": int(float(event["ts"])),
            "is_ext_shared_channel": False,
        }
        for _time in range(2 if self.doubles else 1):
            self._give(payload)

    def _give(self, payload: dict[str, Any]) -> None:
        """Send an envelope, and again if it is not acknowledged in time."""
        number = str(uuid.uuid4())
        envelope: dict[str, Any] = {"envelope_id": number, "payload": payload, "type": "events_api"}
        envelope |= {"accepts_response_payload": False, "retry_attempt": 0, "retry_reason": ""}
        self._open[number] = envelope
        task = asyncio.get_running_loop().create_task(self._keep_giving(envelope))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _keep_giving(self, envelope: dict[str, Any]) -> None:
        for attempt in range(_MOST_TRIES):
            if envelope["envelope_id"] not in self._open:
                return
            envelope |= {"retry_attempt": attempt, "retry_reason": "timeout" if attempt else ""}
            await self._send(envelope)
            await asyncio.sleep(_AGAIN_SECONDS)
        self._open.pop(envelope["envelope_id"], None)

    async def _send(self, message: dict[str, Any]) -> None:
        if self._sockets and not self._sockets[-1].closed:
            try:
                await self._sockets[-1].send_str(json.dumps(message))
            except ConnectionError:
                return  # it goes over the next one

    async def refresh(self) -> None:
        """Ask the app for another connection, as Slack does every few hours."""
        await self._send({"type": "disconnect", "reason": "refresh_requested", "debug_info": {"host": "fake"}})

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=408)
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self._sockets.append(socket)
        self.hellos += 1
        hello = {"type": "hello", "num_connections": len(self._sockets), "connection_info": {"app_id": "A1"}}
        try:
            await socket.send_str(
                json.dumps({**hello, "debug_info": {"host": "fake", "approximate_connection_time": 18060}})
            )
            for envelope in list(self._open.values()):
                await socket.send_str(json.dumps({**envelope, "retry_attempt": 1, "retry_reason": "timeout"}))
            async for message in socket:
                if message.type is WSMsgType.TEXT:
                    self._take(message.data)
        except ConnectionError:
            pass  # the app has gone
        finally:
            if socket in self._sockets:
                self._sockets.remove(socket)
        return socket

    def _take(self, text: str) -> None:
        self._open.pop(json.loads(text)["envelope_id"], None)
