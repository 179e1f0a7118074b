"""The engines that rank the turns of a conversation for each question: board, companion, recipe.

board       the firmware's store and ranker on the 32-bit MicroPython, with the heap of a small board,
            .mpy modules and a littlefs in a file; board_script.py is its half on the board. The board
            stores a conversation, is restarted, and answers.
companion   the companion's store, embedder and search, without a network. A conversation arrives in
            batches of journal lines, as from a board, in an empty SQLite database; all lines are
            embedded; then the questions go to the search as from the HTTP API.
recipe      the tuned ranker of docs/design/retrieval.md in floats, for comparison with the board's
            rounded one.

    B     = BM25 of the turn                                   k1 .9, b .4
    T     = B + .4 B(turns before and after in the session) + .2 B(turns at distance 2)
    S     = BM25 of the session's turns as one document        k1 .9, b .2
    score = T / max T + .5 S / max S,  times 1.4 for the only speaker named in the query, .5 for a reply

All use the firmware's tokenizer engram.text, so that differences are due to ranking.
"""

import asyncio
import json
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from engram import log_line, text
from engram.clock import MONTHS
from engram.memory import line_meaning
from engram.store.types import EIGHTHS, HEAD, MOST_TERMS
from engram_host.boards.file_set import compile_module
from engram_host.companion.embedding.embedding_service import EmbeddingService
from engram_host.companion.search.engine import SearchEngine
from engram_host.companion.search.index_cache import IndexCache
from engram_host.companion.search.request import SearchRequest, SearchResult
from engram_host.companion.settings import EmbeddingSettings
from engram_host.companion.store import open_store
from engram_host.companion.store.boards.replica import ReplicationTable
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.types import Hello, LineBatch, LogState, Sender, SeqRange
from engram_host.evaluation.sets import Conversation, EvaluationFailed, Turn
from engram_host.firmware import BOARDS, CLONE, FIRMWARE


@dataclass(frozen=True)
class Ranking:
    ids: list[str]
    confidence: float


# --- board

HEAP = "2m"

_SCRIPT = Path(__file__).with_name("board_script.py")

_LAST_LINES = 20


class NoBoardEngine(EvaluationFailed):
    """No 32-bit MicroPython to run the firmware."""


class BoardEngine:
    def __init__(self, micropython: Path, path: Sequence[Path]):
        self._micropython = micropython
        self._path = path

    def rank(self, conversation: Conversation, limit: int, work: Path) -> list[Ranking]:
        turns, given, questions, answers = (work / name for name in ("turns", "ids", "questions", "answers"))
        (work / "board_script.mpy").write_bytes(compile_module(_SCRIPT))
        _write(
            turns,
            [[turn.session, turn.at, turn.speaker, turn.text, turn.caption, turn.role] for turn in conversation.turns],
        )
        _write(questions, [question.text for question in conversation.questions])
        self._run(conversation.name, work, "feed", turns, given)
        self._run(conversation.name, work, "ask", questions, answers, limit)
        ids = {
            number: turn.id
            for number, turn in zip(given.read_text(encoding="ascii").split(), conversation.turns, strict=True)
        }
        lines = [line.split() for line in answers.read_text(encoding="ascii").splitlines()]
        return [Ranking([ids[number] for number in found], int(thousandths) / 1000) for thousandths, *found in lines]

    def _run(self, name: str, work: Path, *arguments: object) -> None:
        path = [work, *self._path, Path(".frozen")]
        command = [str(self._micropython), "-X", f"heapsize={HEAP}", "-m", "board_script", str(work / "flash.bin")]
        board = subprocess.Popen(
            [*command, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "MICROPYPATH": ":".join(str(folder) for folder in path)},
        )
        last: list[str] = []
        for line in board.stdout or ():
            sys.stderr.write(f"{name}: {line.rstrip()}\n")
            last = [*last[-_LAST_LINES:], line]
        if board.wait():
            raise EvaluationFailed(f"the board failed at {name}:\n{''.join(last)}")


def own_board(work: Path) -> BoardEngine:
    micropython = CLONE / "build" / "micropython" / "32" if CLONE else None
    if micropython is None or not micropython.is_file():
        raise NoBoardEngine(
            "there is no 32-bit MicroPython: `make eval` in a clone of Engram downloads one; other engines need none."
        )
    for folder, sources in (
        (FIRMWARE, (FIRMWARE / "engram").rglob("*.py")),
        (BOARDS / "SIM", (BOARDS / "SIM").glob("*.py")),
    ):
        for source in sources:
            target = work / source.relative_to(folder).with_suffix(".mpy")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(compile_module(source))
    return BoardEngine(micropython, [work])


def _write(path: Path, values: list) -> None:
    # UTF-8: MicroPython's json decodes escaped surrogate pairs to invalid text.
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), encoding="utf-8")


# --- companion

DEVICE = "evaluation"
EPOCH = 1
BATCH_LINES = 50
MOST_WAIT_SECONDS = 1800

QUERY_SECONDS = 60.0

VARIANTS: dict[str, dict[str, object]] = {
    "companion": {},
    "companion-words": {"meaning": False},
    "companion-meaning": {"words": False},
    **{f"companion-{share}": {"weight": share} for share in (0.2, 0.3, 0.4, 0.5)},
}
"""Search options by engine; the first is the product's default."""


def companion_ranker(name: str) -> Callable[[Conversation, int, Path], list[Ranking]]:
    """Return an engine (see run.py) with the options of a name in VARIANTS."""
    return lambda conversation, limit, work: asyncio.run(_rank(conversation, limit, work, VARIANTS[name]))


async def _rank(conversation: Conversation, limit: int, work: Path, options: dict[str, object]) -> list[Ranking]:
    store = open_store(f"sqlite:///{work / 'companion.db'}")
    try:
        _feed(store.replication, conversation)
        embedding = EmbeddingService(
            boards=store.boards,
            values=store.values,
            vectors=store.vectors,
            settings=EmbeddingSettings(),
            supervisor=Supervisor(),
        )
        engine = SearchEngine(store.boards, store.vectors, IndexCache(store.boards, store.vectors))
        now, has_meaning = conversation.turns[-1].at, options.get("meaning", True)
        if has_meaning:
            embedding.start()
            await _embedded(embedding, conversation.name)
        device = store.boards.device(DEVICE)
        rankings = []
        for question in conversation.questions:
            request = SearchRequest.model_validate({"query": question.text, "limit": limit, **options})
            vector = await embedding.vector_of(question.text, QUERY_SECONDS) if has_meaning else None
            result = await asyncio.to_thread(engine.search, request, [device], now, vector)
            if result.degraded:
                raise EvaluationFailed(f"{conversation.name}: {result.degraded}")
            rankings.append(Ranking(_ids(result, conversation), result.confidence))
        await embedding.stop()
        return rankings
    finally:
        store.close()


def _feed(replication: ReplicationTable, conversation: Conversation) -> None:
    turns = conversation.turns
    logs = {"records": LogState(EPOCH, 1, 1, 0), "journal": LogState(EPOCH, 1, len(turns) + 1, 0)}
    replication.greet(Hello(DEVICE, Sender(DEVICE, 1, 1), 0, logs), turns[-1].at)  # pyright: ignore[reportArgumentType]
    last_of_session: dict[int, tuple[int, int]] = {}
    lines = [(seq, _line(seq, turn, last_of_session)) for seq, turn in enumerate(turns, 1)]
    for number, at in enumerate(range(0, len(lines), BATCH_LINES), 2):
        some = lines[at : at + BATCH_LINES]
        span = SeqRange(DEVICE, "journal", EPOCH, at, some[-1][0])
        (have,) = replication.store_batches([LineBatch(Sender(DEVICE, 1, number), span, some)], turns[-1].at)
        if have != some[-1][0]:
            raise EvaluationFailed(f"{conversation.name}: the store did not take a batch: {have}")


def _line(seq: int, turn: Turn, last_of_session: dict[int, tuple[int, int]]) -> bytes:
    before, place = last_of_session.get(turn.session, (0, 0))
    last_of_session[turn.session] = (seq, place + 1)
    return log_line.encode(
        [
            ("seq", seq),
            ("sid", f"s{turn.session}"),
            ("role", turn.role),
            ("who", turn.speaker),
            ("text", turn.text),
            ("caption", turn.caption or None),
            ("at", turn.at),
            ("prev", before),
            ("n", place),
        ]
    )


async def _embedded(embedding: EmbeddingService, name: str) -> None:
    for second in range(MOST_WAIT_SECONDS):
        if embedding.identity and not embedding.changes_left:
            return
        if second % 10 == 0:
            sys.stderr.write(f"{name}: {embedding.status_line()}\n")
        await asyncio.sleep(1)
    raise EvaluationFailed(f"{name}: after {MOST_WAIT_SECONDS} s: {json.dumps(embedding.status_line())}")


def _ids(result: SearchResult, conversation: Conversation) -> list[str]:
    return [conversation.turns[hit.seq - 1].id for hit in result.hits]


# --- recipe

K1 = 0.9
NEIGHBOURS = {-2: 0.2, -1: 0.4, 1: 0.4, 2: 0.2}


_LONE = 0.75
"""Scales T, which neighbours raise, to a share of the query's words."""

SHORTEST = 20
"""Words of the shortest document length: shorter turns gain nothing."""

Document = dict[str, float]


class Bm25:
    def __init__(self, documents: list[Document], b: float, shortest: float = 0):
        self._documents = documents
        self._lengths = [sum(document.values()) for document in documents]
        self._b = b
        self._shortest = shortest
        self._having = Counter(term for document in documents for term in document)
        self._mean = sum(self._lengths) / max(1, len(documents))

    def scores(self, terms: list[str]) -> list[float]:
        weights = self.weights(terms)
        return [self._score(*each, weights) for each in zip(self._documents, self._lengths, strict=True)]

    def weights(self, terms: list[str]) -> dict[str, float]:
        return {term: self._weight(self._having[term]) for term in terms}

    def knows(self, term: str) -> bool:
        return term in self._having

    def _weight(self, having: int) -> float:
        return math.log(1 + (len(self._documents) - having + 0.5) / (having + 0.5))

    def _score(self, document: Document, length: float, weights: dict[str, float]) -> float:
        flat = K1 * (1 - self._b + self._b * max(length, self._shortest) / self._mean)
        return sum(
            weight * document[term] * (K1 + 1) / (document[term] + flat)
            for term, weight in weights.items()
            if term in document
        )


def turn_terms(turn: Turn) -> Iterator[str]:
    day = datetime.fromtimestamp(turn.at, UTC)
    for part in (str(day.day), MONTHS[day.month - 1], str(day.year), turn.speaker, turn.text, turn.caption):
        yield from text.terms(part)


def weighed(terms: Iterable[str]) -> Document:
    found: Document = {}
    for at, term in enumerate(islice(terms, MOST_TERMS)):
        found[term] = found.get(term, 0) + (1 if at < HEAD else 1 / EIGHTHS)
    return found


def together(documents: Iterable[Document]) -> Document:
    found: Document = {}
    for document in documents:
        for term, count in document.items():
            found[term] = found.get(term, 0) + count
    return found


class Recipe:
    def __init__(self, turns: list[Turn]):
        self._turns = turns
        documents = [weighed(turn_terms(turn)) for turn in turns]
        self._turn_scores = Bm25(documents, 0.4, SHORTEST)
        self._sessions = sorted({turn.session for turn in turns})
        whole = [
            together(document for document, turn in zip(documents, turns, strict=True) if turn.session == session)
            for session in self._sessions
        ]
        self._session_scores = Bm25(whole, 0.2)
        self._speakers = sorted({turn.speaker for turn in turns})

    def rank(self, query: str, limit: int) -> list[str]:
        scored = sorted((-score, number) for number, score in self.scores(query).items())
        return [self._turns[number].id for _, number in scored[:limit]]

    def scores(self, query: str) -> dict[int, float]:
        terms = list(dict.fromkeys(text.terms(query)))
        totals = self._totals(query)
        prior = dict(zip(self._sessions, self._session_scores.scores(terms), strict=True))
        top, prior_top = max(totals), max(prior.values()) or 1.0
        named = self._named(query)
        halves = not line_meaning.asks_replies(query)
        scored = {}
        for number, (turn, total) in enumerate(zip(self._turns, totals, strict=True)):
            if total > 0:
                score = total / top + 0.5 * prior[turn.session] / prior_top
                score *= 1.4 if turn.speaker == named else 1
                scored[number] = score / 2 if halves and turn.role == "assistant" else score
        return scored

    def confidence(self, query: str) -> float:
        """Return 0 to 1: weight of query words near the best turn, times the share of known words."""
        weights = self._turn_scores.weights(list(dict.fromkeys(text.terms(query))))
        full = sum(weights.values())
        known = sum(weight for term, weight in weights.items() if self._turn_scores.knows(term))
        return min(1.0, _LONE * max(self._totals(query)) / full) * known / full if full else 0.0

    def _totals(self, query: str) -> list[float]:
        return self._with_neighbours(self._turn_scores.scores(list(dict.fromkeys(text.terms(query)))))

    def _with_neighbours(self, scores: list[float]) -> list[float]:
        sessions = [turn.session for turn in self._turns]
        totals = list(scores)
        for number, session in enumerate(sessions):
            for distance, share in NEIGHBOURS.items():
                other = number + distance
                if 0 <= other < len(scores) and sessions[other] == session:
                    totals[number] += share * scores[other]
        return totals

    def _named(self, query: str) -> str:
        words = set(text.words(query))
        named = [speaker for speaker in self._speakers if not words.isdisjoint(text.words(speaker))]
        return named[0] if len(named) == 1 else ""


def rank_by_recipe(conversation: Conversation, limit: int, work: Path) -> list[Ranking]:
    recipe = Recipe(conversation.turns)
    return [
        Ranking(recipe.rank(question.text, limit), recipe.confidence(question.text))
        for question in conversation.questions
    ]
