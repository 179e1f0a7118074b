"""One remote model: a request in, a reply out, with retries; only kinds of ModelError leave.

client   client.Client        the link and HTTP
adapter  OpenAI, Anthropic    what the API says, both ways (see reply.py)
"""

import random

from engram.compat import const, sleep_ms, ticks_diff, ticks_ms
from engram.errors import ConfigError, ModelCut, ModelGarbled, ModelUnavailable
from engram.llm.http.response import Events, ProtocolError
from engram.llm.http.transport import CertificateRefused, reason
from engram.llm.http.trimmed_json import REFUSAL, TrimmedJson
from engram.llm.reply import Refusal
from engram.llm.types import Reply, Request
from engram.text.utf8 import is_printable_ascii

# Protects against a refusal without end: nobody waits longer for its words. Some repeat the whole request.
_REFUSAL_MS = const(10_000)
# What follows the last event is a few bytes that come with it: no person waits longer for them.
_DRAIN_MS = const(200)


class _Trouble(Exception):
    """The attempt failed; another may not, unless `is_final`."""

    def __init__(self, problem, advice="; try again later", *, retry_after=-1, is_final=False):
        super().__init__(problem)
        self.advice = advice
        self.retry_after = retry_after
        self.is_final = is_final


class Model:
    """A model called `name` behind `adapter` and `client`; without `key`, none is sent."""

    # Waits double from the first to the longest; a service that asks for more than the longest is not waited for.
    first_wait_ms = 1_000
    longest_wait_ms = 30_000
    # Protects against a stream that is kept alive for ever without an end.
    reply_ms = 300_000

    def __init__(self, client, adapter, name: str, key: str = "", retries: int = 3):
        if not is_printable_ascii(key) or " " in key:
            raise ConfigError("llm.key", "has characters that no key has; paste it again")
        self.name = name
        self._client = client
        self._adapter = adapter
        self._key = key
        self._retries = retries
        self._open_thinkers = set()
        """The names of models whose last thought came without its opening mark."""

    @property
    def addresses(self):
        """The addresses of the service's host, None while they are not known."""
        return self._client.addresses

    def tidy(self, at_once: bool = False) -> bool:
        """Close a link that was idle for long, or at once; whether none is open. To be called now and then."""
        return self._client.tidy(at_once)

    async def stream(self, request: Request, on_text, on_retry=None) -> Reply:
        """The model's reply; `on_text(piece)` is awaited for each piece of its text as it comes.

        `on_retry(problem, wait_ms)` is awaited before each wait, so that the person sees why nothing comes.

        Failures that may pass are tried again as long as no text was passed on; after that it is ModelCut.
        """
        attempt = 0
        while True:
            draft = self._adapter.draft()
            if (request.model or self.name) in self._open_thinkers:
                draft.answer_filter.expect_thought()
            try:
                return await self._attempt(request, draft, on_text)
            except _Trouble as trouble:
                problem = str(trouble)
                if draft.text:
                    raise ModelCut("the answer broke off: " + problem + "; ask again")
                wait_ms = self._wait_ms(attempt, trouble.retry_after)
                if trouble.is_final or attempt == self._retries or wait_ms > self.longest_wait_ms:
                    raise ModelUnavailable(problem + trouble.advice)
            attempt += 1
            if on_retry:
                await on_retry(problem, wait_ms)
            await sleep_ms(wait_ms)

    def _wait_ms(self, attempt, retry_after):
        half = min(self.first_wait_ms << attempt, self.longest_wait_ms) // 2
        return max(half + random.getrandbits(16) % (half + 1), retry_after * 1000)

    async def _attempt(self, request, draft, on_text):
        adapter = self._adapter
        path, headers = adapter.path(self._client.prefix), adapter.headers(self._key)
        name = request.model or self.name
        answer = await self._guarded(self._client.ask("POST", path, headers, lambda: adapter.body(request, name)))
        try:
            if not 200 <= answer.status < 300:
                await self._raise_refusal(answer)
            elif answer.kind == b"application/json":
                whole = TrimmedJson()
                await self._collect(answer, whole, self.reply_ms)
                await self._take(whole.value(), whole.is_cut, draft, on_text)
                if not draft.stop:
                    raise self._refusal(400, whole.value(), -1)
            elif answer.kind in (b"text/event-stream", b"text/plain", b""):
                await self._take_events(answer, draft, on_text)
            else:
                raise ModelGarbled(self._client.url + " does not answer as a model does; check llm.url")
        except Refusal as refusal:
            error = self._judged(refusal, name)
            raise _Trouble(str(error)) if draft.text else error
        finally:
            self._client.release(answer)
        if not draft.stop:
            raise _Trouble("the model's service ended the answer too early")
        if draft.answer_filter.has_closed:
            self._open_thinkers.add(name)
        else:
            self._open_thinkers.discard(name)
        rest = draft.finish([tool.name for tool in request.tools])
        if rest:
            await on_text(rest)
        return draft.reply()

    async def _take_events(self, answer, draft, on_text):
        events = Events()
        started = ticks_ms()
        while not draft.done:
            piece = await self._read(answer, draft)
            if not len(piece):
                return
            for data in events.feed(piece):
                await self._take(data, events.is_cut, draft, on_text)
                if draft.done:
                    break
            _check_time(started, self.reply_ms)
        await answer.drain(_DRAIN_MS)

    async def _collect(self, answer, held, within_ms):
        started = ticks_ms()
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
        try:
            await self._collect(answer, held, _REFUSAL_MS)
        except (_Trouble, ModelGarbled):
            pass  # the status and what came say enough
        raise self._refusal(answer.status, held.value(), answer.retry_after)

    def _refusal(self, status, body, retry_after):
        from engram.llm.http.errors import error_text  # seldom needed

        status = 402 if b"insufficient_quota" in body else status
        return Refusal(status, error_text(body), retry_after)

    def _judged(self, refusal, name: str):
        """The error to raise for a service's refusal; the key, should it repeat it, is blotted out."""
        from engram.llm.http.errors import describe_status, is_busy, model_error  # seldom needed

        words = refusal.words.replace(self._key, "***") if self._key else refusal.words
        if is_busy(refusal.status):
            problem = "the model's service cannot answer now" + describe_status(refusal.status, words)
            return _Trouble(problem, retry_after=refusal.retry_after)
        return model_error(refusal.status, words, self._client.url, name)

    async def _guarded(self, awaitable):
        """Await something of the client; its errors become ours. Never around on_text(): its errors are its own."""
        try:
            return await awaitable
        except CertificateRefused as error:
            raise _Trouble(str(error), "", is_final=True)
        except ProtocolError as error:
            raise ModelGarbled(self._client.url + ": " + str(error) + "; check llm.url")
        except OSError as error:
            problem = "the link to " + self._client.host + " failed: " + reason(error)
            raise _Trouble(problem, "; check the network")


def _check_time(started, within_ms):
    if ticks_diff(ticks_ms(), started) > within_ms:
        raise _Trouble("the answer took too long", "; ask for a shorter one", is_final=True)
