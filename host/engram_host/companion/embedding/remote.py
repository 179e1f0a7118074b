"""Remote embedders: OpenAI's form of a request, and Gemini's."""

import base64
import binascii
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from engram_host.companion.embedding.embedder import Kind, encodable, normalize
from engram_host.companion.errors import EmbedderRefused, EmbedderUnavailable
from engram_host.companion.remote_service import RemoteService, ServiceErrors
from engram_host.companion.vector_types import Vector

ERRORS = ServiceErrors("embedding", EmbedderUnavailable, EmbedderRefused, "; a smaller batch_size may help")
"""Errors of an embedder's RemoteService."""


_PROBE = "ready"
"""Text of the probe, without private data."""

_QUERY_RETRIES = 1
"""Retries of a query: words now are better than vectors late."""


class RemoteEmbedder(ABC):
    """Sends texts in requests of `batch_size`, each cut at `input_characters`."""

    def __init__(
        self, service: RemoteService, model: str, dimensions: int, *, batch_size: int = 64, input_characters: int = 8000
    ):
        self._service = service
        self._model = model
        self._dimensions = dimensions
        self._batch_size = batch_size
        self._input_characters = input_characters
        self._has_answered = False

    @property
    def model(self) -> str:
        return self._model

    @property
    def dimensions(self) -> int:
        """Length of a vector; 0 before the first answer if it is not configured."""
        return self._dimensions

    @property
    def service(self) -> RemoteService:
        return self._service

    async def ready(self) -> None:
        """Embed a word, once, as a probe."""
        if not self._has_answered:
            await self.embed([_PROBE], "query")

    async def embed(self, texts: Sequence[str], kind: Kind) -> Vector:
        retries = _QUERY_RETRIES if kind == "query" else None
        parts = []
        for start in range(0, len(texts), self._batch_size):
            batch = [self.truncate(text) for text in texts[start : start + self._batch_size]]
            parts.append(self._checked(await self._ask(batch, kind, retries), len(batch)))
        return np.concatenate(parts) if parts else np.empty((0, self._dimensions), np.float32)

    async def close(self) -> None:
        await self._service.close()

    def truncate(self, text: str) -> str:
        """Return the part of a text that is sent; a space for a blank one, as services refuse ""."""
        return encodable(text[: self._input_characters]) or " "

    @abstractmethod
    async def _ask(self, texts: Sequence[str], kind: Kind, retries: int | None) -> list[np.ndarray]:
        """Send a request and return an unchecked row for each text; raises Malformed."""

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
        body: dict[str, Any] = {"model": self._model, "input": texts}
        if self._asked_dimensions:
            body["dimensions"] = self._asked_dimensions
        body["encoding_format"] = "base64" if self._use_base64 else "float"
        return body

    def vectors_of(self, answer: Any, count: int) -> Vector:
        """Return an answer's vectors by index, checked; raises EmbedderRefused."""
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
    """Decode a list, or base64 of little-endian float32; raises TypeError or ValueError."""
    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value, validate=True), np.dtype("<f4"))
    if not isinstance(value, list):
        raise TypeError("a vector is a list or base64")
    return np.array([float(number) for number in value], np.float64)


def malformed(service: RemoteService) -> EmbedderRefused:
    return EmbedderRefused(f"{service.name} answered in a form that is not known; is embedding.base_url right?")


# --- Gemini


MOST_BATCH = 100

_TASKS: dict[Kind, str] = {"passage": "RETRIEVAL_DOCUMENT", "query": "RETRIEVAL_QUERY"}


class GeminiEmbedder(RemoteEmbedder):
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
