"""Boards with lines by chance, put into the database of a companion, and searches of it: what benchmarks of it share."""

import random
import re
import socket
import time
from collections.abc import Callable, Iterator

import numpy as np

from engram import log_line
from engram_host.companion.embedding.indexer import read_position, write_position
from engram_host.companion.entries.lines import KEY_VERSION, embedding_text
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.vectors import Identity, StoredVector, text_digest
from engram_host.companion.types import Hello, LineBatch, LogState, Sender, SeqRange
from server_process import START_SECONDS, CompanionProcess, ServerFailed

SESSION_TURNS = 25
IDENTITY = Identity("all-MiniLM-L6-v2", 384, KEY_VERSION)

_PAUSE = 0.01
_SYLLABLES = [first + last for first in "bdfghklmnprstvw" for last in "aeiou"]


def words(numbers: random.Random) -> str:
    """A sentence of a language of 20,000 words, of which few are frequent, as in any."""
    drawn = (int(20_000 ** numbers.random()) for _ in range(numbers.randrange(6, 28)))
    return " ".join(_SYLLABLES[n % 75] + _SYLLABLES[n // 75 % 75] + _SYLLABLES[n // 5625 % 75] for n in drawn)


def turns(count: int, seed: int, text: Callable[[random.Random], str] = words) -> Iterator[tuple[int, bytes]]:
    """Lines of a journal as a board writes them."""
    numbers = random.Random(seed)
    sid, previous = "s1", 0
    for seq in range(1, count + 1):
        place = (seq - 1) % SESSION_TURNS
        if not place:
            sid, previous = f"s{seq}", 0
        who = "Ann" if place % 2 else "owner"
        fields = [("seq", seq), ("sid", sid), ("role", "user"), ("who", who), ("text", text(numbers))]
        fields += [("at", 1_760_000_000 + 600 * seq), ("prev", previous), ("n", place), ("scope", "user:owner")]
        yield seq, log_line.encode(fields)
        previous = seq


def fill(store: CompanionStore, device: str, count: int, seed: int) -> None:
    """Put a journal and vectors of a board into a store, through the store's own calls."""
    heard = int(time.time()) - 1000
    sender = Sender(f"board-{seed}", 1, 1)
    states = {"records": LogState(1, 1, 1, 0), "journal": LogState(1, 1, count + 1, 0)}
    store.replication.greet(Hello(device, sender, 0, states), heard)  # pyright: ignore[reportArgumentType]
    journal_span = journal_writer(store, device, sender, heard)
    pending: list[tuple[int, bytes]] = []
    chance = np.random.default_rng(seed)

    def put() -> None:
        journal_span(pending)
        vectors = chance.standard_normal((len(pending), IDENTITY.dimensions), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        made = [
            StoredVector("journal", seq, text_digest(embedding_text("journal", log_line.decode(line), 0)), vector)
            for (seq, line), vector in zip(pending, vectors, strict=True)
        ]
        store.vectors.put_vectors(device, IDENTITY, made)
        pending.clear()

    for place in turns(count, seed):
        pending.append(place)
        if len(pending) == 1000:
            put()
    if pending:
        put()
    position = read_position(store.values, device, IDENTITY)
    position.extend_to(store.boards.device(device).version)
    while position.gaps:
        position.close_gap(position.newest_gap(1 << 30))
    write_position(store.values, device, position)


def journal_writer(store: CompanionStore, device: str, sender: Sender, heard: int) -> Callable[[list], None]:
    """What puts lines of a board's journal into a store, as its messages do."""

    def write(lines: list[tuple[int, bytes]]) -> None:
        span = SeqRange(device, "journal", 1, lines[0][0] - 1, lines[-1][0])
        store.replication.store_batches([LineBatch(sender, span, list(lines))], heard)

    return write


def fill_lines(store: CompanionStore, device: str, count: int, seed: int, text: Callable[[random.Random], str]) -> None:
    """Put a journal of such texts without vectors into a store."""
    sender, heard = Sender(f"board-{seed}", 1, 1), int(time.time())
    states = {"records": LogState(1, 1, 1, 0), "journal": LogState(1, 1, count + 1, 0)}
    store.replication.greet(Hello(device, sender, 0, states), heard)  # pyright: ignore[reportArgumentType]
    journal_writer(store, device, sender, heard)(list(turns(count, seed, text)))


def percentile(values: list[float], share: float) -> float:
    """The value below which a share of the values is."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def free_port() -> int:
    """A port of this computer at which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class SearchClient:
    """Searches a companion over HTTP."""

    def __init__(self, companion: CompanionProcess, numbers: random.Random):
        self._companion = companion
        self._numbers = numbers

    def ask(self, *devices: str) -> tuple[float, float]:
        """(milliseconds of a search of some boards, or all, but for the query's embedding, of that)."""
        query = {"query": words(self._numbers)[:200], "devices": devices}
        began = time.perf_counter()
        answer = self._companion.client.post("/v1/search", json=query)
        took = 1000 * (time.perf_counter() - began)
        answer.raise_for_status()
        told = answer.json()
        assert not told["degraded"], told["degraded"]
        return took - told["embed_ms"], told["embed_ms"]

    def wait_for_embedder(self) -> None:
        """Wait until queries can be embedded, which takes longer than the start of the server; ServerFailed."""
        end = time.monotonic() + START_SECONDS
        while not (state := self._companion.client.get("/v1/health").json()["meaning"]).startswith(IDENTITY.model):
            if time.monotonic() > end:
                raise ServerFailed(f"the embedder does not start: {state}")
            time.sleep(_PAUSE)

    def lines_left(self) -> int:
        """How many changes of lines are not embedded yet."""
        found = re.search(r", (\d+) of \d+ lines", self._companion.client.get("/v1/health").json()["meaning"])
        return int(found[1]) if found else 0
