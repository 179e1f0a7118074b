"""Confidence that an entry is an answer, 0 to 1: the board's engram.memory.confidence plus meaning.

    confidence = (words + meaning) / 2 x authority x days x agreement    of one entry; a side alone without the other

words      c (2 - c) of the share c of the known words, by weight, that an entry and what stands beside it match, times the
           share of known words among all, times how much weight that is, less half of that of the unknown words; the latter
           two as among _MANY entries at least: in a memory of a few every new word would be rare
meaning    how far the cosine is on the way to 1 from that of texts which have nothing to do with each other, less a bit
authority  who says so: a pinned memory, one that a model made, the assistant's own words
days       whether it is of the days that the query names, if it names some
agreement  a memory and a turn that both have most of the query's words

A search has the confidence of its best entry that both words and meaning find.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engram.memory import confidence as board
from engram_host.companion.search.bm25 import Floats, WordScores, inverse_frequency
from engram_host.companion.search.vector_search import VectorScores

_MANY = 1000
_ENOUGH, _AT_LEAST = 20.0, 4.0

_UNRELATED = 0.05

_MOST_OF = 2 / 3

_PER_CENT = 0.01

QUESTION = board.QUESTION * _PER_CENT

PARTS = ("words", "meaning", "authority", "days", "agreement")
"""Names of a confidence's parts: two sides (NaN if not searched), then factors."""

_SIDES = 2


def parts_shown(parts: Sequence[float]) -> tuple[tuple[str, float], ...]:
    """Return the searched sides and the effective factors of one row, by name."""
    named = list(zip(PARTS, parts, strict=True))
    sides = [(what, part) for what, part in named[:_SIDES] if not math.isnan(part)]
    return (*sides, *((what, part) for what, part in named[_SIDES:] if part != 1))


def with_record(parts: Sequence[float], record: dict[str, Any]) -> tuple[float, ...]:
    """Return the parts with the authority of a record's line."""
    at = PARTS.index("authority")
    return (*parts[:at], board.of_record(record) * _PER_CENT, *parts[at + 1 :])


def value_of(parts: Floats) -> Floats:
    sides = parts[:, :_SIDES]
    searched = ~np.isnan(sides)
    mean = np.where(searched, sides, 0).sum(axis=1) / np.maximum(1, searched.sum(axis=1))
    return np.minimum(1, mean * parts[:, _SIDES:].prod(axis=1))


class ConfidenceOf:
    """Scorer of a search's confidence in its candidates; either side may be None."""

    def __init__(self, words: WordScores | None, meaning: VectorScores | None):
        self._words = words
        self._weights = _weights_of(words) if words else None
        self._meaning = meaning
        self._agreed = _agreed_evidence(words) if words else np.inf

    def of_rows(
        self,
        place: int,
        rows: NDArray[np.intp],
        cosines: NDArray[np.float64],
        is_reply: NDArray[np.bool_],
        repeats: NDArray[np.bool_],
        is_on_days: NDArray[np.bool_] | None,
    ) -> Floats:
        """Return PARTS of some rows, shape (len(rows), 5), without a record's own authority."""
        parts = np.ones((len(rows), len(PARTS)))
        parts[:, :_SIDES] = np.nan
        if self._words and self._weights:
            evidence = self._words.evidence(self._words.boards[place], rows)
            parts[:, 0] = _of_words(self._weights, evidence)
            parts[evidence >= self._agreed, 4] = board.AGREED * _PER_CENT
        if self._meaning:
            parts[:, 1] = _of_meaning(self._meaning, cosines)
        parts[is_reply, 2] = board.OF_REPLY * _PER_CENT
        parts[repeats, 2] = QUESTION
        if is_on_days is not None:
            parts[:, 3] = np.where(is_on_days, board.of_days(True), board.of_days(False)) * _PER_CENT
        return parts


@dataclass(frozen=True)
class _Weights:
    most: float
    known: float
    unknown: float


def _weights_of(words: WordScores) -> _Weights:
    entries = max(words.entries, _MANY)
    return _Weights(
        sum(words.idf[term] for term, having in words.having.items() if having),
        sum(inverse_frequency(entries, having) for having in words.having.values() if having),
        sum(
            inverse_frequency(entries, 0)
            for term, having in words.having.items()
            if not having and not words.terms[term]
        ),
    )


def _of_words(weights: _Weights, evidence: Floats) -> Floats:
    if not weights.most:
        return np.zeros(len(evidence))
    covered = evidence / weights.most
    amount = np.clip((covered * weights.known + _AT_LEAST - weights.unknown / 2) / _ENOUGH, 0, 1)
    covered = np.minimum(1, covered)
    return covered * (2 - covered) * weights.known / (weights.known + weights.unknown) * amount


def _of_meaning(meaning: VectorScores, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
    base = (meaning.mean + meaning.unrelated) / 2
    away = (np.nan_to_num(cosines, nan=base) - base) / max(1e-6, 1 - base)
    return np.clip((away - _UNRELATED) / (1 - _UNRELATED), 0, 1)


def _agreed_evidence(words: WordScores) -> float:
    best = [*words.best_evidence.values()]
    least = max(best) * _MOST_OF
    return least if 0 < least <= min(best) else np.inf
