"""Remote embedders over HTTP: attempts, waits and bounds, OpenAI's form and Gemini's."""

import asyncio
import base64
import binascii
import json
import random
from abc import ABC, abstractmethod
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

MOST_ANSWER_BYTES = 64 << 20
"""The longest answer that is read: a service gone wrong must not fill the memory."""

_PASSING = (408, 425, 429)
"""Statuses, besides 5xx, after which the same request may succeed a little later."""

_FIRST_WAIT_SECONDS = 0.5
_MOST_WAIT_SECONDS = 60.0
"""The longest wait between two attempts; a service that asks for a longer one is left alone for now."""

_MOST_TOLD = 200
"""Characters of a service's own message that a person gets to see."""

Sleep = Callable[[float], Awaitable[None]]


class RemoteService:
    """One remote service, by its base URL. Redirects are not followed: the key stays where it belongs."""

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        *,
        retries: int = 3,
        timeout_seconds: float = 30,
        connect_seconds: float = 5,
        sleep: Sleep = asyncio.sleep,
    ):
        """`headers` go with each request; their values are removed from every message."""
        self._base = base_url.rstrip("/")
        self._headers = dict(headers)
        self._secrets = sorted({part for value in headers.values() for part in value.split() if len(part) > 5}, key=len)
        self._retries = retries
        self._timeout = httpx.Timeout(timeout_seconds, connect=connect_seconds)
        self._sleep = sleep
        self._client: httpx.AsyncClient | None = None

    @property
    def name(self) -> str:
        """What a person knows the service by: its host."""
        return httpx.URL(self._base).host

    async def post(self, path: str, body: Mapping[str, Any], retries: int | None = None) -> Any:
        """The answer to a JSON body, decoded. EmbedderUnavailable, EmbedderRefused."""
        content = json.dumps(body, ensure_ascii=False).encode()
        kind = {"Content-Type": "application/json"}
        return self._decoded(await self.request("POST", path, retries, content=content, headers=kind))

    async def get(self, path: str) -> Any:
        """The answer to a GET, decoded. EmbedderUnavailable, EmbedderRefused."""
        return self._decoded(await self.request("GET", path))

    async def request(self, method: str, path: str, retries: int | None = None, **content: Any) -> bytes:
        """The answer's body; tried again, with growing waits, as long as that may help."""
        most = self._retries if retries is None else min(retries, self._retries)
        for attempt in range(most + 1):
            try:
                return await self._once(method, path, **content)
            except _Passing as passing:
                wait = passing.wait or _FIRST_WAIT_SECONDS * 2**attempt * random.uniform(0.75, 1.25)
                if attempt == most or wait > _MOST_WAIT_SECONDS:
                    raise EmbedderUnavailable(str(passing)) from None
            await self._sleep(wait)
        raise AssertionError("the last attempt either answers or raises")

    async def close(self) -> None:
        """Let the connections go."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def _once(self, method: str, path: str, headers: Mapping[str, str] | None = None, **content: Any) -> bytes:
        """One attempt; what httpx says is not shown, since it may repeat a header."""
        if self._client is None:
            # Without TLS there is no certificate to check, and reading all authorities takes 40 ms.
            has_tls = urlsplit(self._base).scheme != "http"
            self._client = httpx.AsyncClient(verify=has_tls, timeout=self._timeout, headers=self._headers)
        try:
            async with self._client.stream(method, self._base + path, headers=headers, **content) as answer:
                body = await _bounded(answer, self.name)
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
        raise EmbedderRefused(message + _advice(answer.status_code), answer.status_code)

    def _decoded(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except ValueError:
            raise EmbedderRefused(
                f"{self.name} answered with something else than JSON; is embedding.base_url right?"
            ) from None

    def _clean(self, text: str) -> str:
        for secret in reversed(self._secrets):
            text = text.replace(secret, "***")
        return text


class _Passing(Exception):
    """An attempt failed in a way that may pass; `wait` is how many seconds the service asks for, 0 if it does not say."""

    def __init__(self, problem: str, wait: float = 0.0):
        super().__init__(problem)
        self.wait = wait


async def _bounded(answer: httpx.Response, name: str) -> bytes:
    body = bytearray()
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > MOST_ANSWER_BYTES:
            raise EmbedderRefused(f"{name} sent more than {MOST_ANSWER_BYTES >> 20} MB; a smaller batch_size may help.")
    return bytes(body)


def _message(body: bytes) -> str:
    """What the service says about an error, in the forms that are in use: ": ..." or "."."""
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


def _advice(status: int) -> str:
    if status in (401, 403):
        return " Check embedding.api_key."
    if status == 404:
        return " Check embedding.base_url and embedding.model_name."
    if 300 <= status < 400:
        return " It points to another address: set embedding.base_url to that."
    return ""


def _retry_after(value: str) -> float:
    """Seconds, from a number or a date; 0 if there is none that can be read."""
    try:
        return max(0.0, float(value)) if value else 0.0
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except ValueError:
        return 0.0


# --- embedders


_PROBE = "ready"
"""What is embedded to learn whether a service answers, and how long its vectors are. Nothing of anybody's."""

_QUERY_RETRIES = 1
"""Somebody waits for a query's answer: rather by words than late."""


class RemoteEmbedder(ABC):
    """Texts go in requests of `batch_size`, one after the other, each cut at `input_characters`."""

    def __init__(
        self, service: RemoteService, model: str, dimensions: int, *, batch_size: int = 64, input_characters: int = 8000
    ):
        """`dimensions` 0: they are learnt from the first answer."""
        self._service = service
        self._model = model
        self._dimensions = dimensions
        self._batch_size = batch_size
        self._input_characters = input_characters
        self._has_answered = False

    @property
    def model(self) -> str:
        """The model's name, as it is configured."""
        return self._model

    @property
    def dimensions(self) -> int:
        """Numbers of a vector; 0 before the first answer if they are not configured."""
        return self._dimensions

    @property
    def service(self) -> RemoteService:
        """The service that is asked."""
        return self._service

    async def ready(self) -> None:
        """See Embedder: one word is embedded, once."""
        if not self._has_answered:
            await self.embed([_PROBE], "query")

    async def embed(self, texts: Sequence[str], kind: Kind) -> Vector:
        """See Embedder."""
        retries = _QUERY_RETRIES if kind == "query" else None
        parts = []
        for start in range(0, len(texts), self._batch_size):
            batch = [self.truncate(text) for text in texts[start : start + self._batch_size]]
            parts.append(self._checked(await self._ask(batch, kind, retries), len(batch)))
        return np.concatenate(parts) if parts else np.empty((0, self._dimensions), np.float32)

    async def close(self) -> None:
        """Let the connections go."""
        await self._service.close()

    def truncate(self, text: str) -> str:
        """What is sent of a text; a blank one is sent as one space, since services refuse an empty one."""
        return encodable(text[: self._input_characters]) or " "

    @abstractmethod
    async def _ask(self, texts: Sequence[str], kind: Kind, retries: int | None) -> list[np.ndarray]:
        """One request: a row for each text, not checked yet. Malformed if the answer is not of the service's form."""

    def _checked(self, rows: list[np.ndarray], count: int) -> Vector:
        sizes = {row.shape for row in rows}
        if len(sizes) > 1:
            raise EmbedderRefused(f"{self._service.name} gave vectors of several sizes.")
        width = rows[0].shape[0] if rows else self._dimensions
        vectors = normalize(
            np.array(rows).reshape(len(rows), width), count, self._dimensions or width, self._service.name
        )
        if not width:
            raise malformed(self._service)
        self._dimensions = width
        self._has_answered = True
        return vectors


class OpenAiEmbedder(RemoteEmbedder):
    """A service with OpenAI's /embeddings, as also Ollama, vLLM, llama.cpp, LM Studio and many others offer it."""

    def __init__(
        self,
        service: RemoteService,
        model: str,
        dimensions: int = 0,
        *,
        use_dimensions: bool = False,
        use_base64: bool = False,
        batch_size: int = 64,
        input_characters: int = 8000,
    ):
        super().__init__(service, model, dimensions, batch_size=batch_size, input_characters=input_characters)
        self._asked_dimensions = dimensions if use_dimensions else 0
        self._use_base64 = use_base64

    def body(self, texts: Sequence[str] | str) -> dict[str, Any]:
        """A request's body, for the plain API and for batch jobs."""
        body: dict[str, Any] = {"model": self._model, "input": texts}
        if self._asked_dimensions:
            body["dimensions"] = self._asked_dimensions
        body["encoding_format"] = "base64" if self._use_base64 else "float"
        return body

    def vectors_of(self, answer: Any, count: int) -> Vector:
        """The vectors in an answer, by their index, checked; EmbedderRefused."""
        return self._checked(self._rows(answer), count)

    async def _ask(self, texts: Sequence[str], kind: Kind, retries: int | None) -> list[np.ndarray]:
        return self._rows(await self._service.post("/embeddings", self.body(list(texts)), retries))

    def _rows(self, answer: Any) -> list[np.ndarray]:
        try:
            items = sorted(answer["data"], key=lambda item: item["index"])
            if [item["index"] for item in items] != list(range(len(items))):
                raise EmbedderRefused(f"{self._service.name} numbered its vectors wrongly.")
            return [decode_numbers(item["embedding"]) for item in items]
        except (KeyError, TypeError, ValueError, binascii.Error):
            raise malformed(self._service) from None


def decode_numbers(value: Any) -> np.ndarray:
    """A vector as a service writes it: a list, or base64 of little-endian float32. TypeError, ValueError, binascii.Error."""
    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value, validate=True), np.dtype("<f4"))
    if not isinstance(value, list):
        raise TypeError("a vector is a list or base64")
    return np.array([float(number) for number in value], np.float64)


def malformed(service: RemoteService) -> EmbedderRefused:
    """What is raised when an answer is not of the form that the service's API has."""
    return EmbedderRefused(f"{service.name} answered in a form that is not known; is embedding.base_url right?")


# --- Gemini


MOST_BATCH = 100
"""Texts that the API takes in one request."""

_TASKS: dict[Kind, str] = {"passage": "RETRIEVAL_DOCUMENT", "query": "RETRIEVAL_QUERY"}


class GeminiEmbedder(RemoteEmbedder):
    """models/MODEL:batchEmbedContents."""

    def __init__(
        self,
        service: RemoteService,
        model: str,
        dimensions: int = 0,
        *,
        use_dimensions: bool = False,
        batch_size: int = 64,
        input_characters: int = 8000,
    ):
        batch_size = min(batch_size, MOST_BATCH)
        super().__init__(service, model, dimensions, batch_size=batch_size, input_characters=input_characters)
        self._asked_dimensions = dimensions if use_dimensions else 0

    async def _ask(self, texts: Sequence[str], kind: Kind, retries: int | None) -> list[np.ndarray]:
        body = {"requests": [self._request(text, kind) for text in texts]}
        answer = await self._service.post(f"/models/{self._model}:batchEmbedContents", body, retries)
        try:
            return [decode_numbers(item["values"]) for item in answer["embeddings"]]
        except (KeyError, TypeError, ValueError):
            raise malformed(self._service) from None

    def _request(self, text: str, kind: Kind) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": f"models/{self._model}",
            "content": {"parts": [{"text": text}]},
            "taskType": _TASKS[kind],
        }
        if self._asked_dimensions:
            request["outputDimensionality"] = self._asked_dimensions
        return request
