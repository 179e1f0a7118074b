"""Batch jobs: many texts through OpenAI's batch API, which takes up to a day and costs half.

A job is a file of requests, one for each text, named by the text's digest. The service gets the file, works on it, and
gives back one file of answers and one of errors. The ids of jobs under way are kept in the store: after a restart the
same call goes on with them, even if the texts have changed a little meanwhile.
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
"""Texts of one job: their vectors, as base64, have to fit the longest answer that is read (see remote_service.py)."""

_ENDPOINT = "/v1/embeddings"
_NOTE = "embedding.jobs."
_POLL_SECONDS = 30.0
_ENDED = ("completed", "failed", "expired", "cancelled")

BatchVectors = dict[str, Vector | EmbedderRefused]
"""What became of texts, by their digest in hex."""


class NoteStore(Protocol):
    """What jobs need of a store."""

    def get(self, name: str) -> str:
        """A note, "" if there is none."""
        ...

    def put(self, name: str, value: str) -> None:
        """Keep a note."""
        ...


class BatchJobs:
    """Many texts at a time, with the model and options of `embedder`."""

    def __init__(self, embedder: OpenAiEmbedder, notes: NoteStore, *, sleep: Sleep = asyncio.sleep):
        self._embedder = embedder
        self._service = embedder.service
        self._notes = notes
        self._sleep = sleep

    @property
    def model(self) -> str:
        """The model's name."""
        return self._embedder.model

    async def embed_many(self, name: str, texts: Sequence[str]) -> list[Vector | EmbedderRefused]:
        """For each of `texts`, in order, its vector, or why the service refuses this one.

        `name` is the caller's for this work: a call with the same name goes on with the jobs that were begun. Texts that
        no job answers (it expired; they are new) are asked for directly. EmbedderUnavailable, EmbedderRefused,
        StoreUnavailable; the jobs go on then, and the next call takes them up again.
        """
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
        """Close the connections; jobs go on at the service."""
        await self._embedder.close()

    async def _begin(self, name: str, texts: Sequence[tuple[str, str]]) -> list[str]:
        """The ids of the jobs; each is noted as soon as it is known."""
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
        # One attempt: a job that was begun without our knowing would be paid for twice.
        return self._field(await self._service.post("/batches", job, retries=0), "id")

    def _body(self, text: str) -> dict[str, Any]:
        return self._embedder.body(self._embedder.truncate(text)) | {"encoding_format": "base64"}

    async def _finish(self, job: str) -> BatchVectors:
        """Wait until a job has ended; what it found. One that is not known any more, or has failed, found nothing."""
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
        """A line of a job's answers or errors; nothing if another attempt may do better."""
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
