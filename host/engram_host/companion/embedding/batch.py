"""Batch jobs: many texts through OpenAI's batch API, which takes up to a day and costs half.

A job is a file of requests, one per text, named by the text's digest. The service returns a file of answers and one of
errors. The ids of pending jobs are stored, so the same call resumes them after a restart, even if some texts have changed.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from engram_host.companion.embedding.embedder import TEXT_ERRORS
from engram_host.companion.embedding.remote import OpenAiEmbedder, malformed
from engram_host.companion.errors import EmbedderRefused, EmbedderUnavailable
from engram_host.companion.remote_service import Sleep
from engram_host.companion.vector_types import Vector, text_digest

MOST_TEXTS = 2500
"""Limit of a job: base64 vectors have to fit the longest answer (see remote_service.py)."""

_ENDPOINT = "/v1/embeddings"
_NOTE = "embedding.jobs."
_POLL_SECONDS = 30.0
_ENDED = ("completed", "failed", "expired", "cancelled")

BatchVectors = dict[str, Vector | EmbedderRefused]


class NoteStore(Protocol):
    def get(self, name: str) -> str: ...

    def put(self, name: str, value: str) -> None: ...


class BatchJobs:
    def __init__(self, embedder: OpenAiEmbedder, notes: NoteStore, *, sleep: Sleep = asyncio.sleep):
        self._embedder = embedder
        self._service = embedder.service
        self._notes = notes
        self._sleep = sleep

    @property
    def model(self) -> str:
        return self._embedder.model

    async def embed_many(self, name: str, texts: Sequence[str]) -> list[Vector | EmbedderRefused]:
        """Return a vector or a refusal for each text; resumes the jobs of `name`. Raises EmbedderError."""
        unique = {text_digest(text).hex(): text for text in texts}
        jobs = await self._begin(name, list(unique.items()))
        found: BatchVectors = {}
        for job in jobs:
            found |= await self._finish(job)
        missing = [digest for digest in unique if digest not in found]
        vectors = await self._embedder.embed([unique[digest] for digest in missing], "passage")
        found |= zip(missing, vectors, strict=True)
        await asyncio.to_thread(self._notes.put, _NOTE + name, "")
        return [found[text_digest(text).hex()] for text in texts]

    async def close(self) -> None:
        await self._embedder.close()

    async def _begin(self, name: str, texts: Sequence[tuple[str, str]]) -> list[str]:
        made = f"{self._embedder.model}/{self._embedder.dimensions}"
        note = await asyncio.to_thread(self._notes.get, _NOTE + name)
        begun = json.loads(note) if note else {}
        if begun.get("made") != made:
            begun = {"made": made, "jobs": [], "count": -(-len(texts) // MOST_TEXTS)}
        while len(begun["jobs"]) < begun["count"]:
            start = len(begun["jobs"]) * MOST_TEXTS
            begun["jobs"].append(await self._send(texts[start : start + MOST_TEXTS]))
            await asyncio.to_thread(self._notes.put, _NOTE + name, json.dumps(begun))
        return begun["jobs"]

    async def _send(self, texts: Sequence[tuple[str, str]]) -> str:
        lines = [
            json.dumps({"custom_id": digest, "method": "POST", "url": _ENDPOINT, "body": self._body(text)})
            for digest, text in texts
        ]
        file = {"file": ("texts.jsonl", "\n".join(lines).encode(), "application/jsonl")}
        body = await self._service.request("POST", "/files", files=file, data={"purpose": "batch"})
        try:
            file_id = json.loads(body)["id"]
        except (ValueError, KeyError, TypeError):
            raise malformed(self._service) from None
        job = {"input_file_id": file_id, "endpoint": _ENDPOINT, "completion_window": "24h"}
        # One attempt: a retry could start, and bill, a job twice.
        return self._field(await self._service.post("/batches", job, retries=0), "id")

    def _body(self, text: str) -> dict[str, Any]:
        return self._embedder.body(self._embedder.truncate(text)) | {"encoding_format": "base64"}

    async def _finish(self, job: str) -> BatchVectors:
        """Wait for the end of a job and return its results; none if it is unknown or failed."""
        while True:
            try:
                state = await self._service.get(f"/batches/{job}")
            except EmbedderRefused as refused:
                if refused.status == 404:
                    return {}
                raise
            if self._field(state, "status") in _ENDED:
                break
            await self._sleep(_POLL_SECONDS)
        found: BatchVectors = {}
        for file in ("output_file_id", "error_file_id"):
            if state.get(file):
                content = await self._service.request("GET", f"/files/{state[file]}/content")
                for line in content.splitlines():
                    found |= self._read(line)
        return found

    def _read(self, line: bytes) -> BatchVectors:
        """Parse a line of answers or errors; {} if another attempt may do better."""
        try:
            entry = json.loads(line)
            digest, response = entry["custom_id"], entry["response"]
            status = response["status_code"] if response else 500
            if status == 200:
                return {digest: self._embedder.vectors_of(response["body"], 1)[0]}
            if status in TEXT_ERRORS:
                return {digest: EmbedderRefused(f"{self._service.name} refused a text with {status}.", status)}
        except (ValueError, KeyError, TypeError):
            raise malformed(self._service) from None
        return {}

    def _field(self, answer: Any, name: str) -> str:
        value = answer.get(name) if isinstance(answer, Mapping) else None
        if not isinstance(value, str):
            raise EmbedderUnavailable(f"{self._service.name} answered about a batch job in a form that is not known.")
        return value
