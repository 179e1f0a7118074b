"""The gateway: takes requests of OpenAI's API, counts them, and passes them on to the service behind it."""

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from engram_host.companion.auth.identity import ApiCaller
from engram_host.companion.gateway import request as gateway_request
from engram_host.companion.gateway.api_key import ApiKey
from engram_host.companion.gateway.quota import DayUsage, Quota, QuotaCall, TokenCounter
from engram_host.companion.gateway.request import Busy, ClientGone, GatewayRefused, ServiceFailed
from engram_host.companion.metrics import Metrics
from engram_host.companion.settings import GatewaySettings
from engram_host.companion.store.tokens import GatewayUseTable

if TYPE_CHECKING:  # a companion without a gateway starts without it
    import httpx

_log = logging.getLogger("engram.gateway")

MOST_AT_ONCE = 128
"""Calls that are under way: bounds the memory, and the connections to the service."""

MOST_OF_ONE = 8
"""Calls of one board that are under way."""

MOST_WHOLE = 8 << 20
"""Bytes of an answer that is not a stream."""

MOST_STREAM = 32 << 20
"""Bytes of a stream that are passed on; what is longer is cut off."""

MOST_ERROR = 1 << 16
"""Bytes of an error that are read."""

_CONNECT_SECONDS = 10.0
_SECRET_STATUS = (401, 403, 407)
_MAY_HAVE_WORKED = (499, 504)
"""The service may have begun to answer: what was asked is counted."""

_BUSY = {"Retry-After": "5"}

Result = TypeVar("Result")


class Gateway:
    """`start` and `stop` it with the companion; without gateway.url it answers that it is not set up."""

    def __init__(self, store: GatewayUseTable, settings: GatewaySettings, key: ApiKey, metrics: Metrics):
        self._settings = settings
        self._key = key
        self._metrics = metrics
        self._limits = Quota(store, settings)
        self._base = gateway_request.service_url(settings)
        self._client: httpx.AsyncClient | None = None
        self._at_work: dict[str, int] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Get ready to ask the service."""
        if not self._base:
            return
        import httpx

        for name in ("httpx", "httpcore"):  # they log each request
            logging.getLogger(name).setLevel(logging.WARNING)
        timeout = httpx.Timeout(self._settings.timeout_seconds, connect=_CONNECT_SECONDS)
        limits = httpx.Limits(max_connections=MOST_AT_ONCE + 8, max_keepalive_connections=16)
        # Without TLS there is no certificate to check, and reading all authorities takes longer than the rest of a start.
        has_tls = urlsplit(self._base).scheme != "http"
        self._client = httpx.AsyncClient(verify=has_tls, timeout=timeout, limits=limits, follow_redirects=False)

    async def stop(self) -> None:
        """Let the connections go, when all calls are counted."""
        await asyncio.gather(*self._ending, return_exceptions=True)
        if self._client:
            await self._client.aclose()

    @property
    def is_set_up(self) -> bool:
        """Whether there is a service behind it."""
        return bool(self._base)

    async def today(self) -> DayUsage:
        """How much of the day's limits is used. StoreUnavailable."""
        return await asyncio.to_thread(self._limits.today)

    # --- what is asked

    async def chat(self, request: Request, caller: ApiCaller) -> Response:
        """Pass a request for a chat completion on, and its answer back."""
        try:
            wanted = gateway_request.parse_request(await request.body(), self._settings)
            self._ready()
            async with AsyncExitStack() as stack:
                self._take_turn(caller, stack)
                call = await self._limits.begin_call(caller, wanted.aside)
                count = TokenCounter(wanted.prompt)
                stack.push_async_callback(self._end_call, call, count)
                return await self._forward(request, wanted, count, stack)
        except GatewayRefused as refused:
            return self._refusal_response(refused)

    async def models(self, request: Request, caller: ApiCaller) -> Response:
        """The models that may be asked for; without a list in the settings, those of the service."""
        try:
            return Response(await self._list_models(request, caller), media_type="application/json")
        except GatewayRefused as refused:
            return self._refusal_response(refused)

    async def model(self, request: Request, caller: ApiCaller, name: str) -> Response:
        """One of them. It is looked up in the list, so that no name leads elsewhere in the service."""
        try:
            for found in _models_in(await self._list_models(request, caller)):
                if found.get("id") == name:
                    return JSONResponse(found)
            raise GatewayRefused(404, "the gateway has no model of that name; GET models lists all.", "model_not_found")
        except GatewayRefused as refused:
            return self._refusal_response(refused)

    async def _list_models(self, request: Request, caller: ApiCaller) -> bytes:
        self._ready()
        names = gateway_request.allowed_models(self._settings)
        if names:
            data = [{"id": name, "object": "model", "created": 0, "owned_by": "gateway"} for name in names]
            return json.dumps({"object": "list", "data": data}).encode()
        async with AsyncExitStack() as stack:
            self._take_turn(caller, stack)
            outgoing = self._ready().build_request("GET", f"{self._base}/models", headers=self._key.headers())
            answer = await run_while_connected(request, self._ask(outgoing, stack))
            return await run_while_connected(request, self._whole(answer))

    async def _forward(
        self, request: Request, wanted: gateway_request.GatewayRequest, count: TokenCounter, stack: AsyncExitStack
    ) -> Response:
        headers = {**self._key.headers(), "Content-Type": "application/json", "Accept-Encoding": "identity"}
        outgoing = self._ready().build_request(
            "POST", f"{self._base}/chat/completions", content=wanted.body, headers=headers
        )
        try:
            answer = await run_while_connected(request, self._ask(outgoing, stack))
        except GatewayRefused as refused:
            if refused.status not in _MAY_HAVE_WORKED:
                count.mark_unused()
            raise
        if answer.headers.get("content-type", "").startswith("text/event-stream"):
            # From here on the answer holds the connection, and the turn: until it is passed on, or its client has gone.
            return StreamedAnswer(self._events(answer, count), stack.pop_all())
        body = await run_while_connected(request, self._whole(answer))
        count.count_body(body)
        return Response(body, media_type="application/json")

    # --- the service

    async def _ask(self, outgoing: "httpx.Request", stack: AsyncExitStack) -> "httpx.Response":
        """The service's answer, as soon as its head is there; GatewayRefused if it is no success."""
        import httpx

        try:
            answer = await self._ready().send(outgoing, stream=True)
            stack.push_async_callback(answer.aclose)
            if answer.status_code == 200:
                return answer
            body = await _read_at_most(answer, MOST_ERROR)
        except httpx.HTTPError as error:
            raise self._connection_failure(error) from None
        raise self._passed_error(answer, body)

    def _connection_failure(self, error: "httpx.HTTPError") -> ServiceFailed:
        import httpx

        what = "did not answer in time" if isinstance(error, httpx.TimeoutException) else "cannot be reached"
        _log.warning("the service behind the gateway %s: %s", what, type(error).__name__)
        status = 504 if isinstance(error, httpx.TimeoutException) else 502
        return ServiceFailed(status, f"the model's service {what}.", "upstream_unreachable", _BUSY)

    def _passed_error(self, answer: "httpx.Response", body: bytes) -> ServiceFailed:
        """The service's error, as far as it is one of OpenAI's form, without the key."""
        status = answer.status_code
        message, code = _error_fields(body)
        message = self._key.redact(message)[:1000]
        _log.warning("the service behind the gateway answered %d", status)
        headers = {"Retry-After": wait} if (wait := answer.headers.get("retry-after", "")).isdigit() else {}
        if status in _SECRET_STATUS:
            why = "the model's service refuses the gateway's key; whoever runs the companion has to look at it."
            return ServiceFailed(502, why, "upstream_refused_key", {"X-Should-Retry": "false"})
        if not 400 <= status <= 599:
            why = f"the model's service answered with status {status}, which is not followed; check gateway.url."
            return ServiceFailed(502, why, "upstream_failed", {"X-Should-Retry": "false"})
        why = message or f"the model's service answered with status {status}."
        return ServiceFailed(status, why, self._key.redact(code)[:100] or "upstream_failed", headers)

    async def _whole(self, answer: "httpx.Response") -> bytes:
        import httpx

        try:
            body = await _read_at_most(answer, MOST_WHOLE + 1)
        except httpx.HTTPError as error:
            raise self._connection_failure(error) from None
        if len(body) > MOST_WHOLE:
            raise ServiceFailed(502, "the model's service answered with more than is taken.", "upstream_failed")
        blotter = self._key.redactor()
        return blotter.feed(body) + blotter.end()

    async def _events(self, answer: "httpx.Response", count: TokenCounter) -> AsyncIterator[bytes]:
        """A stream's bytes as they come; a break becomes an error event, as the service itself would send one."""
        import httpx

        blotter = self._key.redactor()
        try:
            async for piece in answer.aiter_bytes():
                count.feed(piece)
                if passed := blotter.feed(piece):
                    yield passed
            yield blotter.end()
        except httpx.HTTPError as error:
            refused = self._connection_failure(error)
            event = {"error": {"message": str(refused), "type": "server_error", "param": None, "code": refused.code}}
            yield b"\n\ndata: " + json.dumps(event).encode() + b"\n\n"

    def _refusal_response(self, refused: GatewayRefused) -> Response:
        if refused.why:
            self._metrics.gateway_refused(refused.why)
        return refused.response()

    # --- turns

    def _ready(self) -> "httpx.AsyncClient":
        if not self._client:
            raise ServiceFailed(
                503, "the gateway is not set up: whoever runs the companion has to set gateway.url.", "not_set_up"
            )
        return self._client

    def _take_turn(self, caller: ApiCaller, stack: AsyncExitStack) -> None:
        name = caller.device
        mine = self._at_work.get(name, 0)
        if mine >= MOST_OF_ONE or sum(self._at_work.values()) >= MOST_AT_ONCE:
            raise Busy(429, "too many calls are under way at once; try again.", "rate_limit_exceeded", _BUSY)
        self._at_work[name] = mine + 1
        stack.callback(self._give_turn_back, name)

    def _give_turn_back(self, name: str) -> None:
        self._at_work[name] -= 1
        if not self._at_work[name]:
            del self._at_work[name]

    async def _end_call(self, call: QuotaCall, count: TokenCounter) -> None:
        """Count a call also when its client has gone, and this task is cancelled."""
        self._metrics.gateway_called(count.used)
        task = asyncio.create_task(call.end(count.used))
        self._ending.add(task)
        task.add_done_callback(self._on_call_ended)
        await asyncio.shield(task)

    def _on_call_ended(self, task: asyncio.Task[None]) -> None:
        self._ending.discard(task)
        if not task.cancelled() and (error := task.exception()):
            _log.error("a call stays counted as estimated, because of a fault of the companion", exc_info=error)


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


async def _read_at_most(answer: "httpx.Response", most: int) -> bytes:
    body = bytearray()
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) >= most:
            break
    return bytes(body[:most])


def _models_in(listed: bytes) -> list[dict[str, Any]]:
    """The models of a list in OpenAI's form, none where it is none."""
    try:
        value = json.loads(listed)
    except (ValueError, RecursionError):
        return []
    data = value.get("data") if isinstance(value, dict) else None
    return [each for each in data if isinstance(each, dict)] if isinstance(data, list) else []


def _error_fields(body: bytes) -> tuple[str, str]:
    """Message and code of an error in OpenAI's form, empty where it is none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return "", ""
    error = value.get("error") if isinstance(value, dict) else None
    if isinstance(error, str):
        return error, ""
    if not isinstance(error, dict):
        return "", ""
    message, code = error.get("message"), error.get("code") or error.get("type")
    return message if isinstance(message, str) else "", code if isinstance(code, str) else ""


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
