"""The gateway: accepts requests of either API, counts them and passes them on to the service."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from engram_host.companion.auth.access import OPERATOR, ApiCaller
from engram_host.companion.gateway import request as gateway_request
from engram_host.companion.gateway.dialects import (
    BUSY_HEADERS,
    Busy,
    GatewayRefused,
    ModelApi,
    ServiceFailed,
    encode_json,
)
from engram_host.companion.gateway.quota import DayUsage, Quota, QuotaCall, TokenCounter
from engram_host.companion.gateway.service import ApiKey, ModelService
from engram_host.companion.gateway.streaming import StreamedAnswer, cancel, run_while_connected, with_pings
from engram_host.companion.metrics import Metrics
from engram_host.companion.settings import GatewaySettings
from engram_host.companion.store.tokens import GatewayUseTable
from engram_host.companion.supervisor import TaskSet

MOST_AT_ONCE = 128  # concurrent calls: bounds the memory and the connections to the service
MOST_OF_ONE = 8  # concurrent calls of one board
PING_SECONDS = 10.0  # silence of the service after which the client gets a comment: routers cut silent links
_ENDING_SECONDS = 10.0
_OWN_TOKENS = 2000  # of an answer to the companion itself, with room for a model that thinks
_MAY_REFUSE_FORM = (400, 422)  # an answer's form, which the service seldom names
_MAY_HAVE_WORKED = (499, 504)  # the service may have begun to answer, so the tokens count


Opened = tuple[bytes, AsyncGenerator[bytes] | None]


class Gateway:
    def __init__(self, store: GatewayUseTable, settings: GatewaySettings, key: ApiKey, metrics: Metrics):
        self._settings = settings
        self._metrics = metrics
        self._service = ModelService(settings, key, MOST_AT_ONCE)
        self._limits = Quota(store, settings)
        self._at_work: dict[str, int] = {}
        self._refused_forms = 0  # of complete()
        self._ending = TaskSet("the count of a call")

    def start(self) -> None:
        self._service.start()

    async def stop(self) -> None:
        """Close the connections once all calls are counted."""
        await self._ending.stop(_ENDING_SECONDS)
        await self._service.stop()

    async def today(self) -> DayUsage:
        return await asyncio.to_thread(self._limits.today)

    # --- requests

    async def ask(self, request: Request, caller: ApiCaller, api: ModelApi) -> Response:
        try:
            wanted = gateway_request.parse_request(await request.body(), self._settings, api)
            self._service.client()
            if api is not self._service.api:
                sentence = f"the service behind the gateway has {self._service.api.title}, not {api.title}."
                raise GatewayRefused(404, sentence, "wrong_api")
            async with AsyncExitStack() as stack:
                count = await self._begin_call(caller, wanted, stack)
                return await self._forward(request, wanted, count, stack)
        except GatewayRefused as refused:
            return self._refusal_response(refused, api)

    async def complete(self, schema: dict[str, Any], prompt: str) -> str:
        """Return the default model's answer to a prompt of the companion's own, which counts as the operator's.

        It has the JSON Schema as far as the service can. Raise GatewayRefused or StoreUnavailable.
        """
        wanted = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
        forms = [{"temperature": 0, "response_format": form} for form in (wanted, {"type": "json_object"})]
        forms += [{"temperature": 0}, {}]
        at = self._refused_forms
        while True:
            try:
                answer = await self._complete(forms[at], prompt)
            except ServiceFailed as failed:
                at += 1
                if failed.status not in _MAY_REFUSE_FORM or at == len(forms):
                    raise
            else:
                self._refused_forms = at
                return answer

    async def _complete(self, form: dict[str, Any], prompt: str) -> str:
        api = self._service.api
        body = {name: value for name, value in form.items() if name in api.parameters} | {
            "model": self._settings.model,
            "max_tokens": _OWN_TOKENS,
            "messages": [{"role": "user", "content": prompt}],
        }
        wanted = gateway_request.parse_request(encode_json(body), self._settings, api)
        async with AsyncExitStack() as stack:
            count = await self._begin_call(OPERATOR, wanted, stack)
            with _unused_if_refused(count):
                answer = await self._service.ask(wanted.body, {}, stack)
            return api.answer_text(await self._service.whole(answer, count))

    async def models(self, request: Request, caller: ApiCaller) -> Response:
        try:
            listed = await self._list_models(request, caller)
            return Response(encode_json(listed), media_type="application/json")
        except GatewayRefused as refused:
            return self._refusal_response(refused, self._service.api)

    async def _list_models(self, request: Request, caller: ApiCaller) -> dict[str, Any]:
        self._service.client()
        names = gateway_request.allowed_models(self._settings)
        if names:
            return self._service.api.model_list(names)
        async with AsyncExitStack() as stack:
            self._take_turn(caller, stack)
            return await run_while_connected(request, self._service.list_models(request.headers, stack))

    async def _forward(
        self, request: Request, wanted: gateway_request.GatewayRequest, count: TokenCounter, stack: AsyncExitStack
    ) -> Response:
        held = await stack.enter_async_context(AsyncExitStack())
        opening = asyncio.create_task(self._open(request, wanted, count, held))
        stack.push_async_callback(cancel, opening)
        seconds = min(PING_SECONDS, self._settings.timeout_seconds / 4)
        await run_while_connected(request, asyncio.wait([opening], timeout=seconds if wanted.is_stream else None))
        if opening.done():  # a failure gets its own status
            first, events = opening.result()
            if events is None:
                return Response(first, media_type="application/json")
        # From here on the answer holds the connection and the slot until it is sent or its client is gone.
        return StreamedAnswer(with_pings(self._events(opening), seconds, held), stack.pop_all())

    async def _open(
        self, request: Request, wanted: gateway_request.GatewayRequest, count: TokenCounter, stack: AsyncExitStack
    ) -> Opened:
        """Return the first event and the events after it, or an answer that is no stream."""
        with _unused_if_refused(count):
            answer = await self._service.ask(wanted.body, request.headers, stack)
        if not answer.headers.get("content-type", "").startswith("text/event-stream"):
            return encode_json(await self._service.whole(answer, count)), None
        events = self._service.events(answer, count)
        return await anext(events), events

    async def _events(self, opening: asyncio.Task[Opened]) -> AsyncGenerator[bytes]:
        try:
            first, events = await opening
            if events is None:
                yield b"data: " + first + b"\n\n"
                return
            yield first
            async with contextlib.aclosing(events):
                async for event in events:
                    yield event
        except ServiceFailed as failed:
            yield b"\n\n" + self._service.api.error_event(failed)

    def _refusal_response(self, refused: GatewayRefused, api: ModelApi) -> Response:
        if refused.why:
            self._metrics.gateway_refused(refused.why)
        return api.refusal(refused.status, str(refused), refused.headers, refused.code, refused.parameter)

    # --- slots

    async def _begin_call(
        self, caller: ApiCaller, wanted: gateway_request.GatewayRequest, stack: AsyncExitStack
    ) -> TokenCounter:
        """Count a call until the stack closes; raises Busy, LimitReached or StoreUnavailable."""
        self._take_turn(caller, stack)
        call = await self._limits.begin_call(caller, wanted.aside)
        count = TokenCounter(wanted.prompt)
        stack.push_async_callback(self._end_call, call, count)
        return count

    def _take_turn(self, caller: ApiCaller, stack: AsyncExitStack) -> None:
        name = caller.device
        mine = self._at_work.get(name, 0)
        if mine >= MOST_OF_ONE or sum(self._at_work.values()) >= MOST_AT_ONCE:
            raise Busy(429, "too many calls are under way at once; try again.", "rate_limit_exceeded", BUSY_HEADERS)
        self._at_work[name] = mine + 1
        stack.callback(self._give_turn_back, name)

    def _give_turn_back(self, name: str) -> None:
        self._at_work[name] -= 1
        if not self._at_work[name]:
            del self._at_work[name]

    async def _end_call(self, call: QuotaCall, count: TokenCounter) -> None:
        """Count a call, even if its client is gone and this task is cancelled."""
        self._metrics.gateway_calls.inc()
        self._metrics.gateway_tokens.inc(count.used)
        await self._ending.complete(call.end(count.used))


@contextlib.contextmanager
def _unused_if_refused(count: TokenCounter) -> Iterator[None]:
    try:
        yield
    except GatewayRefused as refused:
        if refused.status not in _MAY_HAVE_WORKED:
            count.mark_unused()
        raise
