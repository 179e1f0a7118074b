"""The tuned ranker of docs/design/retrieval.md in floats, for comparison: the board's ranks with nothing rounded off.

    B     = BM25 of the turn                                   k1 .9, b .4
    T     = B + .4 B(turns before and after in the session) + .2 B(next but one on either side)
    S     = BM25 of the session's turns as one document        k1 .9, b .2
    score = T / max T + .5 S / max S,  times 1.2 for the only speaker whom the query names

Words are cut up by the firmware's own engram.text, so that a difference is one of ranking.
"""

import math
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from engram import text
from engram.clock import MONTHS
from engram_host.evaluation.sets import Conversation, Turn

K1 = 0.9
NEIGHBOURS = {-2: 0.2, -1: 0.4, 1: 0.4, 2: 0.2}
"""What T takes of the turns that stand so far from a turn in its session."""


class Bm25:
    """BM25 over some documents, each a Counter of terms."""

    def __init__(self, documents: list[Counter[str]], b: float):
        self._documents = documents
        self._b = b
        self._having = Counter(term for document in documents for term in document)
        self._mean = sum(document.total() for document in documents) / max(1, len(documents))

    def scores(self, terms: list[str]) -> list[float]:
        """The score of each document."""
        weights = {term: self._weight(self._having[term]) for term in terms}
        return [self._score(document, weights) for document in self._documents]

    def _weight(self, having: int) -> float:
        return math.log(1 + (len(self._documents) - having + 0.5) / (having + 0.5))

    def _score(self, document: Counter[str], weights: dict[str, float]) -> float:
        flat = K1 * (1 - self._b + self._b * document.total() / self._mean)
        return sum(
            weight * document[term] * (K1 + 1) / (document[term] + flat)
            for term, weight in weights.items()
            if term in document
        )


def turn_terms(turn: Turn) -> Iterator[str]:
    """The terms by which a turn is found."""
    day = datetime.fromtimestamp(turn.at, UTC)
    for part in (str(day.day), MONTHS[day.month - 1], str(day.year), turn.speaker, turn.text, turn.caption):
        yield from text.terms(part)


class Recipe:
    """The ranker over one conversation."""

    def __init__(self, turns: list[Turn]):
        self._turns = turns
        documents = [Counter(turn_terms(turn)) for turn in turns]
        self._turn_scores = Bm25(documents, 0.4)
        self._sessions = sorted({turn.session for turn in turns})
        whole = [
            sum(
                (document for document, turn in zip(documents, turns, strict=True) if turn.session == session),
                Counter(),
            )
            for session in self._sessions
        ]
        self._session_scores = Bm25(whole, 0.2)
        self._speakers = sorted({turn.speaker for turn in turns})

    def rank(self, query: str, limit: int) -> list[str]:
        """The ids of the turns that fit a query, best first."""
        scored = sorted((-score, number) for number, score in self.scores(query).items())
        return [self._turns[number].id for _, number in scored[:limit]]

    def scores(self, query: str) -> dict[int, float]:
        """The score of each turn that fits a query, by its place."""
        terms = list(dict.fromkeys(text.terms(query)))
        totals = self._with_neighbours(self._turn_scores.scores(terms))
        prior = dict(zip(self._sessions, self._session_scores.scores(terms), strict=True))
        top, prior_top = max(totals), max(prior.values()) or 1.0
        named = self._named(query)
        scored = {}
        for number, (turn, total) in enumerate(zip(self._turns, totals, strict=True)):
            if total > 0:
                score = total / top + 0.5 * prior[turn.session] / prior_top
                scored[number] = score * (1.2 if turn.speaker == named else 1)
        return scored

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


def rank(conversation: Conversation, limit: int, work: Path) -> list[list[str]]:
    """An engine (see run.py)."""
    recipe = Recipe(conversation.turns)
    return [recipe.rank(question.text, limit) for question in conversation.questions]
