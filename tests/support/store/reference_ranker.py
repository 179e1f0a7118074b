"""The tuned ranker of docs/design/retrieval.md in floats, as the reference of the companion's.

B     = BM25 of the turn                                   k1 .9, b .4
T     = B + .4 B(turns before and after in the session) + .2 B(turns at distance 2)
S     = BM25 of the session's turns as one document        k1 .9, b .2
score = T / max T + .5 S / max S,  times 1.4 for the only speaker named in the query, .5 for a reply
"""

import math
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice

from engram import text
from engram.clock import MONTHS
from engram.memory import line_meaning
from engram.store.types import EIGHTHS, HEAD, MOST_TERMS
from engram_host.evaluation.sets import Turn

K1 = 0.9
NEIGHBOURS = {-2: 0.2, -1: 0.4, 1: 0.4, 2: 0.2}
SHORTEST = 20
"""Words of the shortest document length: shorter turns gain nothing."""

Document = dict[str, float]


def reference_scores(turns: list[Turn], query: str) -> dict[str, float]:
    """The score of each turn that is found, by its id."""
    terms = list(dict.fromkeys(text.terms(query)))
    documents = [_weighed(turn) for turn in turns]
    own = _bm25(documents, terms, 0.4, SHORTEST)
    totals = [
        score + sum(share * own[other] for other, share in _neighbours(turns, at)) for at, score in enumerate(own)
    ]
    sessions: dict[int, Counter[str]] = {}
    for turn, document in zip(turns, documents, strict=True):
        sessions.setdefault(turn.session, Counter()).update(document)  # pyright: ignore[reportArgumentType]
    prior = dict(zip(sessions, _bm25([dict(each) for each in sessions.values()], terms, 0.2, 0), strict=True))
    top, prior_top = max(totals), max(prior.values()) or 1.0
    words = set(text.words(query))
    named = [who for who in {turn.speaker for turn in turns} if not words.isdisjoint(text.words(who))]
    halves = not line_meaning.asks_replies(query)
    found = {}
    for turn, total in zip(turns, totals, strict=True):
        if total > 0:
            score = total / top + 0.5 * prior[turn.session] / prior_top
            score *= 1.4 if named == [turn.speaker] else 1
            found[turn.id] = score / 2 if halves and turn.role == "assistant" else score
    return found


def _neighbours(turns: list[Turn], at: int) -> Iterator[tuple[int, float]]:
    for distance, share in NEIGHBOURS.items():
        if 0 <= at + distance < len(turns) and turns[at + distance].session == turns[at].session:
            yield at + distance, share


def _weighed(turn: Turn) -> Document:
    day = datetime.fromtimestamp(turn.at, UTC)
    parts = (str(day.day), MONTHS[day.month - 1], str(day.year), turn.speaker, turn.text, turn.caption)
    found: Document = {}
    for at, term in enumerate(islice((term for part in parts for term in text.terms(part)), MOST_TERMS)):
        found[term] = found.get(term, 0) + (1 if at < HEAD else 1 / EIGHTHS)
    return found


def _bm25(documents: list[Document], terms: list[str], b: float, shortest: float) -> list[float]:
    having = Counter(term for document in documents for term in document)
    lengths = [sum(document.values()) for document in documents]
    mean = sum(lengths) / max(1, len(documents))
    weight = {term: math.log(1 + (len(documents) - having[term] + 0.5) / (having[term] + 0.5)) for term in terms}
    return [
        sum(
            weight[term]
            * document[term]
            * (K1 + 1)
            / (document[term] + K1 * (1 - b + b * max(length, shortest) / mean))
            for term in terms
            if term in document
        )
        for document, length in zip(documents, lengths, strict=True)
    ]
