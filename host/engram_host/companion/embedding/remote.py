"""Remote embedders: services with OpenAI's embeddings API."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from time import monotonic, time
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np

from engram_host.companion.embedding.embedder import Kind, encodable, normalize
from engram_host.companion.errors import EmbedderRefused, EmbedderUnavailable
from engram_host.companion.settings import EmbeddingSettings
from engram_host.companion.store.vectors import Vector
from engram_host.companion.supervisor import Backoff

_log = logging.getLogger("engram.embedding")

_PROBE = "ready"
"""Text of the probe, without private data."""

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "text-embedding-3-small"

MOST_ANSWER_BYTES = 64 << 20

RETRIES = 3
_QUERY_RETRIES = 1
"""Retries of a query: words now are better than vectors late."""

_PASSING = (408, 425, 429)
"""Statuses besides 5xx that are worth a retry."""

_ENTITY_TOO_LARGE = 413

_CONNECT_SECONDS = 5.0
_FIRST_WAIT_SECONDS = 0.5
_MOST_WAIT_SECONDS = 60.0
"""Maximum wait for a retry; a longer Retry-After is an error."""

_SHORT_TEXT = 256
"""Characters of a text that is cut no further; a service without room for it is refused."""

QUICK_SHARE = 0.25
"""Part of the timeout below which an answer lets the next batch be twice as large."""

_TOO_LARGE = ("too large", "too long", "too many tokens", "context length", "context size", "batch size")
"""Words of services about a batch or a text beyond their limits, whatever the status."""

_SHOWN = 5
"""Characters of a part of a header that is no secret."""

_MOST_TOLD = 200

Sleep = Callable[[float], Awaitable[None]]


class RemoteEmbedder:
    """Sends texts in requests of `batch_size`, each cut at `input_characters`.

    A batch that is too large for the service, or takes it too long, is halved down to one text. A text that is too large,
    or slow twice, is cut in half.
    """

    def __init__(self, settings: EmbeddingSettings, sleep: Sleep = asyncio.sleep):
        self._settings = settings
        self.model = settings.model_name or OPENAI_MODEL
        self.dimensions = settings.dimensions
        """Length of a vector; 0 before the first answer if it is not configured."""
        self._url = (settings.base_url or OPENAI_URL).rstrip("/") + "/embeddings"
        self._name = httpx.URL(self._url).host
        key = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        self._headers = key | settings.header_fields()
        parts = {part for value in self._headers.values() for part in value.split() if len(part) > _SHOWN}
        self._secrets = sorted(parts, key=len, reverse=True)
        """Parts of the headers, which are removed from every message, the longest first."""
        self._sleep = sleep
        self._batch_size = settings.batch_size
        """Texts of a request; falls to what the service answers in time."""
        self._client: httpx.AsyncClient | None = None
        self._has_answered = False

    async def ready(self) -> None:
        """Embed a word, once, as a probe."""
        if not self._has_answered:
            await self.embed([_PROBE], "query")

    async def embed(self, texts: Sequence[str], kind: Kind) -> Vector:
        parts: list[Vector] = []
        done = 0
        while done < len(texts):
            # Services refuse "", so a blank text is sent as a space.
            some = texts[done : done + self._batch_size]
            parts += await self._halved(
                [encodable(text[: self._settings.input_characters]) or " " for text in some], kind
            )
            done += len(some)
        return np.concatenate(parts) if parts else np.empty((0, self.dimensions), np.float32)

    async def _halved(self, batch: Sequence[str], kind: Kind, *, was_slow: bool = False) -> list[Vector]:
        """Embed a batch, in smaller ones or cut where it is too large."""
        settings, half, began = self._settings, len(batch) // 2, monotonic()
        try:
            vectors = await self._embed_batch(batch, kind, may_shrink=bool(half) or len(batch[0]) > _SHORT_TEXT)
        except _TooLarge as too_large:
            if too_large.is_slow:
                self._batch_size = len(batch) - half
                await self._embed_batch([_PROBE], kind)  # raises if the service answers nothing at all
                if not half and not was_slow:
                    return await self._halved(batch, kind, was_slow=True)
        else:
            if monotonic() - began < settings.timeout_seconds * QUICK_SHARE:
                self._batch_size = min(settings.batch_size, max(self._batch_size, 2 * len(batch)))
            return [vectors]
        if not half:
            cut = batch[0][: max(_SHORT_TEXT, len(batch[0]) // 2)]
            _log.info("%s: cut a text of %d characters to %d", self._name, len(batch[0]), len(cut))
            return await self._halved([cut], kind)
        return await self._halved(batch[:half], kind) + await self._halved(batch[half:], kind)

    async def _embed_batch(self, batch: Sequence[str], kind: Kind, *, may_shrink: bool = False) -> Vector:
        body: dict[str, Any] = {"model": self.model, "input": batch, "encoding_format": "float"}
        if self._settings.use_dimensions:
            body["dimensions"] = self._settings.dimensions
        answer = await self._post(body, _QUERY_RETRIES if kind == "query" else RETRIES, may_shrink)
        return self._vectors(answer, len(batch))

    async def close(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    def _vectors(self, answer: Any, count: int) -> Vector:
        """Return an answer's vectors by index, checked; raises EmbedderRefused."""
        try:
            items = sorted(answer["data"], key=lambda item: item["index"])
            if [item["index"] for item in items] != list(range(len(items))):
                raise EmbedderRefused(f"{self._name} numbered its vectors wrongly.")
            rows = [np.array([float(number) for number in item["embedding"]]) for item in items]
        except (KeyError, TypeError, ValueError):
            rows = []
        if not rows or not rows[0].size:
            raise EmbedderRefused(f"{self._name} answered in a form that is not known; is embedding.base_url right?")
        if len({row.size for row in rows}) > 1:
            raise EmbedderRefused(f"{self._name} gave vectors of several sizes.")
        vectors = normalize(np.array(rows), count, self.dimensions or rows[0].size, self._name)
        self.dimensions = rows[0].size
        self._has_answered = True
        return vectors

    # --- JSON over HTTP with retries, timeouts and limits

    async def _post(self, body: Mapping[str, Any], retries: int, may_shrink: bool) -> Any:
        """Return the decoded answer; raises _TooLarge only if the request `may_shrink`."""
        content = json.dumps(body, ensure_ascii=False).encode()
        backoff = Backoff(_FIRST_WAIT_SECONDS, _MOST_WAIT_SECONDS)
        for attempt in range(retries + 1):
            try:
                return self._decoded(await self._once(content, may_shrink))
            except _Passing as passing:
                wait = passing.wait or backoff.next()
                if attempt == retries or wait > _MOST_WAIT_SECONDS:
                    raise EmbedderUnavailable(str(passing)) from None
            await self._sleep(wait)
        raise AssertionError("the last attempt either answers or raises")

    async def _once(self, content: bytes, may_shrink: bool) -> bytes:
        if self._client is None:
            headers = {**self._headers, "Content-Type": "application/json"}
            timeout = httpx.Timeout(self._settings.timeout_seconds, connect=_CONNECT_SECONDS)
            # Without TLS no certificates are needed, and loading them takes 40 ms.
            has_tls = urlsplit(self._url).scheme != "http"
            self._client = httpx.AsyncClient(verify=has_tls, timeout=timeout, headers=headers)
        try:
            async with self._client.stream("POST", self._url, content=content) as answer:
                body = await self._bounded(answer)
        except httpx.TimeoutException as error:
            if may_shrink and not isinstance(error, httpx.ConnectTimeout):
                raise _TooLarge(is_slow=True) from None
            raise _Passing(f"{self._name} did not answer in time.") from None
        except httpx.TransportError as error:
            raise _Passing(f"{self._name} cannot be reached ({type(error).__name__}).") from None
        except httpx.DecodingError:
            raise _Passing(f"{self._name} sent an answer that cannot be unpacked.") from None
        if answer.is_success:
            return body
        message = self._clean(f"{self._name} answered {answer.status_code}{_message(body)}")
        if may_shrink and (answer.status_code == _ENTITY_TOO_LARGE or any(words in message for words in _TOO_LARGE)):
            raise _TooLarge(is_slow=False)
        if answer.status_code in _PASSING or answer.status_code >= 500:
            raise _Passing(message, _retry_after(answer.headers.get("retry-after", "")))
        raise EmbedderRefused(message + self._advice(answer.status_code), answer.status_code)

    def _decoded(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise EmbedderRefused(
                f"{self._name} answered with something else than JSON; is embedding.base_url right?"
            ) from None

    async def _bounded(self, answer: httpx.Response) -> bytes:
        body = bytearray()
        async for piece in answer.aiter_bytes():
            body += piece
            if len(body) > MOST_ANSWER_BYTES:
                most = f"{MOST_ANSWER_BYTES >> 20} MB"
                raise EmbedderRefused(f"{self._name} sent more than {most}; a smaller batch_size may help.")
        return bytes(body)

    @staticmethod
    def _advice(status: int) -> str:
        if status in (401, 403):
            return " Check embedding.api_key."
        if status == 404:
            return " Check embedding.base_url and embedding.model_name."
        if 300 <= status < 400:
            return " It points to another address: set embedding.base_url to that."
        return ""

    def _clean(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


class _TooLarge(Exception):
    """A smaller request may be answered; `is_slow` if this one was not answered in time."""

    def __init__(self, *, is_slow: bool):
        super().__init__()
        self.is_slow = is_slow


class _Passing(Exception):
    """A temporary failure; `wait` is the Retry-After in seconds, 0 if none."""

    def __init__(self, problem: str, wait: float = 0.0):
        super().__init__(problem)
        self.wait = wait


def _message(body: bytes) -> str:
    try:
        error = json.loads(body)
    except ValueError:
        return "."
    for name in ("error", "message", "detail"):
        if isinstance(error, dict) and name in error:
            error = error[name]
    if not isinstance(error, str) or not error.strip():
        return "."
    words = " ".join("".join(sign if sign.isprintable() else " " for sign in error).split())
    return ": " + words[:_MOST_TOLD].rstrip(".") + "."


def _retry_after(value: str) -> float:
    """Return seconds of a number or date, 0 if it is invalid."""
    try:
        return max(0.0, float(value)) if value else 0.0
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except ValueError:
        return 0.0
