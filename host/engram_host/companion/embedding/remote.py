"""Remote embedders: services with OpenAI's embeddings API."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from time import time
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np

from engram_host.companion.embedding.embedder import Kind, encodable, normalize
from engram_host.companion.errors import EmbedderRefused, EmbedderUnavailable
from engram_host.companion.vector_types import Vector

_PROBE = "ready"
"""Text of the probe, without private data."""

_QUERY_RETRIES = 1
"""Retries of a query: words now are better than vectors late."""


class RemoteEmbedder:
    """Sends texts in requests of `batch_size`, each cut at `input_characters`."""

    def __init__(
        self,
        service: "RemoteService",
        model: str,
        dimensions: int = 0,
        *,
        use_dimensions: bool = False,
        batch_size: int = 64,
        input_characters: int = 8000,
    ):
        self._service = service
        self.model = model
        self.dimensions = dimensions
        """Length of a vector; 0 before the first answer if it is not configured."""
        self._asked_dimensions = dimensions if use_dimensions else 0
        self._batch_size = batch_size
        self._input_characters = input_characters
        self._has_answered = False

    async def ready(self) -> None:
        """Embed a word, once, as a probe."""
        if not self._has_answered:
            await self.embed([_PROBE], "query")

    async def embed(self, texts: Sequence[str], kind: Kind) -> Vector:
        retries = _QUERY_RETRIES if kind == "query" else None
        parts = []
        for start in range(0, len(texts), self._batch_size):
            # Services refuse "", so a blank text is sent as a space.
            batch = [
                encodable(text[: self._input_characters]) or " " for text in texts[start : start + self._batch_size]
            ]
            body: dict[str, Any] = {"model": self.model, "input": batch, "encoding_format": "float"}
            if self._asked_dimensions:
                body["dimensions"] = self._asked_dimensions
            parts.append(self._vectors(await self._service.post("/embeddings", body, retries), len(batch)))
        return np.concatenate(parts) if parts else np.empty((0, self.dimensions), np.float32)

    async def close(self) -> None:
        await self._service.close()

    def _vectors(self, answer: Any, count: int) -> Vector:
        """Return an answer's vectors by index, checked; raises EmbedderRefused."""
        name = self._service.name
        try:
            items = sorted(answer["data"], key=lambda item: item["index"])
            if [item["index"] for item in items] != list(range(len(items))):
                raise EmbedderRefused(f"{name} numbered its vectors wrongly.")
            rows = [np.array([float(number) for number in item["embedding"]]) for item in items]
        except (KeyError, TypeError, ValueError):
            rows = []
        if not rows or not rows[0].size:
            raise EmbedderRefused(f"{name} answered in a form that is not known; is embedding.base_url right?")
        if len({row.size for row in rows}) > 1:
            raise EmbedderRefused(f"{name} gave vectors of several sizes.")
        vectors = normalize(np.array(rows), count, self.dimensions or rows[0].size, name)
        self.dimensions = rows[0].size
        self._has_answered = True
        return vectors


# --- JSON over HTTP with retries, timeouts and limits


MOST_ANSWER_BYTES = 64 << 20

_PASSING = (408, 425, 429)
"""Statuses besides 5xx that are worth a retry."""

_CONNECT_SECONDS = 5.0
_FIRST_WAIT_SECONDS = 0.5
_MOST_WAIT_SECONDS = 60.0
"""Maximum wait for a retry; a longer Retry-After is an error."""

_MOST_TOLD = 200

Sleep = Callable[[float], Awaitable[None]]


class RemoteService:
    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        *,
        retries: int = 3,
        timeout_seconds: float = 30,
        sleep: Sleep = asyncio.sleep,
    ):
        """`headers` are sent with each request; their values are removed from every message."""
        self._base = base_url.rstrip("/")
        self._headers = dict(headers)
        self._secrets = sorted({part for value in headers.values() for part in value.split() if len(part) > 5}, key=len)
        self._retries = retries
        self._timeout = httpx.Timeout(timeout_seconds, connect=_CONNECT_SECONDS)
        self._sleep = sleep
        self._client: httpx.AsyncClient | None = None

    @property
    def name(self) -> str:
        return httpx.URL(self._base).host

    async def post(self, path: str, body: Mapping[str, Any], retries: int | None = None) -> Any:
        content = json.dumps(body, ensure_ascii=False).encode()
        kind = {"Content-Type": "application/json"}
        most = self._retries if retries is None else min(retries, self._retries)
        for attempt in range(most + 1):
            try:
                return self._decoded(await self._once(path, content, kind))
            except _Passing as passing:
                wait = passing.wait or _FIRST_WAIT_SECONDS * 2**attempt * random.uniform(0.75, 1.25)
                if attempt == most or wait > _MOST_WAIT_SECONDS:
                    raise EmbedderUnavailable(str(passing)) from None
            await self._sleep(wait)
        raise AssertionError("the last attempt either answers or raises")

    async def close(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def _once(self, path: str, content: bytes, headers: Mapping[str, str]) -> bytes:
        if self._client is None:
            # Without TLS no certificates are needed, and loading them takes 40 ms.
            has_tls = urlsplit(self._base).scheme != "http"
            self._client = httpx.AsyncClient(verify=has_tls, timeout=self._timeout, headers=self._headers)
        try:
            async with self._client.stream("POST", self._base + path, headers=headers, content=content) as answer:
                body = await self._bounded(answer)
        except httpx.TimeoutException:
            raise _Passing(f"{self.name} did not answer in time.") from None
        except httpx.TransportError as error:
            raise _Passing(f"{self.name} cannot be reached ({type(error).__name__}).") from None
        except httpx.DecodingError:
            raise _Passing(f"{self.name} sent an answer that cannot be unpacked.") from None
        if answer.is_success:
            return body
        message = self._clean(f"{self.name} answered {answer.status_code}{_message(body)}")
        if answer.status_code in _PASSING or answer.status_code >= 500:
            raise _Passing(message, _retry_after(answer.headers.get("retry-after", "")))
        raise EmbedderRefused(message + self._advice(answer.status_code), answer.status_code)

    def _decoded(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise EmbedderRefused(
                f"{self.name} answered with something else than JSON; is embedding.base_url right?"
            ) from None

    async def _bounded(self, answer: httpx.Response) -> bytes:
        body = bytearray()
        async for piece in answer.aiter_bytes():
            body += piece
            if len(body) > MOST_ANSWER_BYTES:
                most = f"{MOST_ANSWER_BYTES >> 20} MB"
                raise EmbedderRefused(f"{self.name} sent more than {most}; a smaller batch_size may help.")
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
        for secret in reversed(self._secrets):
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
