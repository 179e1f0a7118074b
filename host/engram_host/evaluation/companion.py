"""The engine `companion`: the companion's own store, embedder and search, without the network between.

A conversation comes in as a board would send it, in batches of lines as the journal has them, into an empty SQLite database;
the work in the background gives each line its vector; then the questions go to the search as the HTTP API asks it.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from engram import log_line
from engram.memory.access import OWNER
from engram_host.companion.embedding.embedding_service import EmbeddingService
from engram_host.companion.search.cache import IndexCache
from engram_host.companion.search.engine import SearchEngine
from engram_host.companion.search.request import SearchRequest, SearchResult, Weights
from engram_host.companion.settings import EmbeddingSettings
from engram_host.companion.store import CompanionStore, open_store
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.types import Hello, LineBatch, LogState, Sender, SeqRange
from engram_host.evaluation.sets import Conversation, EvaluationFailed, Turn

DEVICE = "evaluation"
EPOCH = 1
BATCH_LINES = 50
MOST_WAIT_SECONDS = 1800
"""For the vectors of one conversation."""

QUERY_SECONDS = 60.0

VARIANTS: dict[str, dict[str, object]] = {
    "companion": {},
    "companion-words": {"use_meaning": False},
    "companion-meaning": {"use_words": False},
    **{f"companion-{share}": {"weights": Weights(meaning=share)} for share in (0.2, 0.3, 0.4, 0.5)},
    "companion-mmr": {"mmr": 0.7},
    "companion-dates": {"dates": True},
}
"""Options of the search, by the name of the engine; the first one has the product's own."""


def ranker(name: str) -> Callable[[Conversation, int, Path], list[list[str]]]:
    """The engine (see run.py) with the options of a name in VARIANTS."""
    return lambda conversation, limit, work: asyncio.run(_rank(conversation, limit, work, VARIANTS[name]))


async def _rank(conversation: Conversation, limit: int, work: Path, options: dict[str, object]) -> list[list[str]]:
    store = open_store(f"sqlite:///{work / 'companion.db'}")
    try:
        _feed(store, conversation)
        embedding = EmbeddingService(store, EmbeddingSettings(), Supervisor())
        engine = SearchEngine(store, IndexCache(store), lambda query: embedding.query_vector(query, QUERY_SECONDS))
        base = SearchRequest("?", (DEVICE,), OWNER, now=conversation.turns[-1].at, limit=limit)
        if options.get("use_meaning", True):
            embedding.start()
            await _embedded(engine, base, embedding, conversation.name)
        rankings = []
        for question in conversation.questions:
            request = replace(base, query=question.text, **options)
            result = await asyncio.to_thread(engine.search, request)
            if result.degraded:
                raise EvaluationFailed(f"{conversation.name}: {result.degraded}")
            rankings.append(_ids(result, conversation))
        await embedding.stop()
        return rankings
    finally:
        store.close()


def _feed(store: CompanionStore, conversation: Conversation) -> None:
    """Send all turns as a board does: a hello, then batches."""
    turns = conversation.turns
    logs = {"records": LogState(EPOCH, 1, 1, 0), "journal": LogState(EPOCH, 1, len(turns) + 1, 0)}
    store.greet(Hello(DEVICE, Sender(DEVICE, 1, 1), 0, logs), turns[-1].at)  # pyright: ignore[reportArgumentType]
    last_of_session: dict[int, tuple[int, int]] = {}
    lines = [(seq, _line(seq, turn, last_of_session)) for seq, turn in enumerate(turns, 1)]
    for number, at in enumerate(range(0, len(lines), BATCH_LINES), 2):
        some = lines[at : at + BATCH_LINES]
        span = SeqRange(DEVICE, "journal", EPOCH, at, some[-1][0])
        (have,) = store.store_batches([LineBatch(Sender(DEVICE, 1, number), span, some)], turns[-1].at)
        if have != some[-1][0]:
            raise EvaluationFailed(f"{conversation.name}: the store did not take a batch: {have}")


def _line(seq: int, turn: Turn, last_of_session: dict[int, tuple[int, int]]) -> bytes:
    """A turn as a journal has it."""
    before, place = last_of_session.get(turn.session, (0, 0))
    last_of_session[turn.session] = (seq, place + 1)
    return log_line.encode(
        [
            ("seq", seq),
            ("sid", f"s{turn.session}"),
            ("role", "user"),
            ("who", turn.speaker),
            ("text", turn.text),
            ("caption", turn.caption or None),
            ("at", turn.at),
            ("prev", before),
            ("n", place),
        ]
    )


async def _embedded(engine: SearchEngine, base: SearchRequest, embedding: EmbeddingService, name: str) -> None:
    """Wait until every line has its vector."""
    for second in range(MOST_WAIT_SECONDS):
        result = await asyncio.to_thread(engine.search, base)
        if not result.degraded:
            return
        if second % 10 == 0:
            sys.stderr.write(f"{name}: {result.degraded}\n")
        await asyncio.sleep(1)
    raise EvaluationFailed(f"{name}: after {MOST_WAIT_SECONDS} s: {json.dumps(embedding.status_line())}")


def _ids(result: SearchResult, conversation: Conversation) -> list[str]:
    return [conversation.turns[hit.seq - 1].id for hit in result.hits]
