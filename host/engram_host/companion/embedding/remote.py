"""Remote embedders: services with OpenAI's embeddings API."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from time import time
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np

from engram_host.companion.embedding.embedder import Kind, encodable, normalize
from engram_host.companion.errors import EmbedderRefused, EmbedderUnavailable
from engram_host.companion.settings import EmbeddingSettings
from engram_host.companion.store.vectors import Vector
from engram_host.companion.supervisor import Backoff

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

_CONNECT_SECONDS = 5.0
_FIRST_WAIT_SECONDS = 0.5
_MOST_WAIT_SECONDS = 60.0
"""Maximum wait for a retry; a longer Retry-After is an error."""

_SHOWN = 5
"""Characters of a part of a header that is no secret."""

_MOST_TOLD = 200

Sleep = Callable[[float], Awaitable[None]]


class RemoteEmbedder:
    """Sends texts in requests of `batch_size`, each cut at `input_characters`."""

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
        self._client: httpx.AsyncClient | None = None
        self._has_answered = False

    async def ready(self) -> None:
        """Embed a word, once, as a probe."""
        if not self._has_answered:
            await self.embed([_PROBE], "query")

    async def embed(self, texts: Sequence[str], kind: Kind) -> Vector:
        settings = self._settings
        parts = []
        for start in range(0, len(texts), settings.batch_size):
            # Services refuse "", so a blank text is sent as a space.
            some = texts[start : start + settings.batch_size]
            batch = [encodable(text[: settings.input_characters]) or " " for text in some]
            body: dict[str, Any] = {"model": self.model, "input": batch, "encoding_format": "float"}
            if settings.use_dimensions:
                body["dimensions"] = settings.dimensions
            answer = await self._post(body, _QUERY_RETRIES if kind == "query" else RETRIES)
            parts.append(self._vectors(answer, len(batch)))
        return np.concatenate(parts) if parts else np.empty((0, self.dimensions), np.float32)

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

    async def _post(self, body: Mapping[str, Any], retries: int) -> Any:
        content = json.dumps(body, ensure_ascii=False).encode()
        backoff = Backoff(_FIRST_WAIT_SECONDS, _MOST_WAIT_SECONDS)
        for attempt in range(retries + 1):
            try:
                return self._decoded(await self._once(content))
            except _Passing as passing:
                wait = passing.wait or backoff.next()
                if attempt == retries or wait > _MOST_WAIT_SECONDS:
                    raise EmbedderUnavailable(str(passing)) from None
            await self._sleep(wait)
        raise AssertionError("the last attempt either answers or raises")

    async def _once(self, content: bytes) -> bytes:
        if self._client is None:
            headers = {**self._headers, "Content-Type": "application/json"}
            timeout = httpx.Timeout(self._settings.timeout_seconds, connect=_CONNECT_SECONDS)
            # Without TLS no certificates are needed, and loading them takes 40 ms.
            has_tls = urlsplit(self._url).scheme != "http"
            self._client = httpx.AsyncClient(verify=has_tls, timeout=timeout, headers=headers)
        try:
            async with self._client.stream("POST", self._url, content=content) as answer:
                body = await self._bounded(answer)
        except httpx.TimeoutException:
            raise _Passing(f"{self._name} did not answer in time.") from None
        except httpx.TransportError as error:
            raise _Passing(f"{self._name} cannot be reached ({type(error).__name__}).") from None
        except httpx.DecodingError:
            raise _Passing(f"{self._name} sent an answer that cannot be unpacked.") from None
        if answer.is_success:
            return body
        message = self._clean(f"{self._name} answered {answer.status_code}{_message(body)}")
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
