"""One remote model: a request in, a reply out, with retries; only kinds of ModelError leave.

client   engram.net.http      the link and HTTP
adapter  OpenAI, Anthropic    what the API says, both ways (see request.py)
"""

import asyncio
from collections import namedtuple

from engram.clock import Backoff
from engram.compat import sleep_ms, ticks_diff, ticks_ms, wait_for_ms
from engram.errors import BadAnswer, ModelError, NetError, Refused
from engram.llm.refusal import Refusal, model_error, refused_name
from engram.llm.types import Reply, Request
from engram.net.response import Events, describe_status, error_text, is_busy

_EVENT_BYTES = const(131_072)  # of one event, or of an answer that does not stream: bounds the heap, thoughts included
_REFUSAL_BYTES = const(131_072)  # of a refusal: some repeat the whole request
_REFUSAL_MS = const(10_000)  # time limit for the words of a refusal
_LEAST_MS = const(1000)  # that the last attempt has to begin, however little is left
_DRAIN_MS = const(200)  # for the few bytes after the last event, which come with it
_UNFIT = (400, 404, 405, 422, 500, 501)  # statuses of a request that does not fit; some templates fail with 500
_LOADING = const(503)  # passes when the service has its model, however long that takes
_LOCAL = const("; check that it runs: localhost is the board itself, so name your computer's address in llm.url")
_NOT_CALLED = const(2)  # orders in a row, after which a model counts as one without tools
_UNASKED = const(20)  # turns for which it is asked without them; one more order decides then
_TRUST = const(8)  # orders more, for a model that has called
_NOT_READY = const("the model's service is not ready yet, and is waited for")
_READING = const("reading the prompt")
_THINKING = const("thinking")
_WAITING = const("waiting for the service")  # between two tries
_NEVER_CALLS = const(" (it answered orders without a call)")


class _Habits:
    without: tuple = ()  # what requests to it leave out, see refusal.py
    opens_no_thought = False  # its last thought came without the opening mark
    no_tools = ""  # why its service refuses tools


class Model:
    """A model called `name` behind `adapter` and `client`; without `key`, none is sent."""

    # Waits double from the first to the longest; a service that asks for more than the longest is waited for only if it loads.
    first_wait_ms = 1_000
    longest_wait_ms = 30_000
    # A slow computer that reads 2,000 tokens at 10 a second, behind one more request like that.
    first_ms = 600_000
    # Protects against an answer without an end; a queue, loading and all attempts are part of it. A slow first word
    # and llm.reply_tokens at one a second fit into it.
    answer_ms = 1_800_000
    # Most rounds of tool calls in one turn: stops a model that loops.
    rounds = 10

    calls = tokens = 0
    """Requests since the start, and the tokens in both directions, as the service counts them."""
    problem = ""
    not_called = 0
    """Orders in a row without a call, less those of its trust; from _NOT_CALLED on the turns without tools, and one more."""
    work = _THINKING
    """The model's present work, as people read it."""

    def __init__(self, client, adapter, name: str, key: str = "", retries: int = 3):
        self.name = name
        self.client = client
        self.adapter = adapter
        self.key = key
        self.retries = retries
        self._habits = {}

    @property
    def no_tools(self) -> str:
        """The reason that the model is asked without tools, "" if it is asked with them."""
        refused = self._habits.setdefault(self.name, _Habits()).no_tools
        return refused or (_NEVER_CALLS if self.not_called >= _NOT_CALLED else "")

    def note_call(self) -> None:
        """Trust a model that called a tool as it should."""
        self.not_called = -_TRUST

    def note_no_call(self) -> None:
        """Count an order that the model answered without a call."""
        self.not_called += 1
        if self.not_called == _NOT_CALLED:
            self.not_called += _UNASKED - 1

    def tidy(self) -> None:
        """Close an idle link; call it now and then."""
        self.client.tidy()

    async def stream(self, request: Request, on_text, on_retry=None) -> Reply:
        """Return the reply, streaming text to `on_text` and retries to `on_retry`; ModelError."""
        # on_text(piece) and on_retry(problem, wait_ms) are awaited. Retries end once text was passed on. A part that
        # the service refuses by name is left out from then on.
        self.calls += 1
        habits = self._habits.setdefault(request.model or self.name, _Habits())
        try:
            reply = await _Asking(self, habits, request, on_text, on_retry).reply()
        except ModelError as error:
            self.problem = str(error)
            raise
        finally:
            self.work = _THINKING
        self.problem = ""
        if request.tools and self.not_called >= _NOT_CALLED:
            self.not_called -= 1
        self.tokens += max(0, reply.usage[0]) + max(0, reply.usage[1])
        return reply


class _Asking(namedtuple("_Asking", "model habits request on_text on_retry")):
    _failures = 0

    async def reply(self) -> Reply:
        """Ask until there is a reply; ModelError."""
        self._name = self.request.model or self.model.name
        self._without = self.habits.without
        self._started = self._heard = ticks_ms()
        self._backoff = Backoff(self.model.first_wait_ms, self.model.longest_wait_ms)
        no_tools = self.habits.no_tools
        while True:
            self._draft = self.model.adapter.draft(self.habits.opens_no_thought)
            try:
                await self._attempt()
                break
            except Refusal as refusal:
                # Without the key, should the service repeat it.
                words = refusal.words.replace(self.model.key, "***") if self.model.key else refusal.words
                said = describe_status(refusal.status, words)
                may_fit = refusal.status in _UNFIT and not self._has_spoken
                optional, status = self.model.adapter.optional, refusal.status
                unfit = may_fit and refused_name(words, self.request, optional, self._without, status)
                if unfit:
                    self._without += (unfit,)
                    no_tools = said if unfit == "tools" else no_tools
                    continue
                if not is_busy(refusal.status):
                    error = model_error(refusal.status, words, self.model.client.url, self._name)
                    raise ModelError("the answer broke off: " + str(error)) if self._has_spoken else error
                problem = _NOT_READY if refusal.status == _LOADING else "the model's service cannot answer now"
                await self._wait(problem + said, "; try again later", refusal.status, refusal.retry_after)
            except BadAnswer as error:
                raise ModelError(str(error) + "; check llm.url")
            except Refused as error:
                raise ModelError(str(error))
            except NetError as error:
                is_local = "//localhost" in self.model.client.url or "//127." in self.model.client.url
                await self._wait(str(error), _LOCAL if is_local else "; check the network")
        self.habits.without = self._without
        self.habits.no_tools = no_tools
        self.habits.opens_no_thought = self._draft.answer.has_closed
        return self._draft.reply()

    @property
    def _has_spoken(self) -> bool:
        return bool(self._draft.answer.text)

    # --- one attempt

    async def _attempt(self) -> None:
        model, request, draft = self.model, self.request, self._draft
        path, headers = model.adapter.path(model.client.prefix), model.adapter.headers(model.key)

        without = self._without + (("tools",) if model.not_called >= _NOT_CALLED else ())

        def body():
            return model.adapter.body(request, self._name, without)

        # A service with a queue, or a slow computer, is silent until its first word.
        first_ms = max(_LEAST_MS, min(self._silence_ms(), model.answer_ms - self._elapsed_ms()))
        model.work, self._heard = _READING, ticks_ms()
        answer = await model.client.ask("POST", path, headers, body, first_ms=first_ms)
        try:
            if not 200 <= answer.status < 300:
                raise await _refusal(answer)
            await self._read(answer)
        finally:
            model.client.release(answer)
        if not draft.stop:
            raise NetError("the model's service ended the answer too early")
        await self._pass_on(draft.finish([tool.name for tool in request.tools], request.messages()))

    async def _read(self, answer) -> None:
        events, draft, size = Events(_EVENT_BYTES), self._draft, 0
        while not draft.done:
            try:
                piece = await answer.read()
            except NetError:
                if not draft.stop:
                    raise
                return  # the model had said its last word, only the end of the stream is missing
            if not len(piece):
                await self._take_whole(events)
                return
            for data in events.feed(piece):
                await self._pass_on(draft.feed(data))
                if draft.done:
                    break
            if draft.size > size:
                size, self._heard = draft.size, ticks_ms()
                answer.hasten()
                self.model.work = _THINKING
            if self._elapsed_ms() > self.model.answer_ms or self._is_silent():
                raise NetError("the answer is too slow")
        await answer.drain(_DRAIN_MS)

    async def _take_whole(self, events) -> None:
        draft = self._draft
        if events.whole:
            await self._pass_on(draft.feed(bytes(events.whole)))
            if not draft.stop:
                raise _refusal_of(400, bytes(events.whole))
        elif events.is_page:
            raise BadAnswer(self.model.client.url + " does not answer as a model does")

    async def _pass_on(self, text: str) -> None:
        if text:
            await self.on_text(text)

    # --- what failed

    async def _wait(self, problem: str, advice: str, status: int = 0, retry_after: int = -1) -> None:
        """Wait before a retry; raise the error if none is left."""
        model, elapsed_ms = self.model, self._elapsed_ms()
        is_loading = status == _LOADING
        wait_ms = max(self._backoff.next_ms(), retry_after * 1000)
        may_pass = is_loading or (self._failures < model.retries and wait_ms <= model.longest_wait_ms)
        if elapsed_ms >= model.answer_ms and not is_loading:
            problem = "the answer took longer than %d s" % (model.answer_ms // 1000)
            advice = "; raise llm.answer_seconds, or ask for a shorter one"
        elif not (status or self._draft.size) and self._is_silent():
            may_pass = False
            problem = "the model sent no word within %d s" % (model.first_ms // 1000)
            advice = "; raise llm.first_seconds, or shorten what it reads"
        if self._has_spoken:
            raise ModelError("the answer broke off: " + problem + "; ask again")
        if not may_pass or elapsed_ms + wait_ms >= model.answer_ms:
            raise ModelError(problem + advice)
        self._failures += 1
        model.work = _WAITING
        if self.on_retry:
            await self.on_retry(problem, wait_ms)
        await sleep_ms(wait_ms)

    def _silence_ms(self) -> int:
        """Return the most time to the model's next word; without a stream the whole answer is one."""
        model = self.model
        if self._draft.size:
            return model.client.stall_ms
        return model.answer_ms if "stream" in self._without else model.first_ms

    def _is_silent(self) -> bool:
        return ticks_diff(ticks_ms(), self._heard) >= self._silence_ms()

    def _elapsed_ms(self) -> int:
        return ticks_diff(ticks_ms(), self._started)


async def _refusal(answer) -> Refusal:
    answer.hasten()
    try:
        body = await wait_for_ms(answer.collect(_REFUSAL_BYTES), _REFUSAL_MS)
    except (asyncio.TimeoutError, NetError):
        body = b""  # the status says enough
    return _refusal_of(answer.status, body, answer.retry_after)


def _refusal_of(status: int, body: bytes, retry_after: int = -1) -> Refusal:
    return Refusal(402 if b"insufficient_quota" in body else status, error_text(body), retry_after)
