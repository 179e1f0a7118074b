"""One remote model: a request in, a reply out, with retries; only kinds of ModelError leave.

client   engram.net.http      the link and HTTP
adapter  OpenAI, Anthropic    what the API says, both ways (see request.py)
"""

from engram.compat import const, sleep_ms, ticks_diff, ticks_ms
from engram.errors import (
    BadAnswer,
    ConfigError,
    ModelCut,
    ModelError,
    ModelGarbled,
    ModelUnavailable,
    NetError,
    Refused,
)
from engram.llm.refusal import Refusal, model_error, refused_name
from engram.llm.types import Reply, Request
from engram.net.backoff import Backoff
from engram.net.response import describe_status, error_text, is_busy
from engram.net.sse import Events
from engram.text.utf8 import is_printable_ascii

_EVENT_BYTES = const(131_072)  # of one event, or of an answer that does not stream: bounds the heap, thoughts included
_REFUSAL_BYTES = const(131_072)  # of a refusal: some repeat the whole request
_REFUSAL_MS = const(10_000)  # nobody waits longer for the words of a refusal
_DRAIN_MS = const(200)  # for the few bytes after the last event, which come with it
_LEAST_MS = const(1000)  # that the last attempt has to begin, however little is left
_UNFIT = (400, 404, 405, 422, 500, 501)  # statuses of a request that does not fit; some templates fail with 500
_MOST_FITS = const(6)  # requests that are made to fit one after the other
_NO_TOOLS = const(
    "the model %s takes no tools, so it cannot store or look up anything itself; choose another in llm.model%s"
)


class _Trouble(Exception):
    """The attempt failed; another may not, unless `is_final`. One that `may_load` passes when the service has its model."""

    def __init__(self, problem, advice="; try again later", *, retry_after=-1, is_final=False, may_load=False):
        super().__init__(problem)
        self.advice = advice
        self.retry_after = retry_after
        self.is_final = is_final
        self.may_load = may_load


class _Habits:
    """The traits of one model of the service, as far as it has shown them."""

    without: tuple = ()  # what requests to it leave out, see refusal.py
    opens_no_thought = False  # its last thought came without the opening mark
    has_called = False  # a tool through its service: plain JSON of its text is an answer


class Model:
    """A model called `name` behind `adapter` and `client`; without `key`, none is sent."""

    # Waits double from the first to the longest; a service that asks for more than the longest is waited for only if it loads.
    first_wait_ms = 1_000
    longest_wait_ms = 30_000
    # Protects against an answer without an end; a queue, loading and all attempts are part of it.
    answer_ms = 300_000
    # Most rounds of tool calls in one turn: stops a model that loops.
    rounds = 10

    def __init__(self, client, adapter, name: str, key: str = "", retries: int = 3):
        if not is_printable_ascii(key) or " " in key:
            raise ConfigError("llm.key", "has characters that no key has; paste it again")
        self.name = name
        self.client = client
        self.adapter = adapter
        self.key = key
        self.retries = retries
        self._habits = {}
        self.calls = 0
        """Requests since the start."""
        self.tokens = 0
        """Tokens that they took, both ways, as far as the service counts them."""
        self.problem = ""
        """The problem of the latest request, "" if it went well."""

    def tidy(self) -> None:
        """Close a link that was idle for long; to be called now and then."""
        self.client.tidy()

    async def stream(self, request: Request, on_text, on_retry=None) -> Reply:
        """The model's reply; `on_text(piece)` is awaited for each piece of its text as it comes.

        `on_retry(problem, wait_ms)` is awaited before each wait, so that the person sees why nothing comes, and without a wait
        for what the person has to know once.

        Failures that may pass are tried again as long as no text was passed on; after that it is ModelCut. What a service
        refuses by name is left out from then on.
        """
        self.calls += 1
        habits = self._habits.setdefault(request.model or self.name, _Habits())
        try:
            reply = await _Asking(self, habits, request, on_text).reply(on_retry)
        except ModelError as error:
            self.problem = str(error)
            raise
        self.problem = ""
        self.tokens += max(0, reply.usage[0]) + max(0, reply.usage[1])
        return reply


class _Asking:
    """One request until its reply is there."""

    def __init__(self, model: Model, habits: _Habits, request: Request, on_text):
        self._model = model
        self._habits = habits
        self._request = request
        self._on_text = on_text
        self._name = request.model or model.name
        self._draft = model.adapter.draft()
        self._without = habits.without
        self._started = ticks_ms()
        self._failures = 0
        self._backoff = Backoff(model.first_wait_ms, model.longest_wait_ms)

    async def reply(self, on_retry) -> Reply:
        told = ""
        while True:
            self._draft = self._model.adapter.draft()
            self._draft.answer_filter.messages = self._request.messages
            if self._habits.opens_no_thought:
                self._draft.answer_filter.expect_thought()
            try:
                await self._attempt()
                break
            except Refusal as refusal:
                unfit = self._unfit(refusal)
                if unfit:
                    self._without += (unfit,)
                    if unfit == "tools":
                        told = _NO_TOOLS % (self._name, describe_status(refusal.status, self._blotted(refusal.words)))
                    continue
                trouble = self._judged(refusal)
            except _Trouble as error:
                trouble = error
            wait_ms = self._wait_ms(trouble)
            self._failures += 1
            if on_retry:
                await on_retry(str(trouble), wait_ms)
            await sleep_ms(wait_ms)
        self._habits.without = self._without
        if told and on_retry:
            await on_retry(told, 0)
        return self._draft.reply()

    # --- one attempt

    async def _attempt(self) -> None:
        model, draft = self._model, self._draft
        path, headers = model.adapter.path(model.client.prefix), model.adapter.headers(model.key)

        def body():
            return model.adapter.body(self._request, self._name, self._without)

        # A service with a queue, or a slow computer, is silent until its first word.
        first_ms = max(_LEAST_MS, model.answer_ms - self._elapsed_ms())
        answer = await _guarded(model.client.ask("POST", path, headers, body, first_ms=first_ms))
        try:
            if not 200 <= answer.status < 300:
                raise await self._refusal(answer)
            await self._read(answer)
        finally:
            model.client.release(answer)
        if not draft.stop:
            raise _Trouble("the model's service ended the answer too early")
        names = [tool.name for tool in self._request.tools]
        habits = self._habits
        habits.opens_no_thought = draft.answer_filter.has_closed
        if habits.has_called and not draft.has_calls and not draft.answer_filter.is_marked:
            names = ()
        habits.has_called = habits.has_called or draft.has_calls
        await self._pass_on(draft.finish(names))

    async def _read(self, answer) -> None:
        events, draft = Events(_EVENT_BYTES), self._draft
        while not draft.done:
            piece = await self._next(answer)
            if not len(piece):
                break
            await self._take(events, piece)
            if draft.has_begun:
                answer.hasten()
            if self._elapsed_ms() > self._model.answer_ms:
                raise self._too_long()
        if draft.done:
            await answer.drain(_DRAIN_MS)
        elif events.whole:
            await self._pass_on(draft.feed(bytes(events.whole)))
            if not draft.stop:
                raise _refusal(400, bytes(events.whole))
        elif events.is_page:
            raise ModelGarbled(self._model.client.url + " does not answer as a model does; check llm.url")

    async def _next(self, answer):
        try:
            return await _guarded(answer.read())
        except _Trouble:
            if self._draft.stop:
                return b""  # the model had said its last word, only the end of the stream is missing
            raise

    async def _take(self, events, piece) -> None:
        try:
            for data in events.feed(piece):
                await self._pass_on(self._draft.feed(data))
                if self._draft.done:
                    return
        except BadAnswer as error:
            raise ModelGarbled(str(error))

    async def _pass_on(self, text: str) -> None:
        if text:
            await self._on_text(text)

    # --- what failed

    async def _refusal(self, answer) -> Refusal:
        body = bytearray()
        began = ticks_ms()
        answer.hasten()
        try:
            while not answer.ended and len(body) < _REFUSAL_BYTES and ticks_diff(ticks_ms(), began) < _REFUSAL_MS:
                body.extend(await answer.read())
        except NetError:
            pass  # the status and what came say enough
        return _refusal(answer.status, bytes(body), answer.retry_after, not answer.may_retry)

    def _unfit(self, refusal) -> str:
        """Name what to leave out of the request after a refusal, "" if there is nothing of the kind."""
        fits = len(self._without) - len(self._habits.without)
        if self._draft.text or fits > _MOST_FITS or refusal.status not in _UNFIT:
            return ""
        return refused_name(refusal.words, self._request, self._model.adapter.optional, self._without)

    def _judged(self, refusal) -> _Trouble:
        """Make a refusal a trouble that another attempt may pass; raise what no attempt changes."""
        words = self._blotted(refusal.words)
        if is_busy(refusal.status):
            return _Trouble(
                "the model's service cannot answer now" + describe_status(refusal.status, words),
                retry_after=refusal.retry_after,
                is_final=refusal.is_final,
                may_load=refusal.status == 503,
            )
        error = model_error(refusal.status, words, self._model.client.url, self._name)
        raise ModelCut("the answer broke off: " + str(error)) if self._draft.text else error

    def _blotted(self, words: str) -> str:
        """The words without the key, should the service repeat it."""
        return words.replace(self._model.key, "***") if self._model.key else words

    def _wait_ms(self, trouble: _Trouble) -> int:
        """Return the wait before the next attempt; raise what is wrong if there is none."""
        model, elapsed_ms = self._model, self._elapsed_ms()
        if elapsed_ms >= model.answer_ms and not trouble.may_load:
            trouble = self._too_long()
        if self._draft.text:
            advice = trouble.advice if trouble.is_final else "; ask again"
            raise ModelCut("the answer broke off: %s%s" % (trouble, advice))
        wait_ms = max(self._backoff.next_ms(), trouble.retry_after * 1000)
        may_pass = trouble.may_load or (self._failures < model.retries and wait_ms <= model.longest_wait_ms)
        if trouble.is_final or not may_pass or elapsed_ms + wait_ms >= model.answer_ms:
            raise ModelUnavailable(str(trouble) + trouble.advice)
        return wait_ms

    def _elapsed_ms(self) -> int:
        return ticks_diff(ticks_ms(), self._started)

    def _too_long(self) -> _Trouble:
        problem = "the answer took longer than %d s" % (self._model.answer_ms // 1000)
        return _Trouble(problem, "; raise llm.answer_seconds, or ask for a shorter one", is_final=True)


def _refusal(status: int, body: bytes, retry_after: int = -1, is_final: bool = False) -> Refusal:
    return Refusal(402 if b"insufficient_quota" in body else status, error_text(body), retry_after, is_final)


async def _guarded(awaitable):
    """Await something of the client; its errors become ours. Never around on_text(): its errors are its own."""
    try:
        return await awaitable
    except Refused as error:
        raise _Trouble(str(error), "", is_final=True)
    except BadAnswer as error:
        raise ModelGarbled(str(error) + "; check llm.url")
    except NetError as error:
        raise _Trouble(str(error), "; check the network")
