"""A board whose turns get their vectors, and an embedder that fails as it is told."""

import json
from unittest.mock import AsyncMock

import numpy as np

from embedding_service import direction
from engram import log_line
from engram_host.companion.embedding.indexer import EmbeddingIndexer
from engram_host.companion.errors import EmbedderRefused
from engram_host.companion.types import Hello, LineBatch, LogName, LogState, Sender, SeqRange

KEY = 3
NOW = 1_800_000_000


class Board:
    """A board that writes turns into a store."""

    def __init__(self, store, device="kitchen"):
        self.store = store
        self.device = device
        self.texts: list[str] = []
        self.n = 1
        self.greet(zone=0)

    def greet(self, zone, rule=""):
        logs: dict[LogName, LogState] = {
            "records": LogState(5, 1, 1, 0),
            "journal": LogState(5, 1, len(self.texts) + 1, 0),
        }
        self.store.replication.greet(Hello(self.device, self.sender(), zone, logs, rule=rule), NOW)

    def sender(self):
        self.n += 1
        return Sender("b-" + self.device, 1, self.n)

    def say(self, *texts):
        after = len(self.texts)
        self.texts.extend(texts)
        lines = [
            (seq, log_line.encode([("seq", seq), ("text", self.texts[seq - 1])]))
            for seq in range(after + 1, len(self.texts) + 1)
        ]
        span = SeqRange(self.device, "journal", 5, after, len(self.texts))
        assert self.store.replication.store_batches([LineBatch(self.sender(), span, lines)], NOW) == [len(self.texts)]

    def rewrite(self, seq, text):
        self.texts[seq - 1] = text
        span = SeqRange(self.device, "journal", 5, seq - 1, seq)
        self.store.replication.store_batches(
            [LineBatch(self.sender(), span, [(seq, log_line.encode([("seq", seq), ("text", text)]))])], NOW
        )


class Embedder:
    """Makes vectors by text and model; fails as it is told."""

    def __init__(self, model="little", dimensions=8):
        self.model = model
        self.dimensions = dimensions
        self.asked: list[str] = []
        self.error: Exception | None = None
        self.refused: set[str] = set()
        self.calls_left = 10**9
        self.on_call = lambda: None

    async def ready(self):
        if self.error:
            raise self.error

    async def embed(self, texts, kind):
        await self.ready()
        self.on_call()
        if self.calls_left == 0:
            raise KilledError
        self.calls_left -= 1
        if self.refused & set(texts):
            raise EmbedderRefused("that text is not taken.", 400)
        self.asked.extend(texts)
        return np.array([direction(text, self.model, self.dimensions) for text in texts], np.float32)

    async def close(self):
        pass


class KilledError(Exception):
    """Stands for the end of the process."""


def text_of(device, change):
    return json.loads(change.line)["text"]


def make(store, embedder=None, **more):
    parts = {"embedder": embedder or Embedder(), "text_of": text_of, "key_version": KEY, "prepare": AsyncMock(), **more}
    return EmbeddingIndexer(boards=store.boards, values=store.values, vectors=store.vectors, **parts)
