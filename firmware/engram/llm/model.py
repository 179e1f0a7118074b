"""One remote model: a request in, a reply out, with retries; only kinds of ModelError leave.

client   engram.net.http      the link and HTTP
adapter  OpenAI, Anthropic    what the API says, both ways (see reply.py)
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
from engram.llm.fit import refused_name
from engram.llm.refusal import model_error
from engram.llm.reply import Refusal
from engram.llm.trimmed_json import REFUSAL, TrimmedJson
from engram.llm.types import Reply, Request
from engram.net.backoff import Backoff
from engram.net.response import describe_status, error_text, is_busy
from engram.net.sse import Events
from engram.text.utf8 import is_printable_ascii

# Protects against a refusal without end: nobody waits longer for its words. Some repeat the whole request.
_REFUSAL_MS = const(10_000)
# What follows the last event is a few bytes that come with it: no person waits longer for them.
_DRAIN_MS = const(200)
# The last attempt has so long to begin, however little is left.
_LEAST_MS = const(1000)
# The statuses of a request that does not fit; some services have a template that fails with 500.
_UNFIT = (400, 404, 405, 422, 500, 501)
# Requests that are made to fit one after the other.
_MOST_FITS = const(6)


class _Trouble(Exception):
    """The attempt failed; another may not, unless `is_final`. One that `may_load` passes when the service has its model."""

    def __init__(self, problem, advice="; try again later", *, retry_after=-1, is_final=False, may_load=False):
        super().__init__(problem)
        self.advice = advice
        self.retry_after = retry_after
        self.is_final = is_final
        self.may_load = may_load


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
        self._client = client
        self._adapter = adapter
        self._key = key
        self._retries = retries
        self._without = {}
        """By the names of models, what requests to them leave out, see fit.py."""
        self._open_thinkers = set()
        """The names of models whose last thought came without its opening mark."""
        self._callers = set()
        """The names of models that have called a tool through their service: plain JSON of theirs is an answer."""
        self.calls = 0
        """Requests since the start."""
        self.tokens = 0
        """Tokens that they took, both ways, as far as the service counts them."""
        self.problem = ""
        """Why the latest request failed, "" if it did not."""

    def tidy(self) -> None:
        """Close a link that was idle for long; to be called now and then."""
        self._client.tidy()

    async def stream(self, request: Request, on_text, on_retry=None) -> Reply:
        """The model's reply; `on_text(piece)` is awaited for each piece of its text as it comes.

        `on_retry(problem, wait_ms)` is awaited before each wait, so that the person sees why nothing comes, and without a wait
        for what the person has to know once.

        Failures that may pass are tried again as long as no text was passed on; after that it is ModelCut. What a service
        refuses by name is left out from then on.
        """
        self.calls += 1
        try:
            reply = await self._stream(request, on_text, on_retry)
        except ModelError as error:
            self.problem = str(error)
            raise
        self.problem = ""
        self.tokens += max(0, reply.usage[0]) + max(0, reply.usage[1])
        return reply

    async def _stream(self, request: Request, on_text, on_retry) -> Reply:
        name = request.model or self.name
        without = known = self._without.get(name, ())
        told = ""
        started = ticks_ms()
        attempt = 0
        backoff = Backoff(self.first_wait_ms, self.longest_wait_ms)
        while True:
            draft = self._adapter.draft()
            draft.answer_filter.messages = request.messages
            if name in self._open_thinkers:
                draft.answer_filter.expect_thought()
            try:
                reply = await self._attempt(request, draft, on_text, without, started)
                break
            except Refusal as refusal:
                refused = (
                    ""
                    if draft.text or len(without) > len(known) + _MOST_FITS
                    else self._refused(refusal, request, without)
                )
                if refused:
                    without += (refused,)
                    told = self._without_tools(name, refusal) if refused == "tools" else told
                    continue
                trouble = self._judged(refusal, name)
            except _Trouble as error:
                trouble = error
            wait_ms = self._checked_wait(trouble, draft, attempt, started, backoff)
            attempt += 1
            if on_retry:
                await on_retry(str(trouble), wait_ms)
            await sleep_ms(wait_ms)
        self._without[name] = without
        if told and on_retry:
            await on_retry(told, 0)
        return reply

    def _checked_wait(self, trouble, draft, attempt, started, backoff):
        """How long to wait before the next attempt; raises what is wrong if there is none."""
        elapsed = ticks_diff(ticks_ms(), started)
        if not isinstance(trouble, _Trouble):
            raise ModelCut("the answer broke off: " + str(trouble)) if draft.text else trouble
        if elapsed >= self.answer_ms and not trouble.may_load:
            trouble = _too_long(self.answer_ms)
        if draft.text:
            raise ModelCut(
                "the answer broke off: " + str(trouble) + (trouble.advice if trouble.is_final else "; ask again")
            )
        wait_ms = max(backoff.next_ms(), trouble.retry_after * 1000)
        may_pass = trouble.may_load or (attempt < self._retries and wait_ms <= self.longest_wait_ms)
        if trouble.is_final or not may_pass or elapsed + wait_ms >= self.answer_ms:
            raise ModelUnavailable(str(trouble) + trouble.advice)
        return wait_ms

    def _refused(self, refusal, request, without):
        """What to leave out of the request after a refusal, "" if it names nothing of the kind."""
        if refusal.status not in _UNFIT:
            return ""
        return refused_name(refusal.words, request, self._adapter.optional, without)

    def _without_tools(self, name, refusal):
        problem = (
            "the model "
            + name
            + " takes no tools, so it cannot store or look up anything itself; choose another in llm.model"
        )
        return problem + describe_status(refusal.status, self._blotted(refusal.words))

    async def _attempt(self, request, draft, on_text, without, started):
        adapter = self._adapter
        path, headers = adapter.path(self._client.prefix), adapter.headers(self._key)
        name = request.model or self.name
        # A service with a queue, or a slow computer, is silent until its first word.
        first_ms = max(_LEAST_MS, self.answer_ms - ticks_diff(ticks_ms(), started))
        asked = self._client.ask("POST", path, headers, lambda: adapter.body(request, name, without), first_ms=first_ms)
        answer = await self._guarded(asked)
        try:
            if not 200 <= answer.status < 300:
                await self._raise_refusal(answer)
            await self._take_body(answer, draft, on_text, started)
        finally:
            self._client.release(answer)
        if not draft.stop:
            raise _Trouble("the model's service ended the answer too early")
        if draft.answer_filter.has_closed:
            self._open_thinkers.add(name)
        else:
            self._open_thinkers.discard(name)
        names = [tool.name for tool in request.tools]
        if draft.has_calls:
            self._callers.add(name)
        elif name in self._callers and not draft.answer_filter.is_marked:
            names = ()
        rest = draft.finish(names)
        if rest:
            await on_text(rest)
        return draft.reply()

    async def _take_body(self, answer, draft, on_text, started):
        events = Events(TrimmedJson)
        while not draft.done:
            piece = await self._read(answer, draft)
            if not len(piece):
                break
            for data in events.feed(piece):
                await self._take(data, events.is_cut, draft, on_text)
                if draft.done:
                    break
            if draft.has_begun:
                answer.hasten()
            _check_time(started, self.answer_ms)
        if draft.done:
            await answer.drain(_DRAIN_MS)
        elif events.whole:
            await self._take_whole(events.whole, draft, on_text)
        elif events.is_page:
            raise ModelGarbled(self._client.url + " does not answer as a model does; check llm.url")

    async def _take_whole(self, whole, draft, on_text):
        await self._take(whole.value(), whole.is_cut, draft, on_text)
        if not draft.stop:
            raise self._refusal(400, whole.value())

    async def _collect(self, answer, held, started, within_ms):
        while not answer.ended:
            held.add(bytes(await self._guarded(answer.read())))
            _check_time(started, within_ms)

    async def _take(self, data, is_cut, draft, on_text):
        if is_cut:
            draft.kept.drop()
        text = draft.feed(data)
        if text:
            await on_text(text)

    async def _read(self, answer, draft):
        try:
            return await self._guarded(answer.read())
        except _Trouble:
            if draft.stop:
                return b""  # the model had said its last word, only the end of the stream is missing
            raise

    async def _raise_refusal(self, answer):
        held = TrimmedJson(REFUSAL)
        answer.hasten()
        try:
            await self._collect(answer, held, ticks_ms(), _REFUSAL_MS)
        except (_Trouble, ModelGarbled):
            pass  # the status and what came say enough
        refusal = self._refusal(answer.status, held.value())
        refusal.retry_after = answer.retry_after
        refusal.is_final = not answer.may_retry
        raise refusal

    def _refusal(self, status, body):
        return Refusal(402 if b"insufficient_quota" in body else status, error_text(body))

    def _judged(self, refusal, name: str):
        """The error to raise for a service's refusal; the key, should it repeat it, is blotted out."""
        words = self._blotted(refusal.words)
        if is_busy(refusal.status):
            problem = "the model's service cannot answer now" + describe_status(refusal.status, words)
            may_load = refusal.status == 503
            return _Trouble(problem, retry_after=refusal.retry_after, is_final=refusal.is_final, may_load=may_load)
        return model_error(refusal.status, words, self._client.url, name)

    def _blotted(self, words):
        return words.replace(self._key, "***") if self._key else words

    async def _guarded(self, awaitable):
        """Await something of the client; its errors become ours. Never around on_text(): its errors are its own."""
        try:
            return await awaitable
        except Refused as error:
            raise _Trouble(str(error), "", is_final=True)
        except BadAnswer as error:
            raise ModelGarbled(str(error) + "; check llm.url")
        except NetError as error:
            raise _Trouble(str(error), "; check the network")


def _check_time(started, within_ms):
    if ticks_diff(ticks_ms(), started) > within_ms:
        raise _too_long(within_ms)


def _too_long(within_ms):
    problem = "the answer took longer than %d s" % (within_ms // 1000)
    return _Trouble(problem, "; raise llm.answer_seconds, or ask for a shorter one", is_final=True)
