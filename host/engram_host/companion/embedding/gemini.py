"""Gemini's own embedding API, which is told what a text is for."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from engram_host.companion.embedding.base import Kind
from engram_host.companion.embedding.http_client import RemoteService
from engram_host.companion.embedding.remote import RemoteEmbedder, malformed, numbers

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
            return [numbers(item["values"]) for item in answer["embeddings"]]
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
