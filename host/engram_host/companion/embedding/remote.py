"""Remote embedders: services with OpenAI's embeddings API."""

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


class RemoteEmbedder:
    """Sends texts in requests of `batch_size`, each cut at `input_characters`."""

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
            batch = [encodable(text[: self._input_characters]) or " " for text in texts[start : start + self._batch_size]]
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
