"""Fusion of both sides of a search, with points for dates and speakers that a query names.

    score = ((1 - w) (words / max words + e other / max other) + w meaning) x speaker x reply x importance + dates

words      the words side's score (bm25.py), max over all that is wanted
other      the same for words that only other wordings of the query have (expansion.py), if it has any; e is .3
meaning    (cosine - mean) / half of (1 - mean), at least 0; the mean is over what is wanted; 0 for what has no vector
w          by the shape of the query: see vector_weight()
speaker    1.4 for the only person whom the query names, if it is theirs
reply      .5 for what the assistant said, unless the query asks for it; .1 for a turn that only asks most of the same
importance .75 to 1.25 for a record, as on the board
dates      .15 for what was said on days that the query names by today, .05 for those of the calendar

Scores are fused and not ranks, since one side is weaker (docs/design/retrieval.md). A threshold belongs to a side, before
fusion: what one side does not take may still be found by the other.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engram.memory import line_meaning, ranking
from engram.text.days import Days, find_days
from engram_host.companion.search.bm25 import BoardRows, WordScores
from engram_host.companion.search.confidence import QUESTION, ConfidenceOf, value_of
from engram_host.companion.search.request import SearchRequest, Weights
from engram_host.companion.search.tokenizer import has_identifier
from engram_host.companion.search.vector_search import ROUNDING, SHORTLIST, VectorScores
from engram_host.time_zones import BoardZone

_DAY_SECONDS = 86400
_LAST_MOMENT = 1 << 32
_HUNDREDTH = 0.01
_EQUAL = 1e-6

Rows = NDArray[np.intp]

_find_days = lru_cache(maxsize=64)(find_days)


def days_of(at: NDArray[np.int64], zone: BoardZone) -> NDArray[np.int64]:
    offsets = np.full(at.shape, zone.standard, np.int64)
    if zone.rule and at.size:
        for first, end, minutes in zone.spans(max(int(at.min()), 0), min(int(at.max()), _LAST_MOMENT)):
            offsets[(first <= at) & (at < end)] = minutes
    return (at + offsets * 60) // _DAY_SECONDS


# --- fusion


SCORE_DIGITS = 9
"""Digits of a score that count; ties put the newer entry first."""

_HALF = 0.5
_QUOTED_OR_DIGIT = re.compile(r"[0-9]|\"[^\"]+\"|“[^”]+”|`[^`]+`|«[^»]+»")


@dataclass(frozen=True)
class Candidate:
    place: int

    row: int
    at: int
    id: str
    score: float
    words: float

    expansion: float

    meaning: float
    cosine: float | None
    coverage: float
    speaker: float

    reply: float

    importance: float
    dates: float
    confidence: float
    """Confidence before a record's authority, which its line holds."""

    confidence_parts: tuple[float, ...]


def vector_weight(query: str, words: WordScores | None, weights: Weights) -> tuple[float, str]:
    """Return (weight of meaning, reason), chosen by the shape of the query."""
    if words is None:
        return 1.0, "only meaning is searched"
    if weights.meaning is not None:
        return weights.meaning, "as asked for"
    if _QUOTED_OR_DIGIT.search(query) or has_identifier(query):
        return weights.exact, "the query has digits, a quotation or an identifier"
    if words.best_share < _HALF:
        return weights.paraphrase, "no entry has half of the query's words by weight"
    return weights.exact, "an entry has half of the query's words by weight or more"


def fuse(
    request: SearchRequest,
    words: WordScores | None,
    meaning: VectorScores | None,
    boards: list[BoardRows],
    weight: float,
    expansion: WordScores | None,
) -> list[Candidate]:
    """Return the candidates of both sides, best first by (score, at, device, id)."""
    by_words = [_by_words(board, words, request.min_words) for board in boards] if words else None
    others = _by_expansion(request, words, expansion) if words and expansion else None
    lexical = [one + other for one, other in zip(by_words, others, strict=True)] if by_words and others else by_words
    speaker = _named(request.query, boards)
    sure = ConfidenceOf(words, meaning)
    found: list[Candidate] = []
    for place, rows in enumerate(candidate_rows(request, lexical, meaning, len(boards))):
        if len(rows):
            scores = [side[place][rows] if side else np.zeros(len(rows)) for side in (by_words, others)]
            found += _candidates(request, place, boards[place], rows, scores, words, meaning, weight, speaker, sure)
    found.sort(key=lambda one: (-one.score, -one.at, boards[one.place].seen.index.name, one.id, -one.row))
    return found


def _by_words(board: BoardRows, words: WordScores, least: float) -> NDArray[np.float64]:
    scores = board.scores / words.top if words.top else np.zeros(len(board.lengths))
    return np.where(words.coverage(board) >= least, scores, 0) if least else scores


def _by_expansion(request: SearchRequest, words: WordScores, expansion: WordScores) -> list[NDArray[np.float64]]:
    share = request.weights.expansion / expansion.top if expansion.top else 0.0
    found = []
    for own, board in zip(words.boards, expansion.boards, strict=True):
        is_enough = words.coverage(own) >= request.min_words if request.min_words else True
        found.append(np.where(is_enough, share * board.scores, 0))
    return found


def _named(query: str, boards: list[BoardRows]) -> str:
    names: set[str] = set()
    for board in boards:
        names.update(board.seen.live_rows.speakers)
    return line_meaning.named_speaker(query, sorted(names), lambda label: True)


def _candidates(
    request: SearchRequest,
    place: int,
    board: BoardRows,
    rows: NDArray[np.intp],
    lexical: Sequence[NDArray[np.float64]],
    words: WordScores | None,
    meaning: VectorScores | None,
    weight: float,
    speaker: str,
    sure: ConfidenceOf,
) -> list[Candidate]:
    index = board.seen.index
    turn, at, number = (board.column(name)[rows] for name in ("turn", "at", "number"))
    cosines = meaning.exact_cosines(place, rows) if meaning else np.full(len(rows), np.nan)
    counts = ~np.isnan(cosines) & (np.nan_to_num(cosines) >= request.min_cosine)
    near = np.where(counts, meaning.share(np.nan_to_num(cosines)), 0) * weight if meaning else np.zeros(len(rows))
    of_words, of_others = (part * (1 - weight) for part in lexical)
    base = of_words + of_others + near
    is_theirs = board.column("who")[rows] == index.speakers.find(speaker) if speaker else np.zeros(len(rows), np.bool_)
    by_speaker = np.where(is_theirs & turn, base * (request.weights.speaker - 1), 0)
    halved = board.column("reply")[rows] & (not line_meaning.asks_replies(request.query))
    repeats = board.repeats[rows]
    taken = np.where(repeats, 1 - QUESTION, np.where(halved, 1 - request.weights.reply, 0))
    by_reply = -(base + by_speaker) * taken
    by_importance = np.where(turn, 0, base * (board.column("importance")[rows] / 200 - 0.25))
    by_date = _date_points(request, at, index.zone)
    certain = sure.of_rows(place, rows, cosines, halved, repeats, None if by_date is None else by_date > 0)
    by_date = np.zeros(len(rows)) if by_date is None else by_date
    scores = np.round(base + by_speaker + by_reply + by_importance + by_date, SCORE_DIGITS)
    coverage = words.coverage(board, rows) if words else np.zeros(len(rows))
    columns = (rows, at, turn, number, scores, of_words, of_others, near, cosines, coverage)
    columns += (by_speaker, by_reply, by_importance, by_date, value_of(certain))
    return [
        Candidate(
            place,
            row,
            at,
            f"{'t' if is_turn else 'm'}{id}",
            score,
            word,
            other,
            meant,
            None if cosine != cosine else cosine,
            *more,
            confidence_parts=parts,
        )
        for (row, at, is_turn, id, score, word, other, meant, cosine, *more), parts in zip(
            zip(*(c.tolist() for c in columns), strict=True), map(tuple, certain.tolist()), strict=True
        )
    ]


def days_named(request: SearchRequest, zone: BoardZone) -> Days | None:
    today = zone.day_of(request.now)
    return _find_days(request.query, today) if request.dates else None


def _date_points(request: SearchRequest, at: NDArray[np.int64], zone: BoardZone) -> NDArray[np.float64] | None:
    named = days_named(request, zone)
    if named is None:
        return None
    return _HUNDREDTH * np.array([ranking.points(named, day) for day in days_of(at, zone).tolist()], np.float64)


# --- maximal marginal relevance
#
#     next = the candidate with the highest  lambda score / best score - (1 - lambda) likeness to the likest one chosen
#
# Likeness is the cosine of two vectors, or, where one is missing, the share of words that two texts have in common.
# Source: Carbonell and Goldstein 1998, "The use of MMR, diversity-based reranking for reordering documents".


def mmr_order(
    scores: Sequence[float],
    vectors: NDArray[np.float64],
    has_vector: NDArray[np.bool_],
    words: Sequence[frozenset[str]],
    limit: int,
    share: float,
) -> list[int]:
    best = max(max(scores, default=0.0), 1e-12)
    relevance = np.array(scores) / best
    likest = np.zeros(len(scores))
    left = np.ones(len(scores), np.bool_)
    chosen: list[int] = []
    while len(chosen) < min(limit, len(scores)):
        value = np.round(share * relevance - (1 - share) * likest, SCORE_DIGITS)
        place = int(np.argmax(np.where(left, value, -np.inf)))
        chosen.append(place)
        left[place] = False
        likest = np.maximum(likest, _likeness(place, vectors, has_vector, words))
    return chosen


def _likeness(
    place: int, vectors: NDArray[np.float64], has_vector: NDArray[np.bool_], words: Sequence[frozenset[str]]
) -> NDArray[np.float64]:
    by_vector = np.maximum(0, (vectors * vectors[place]).sum(axis=1))
    if has_vector.all():
        return by_vector
    by_words = np.array([_shared(words[place], other) for other in words])
    return np.where(has_vector & has_vector[place], by_vector, by_words)


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0


# --- which rows may be an answer: the best of each side


def candidate_rows(
    request: SearchRequest,
    lexical: Sequence[NDArray[np.float64]] | None,
    meaning: VectorScores | None,
    boards: int,
) -> list[Rows]:
    count = request.depth * request.candidates
    found = _best(lexical, count, 0.0) if lexical else [np.zeros(0, np.intp)] * boards
    if meaning is None:
        return found
    nearest = _best(meaning.cosines, SHORTLIST * count, request.min_cosine - ROUNDING)
    meaning.load([np.union1d(rows, near) for rows, near in zip(found, nearest, strict=True)])
    cosines = [meaning.exact_cosines(place, rows) for place, rows in enumerate(nearest)]
    kept = _best(cosines, count, np.nextafter(request.min_cosine, -2))
    return [np.union1d(rows, near[at]) for rows, near, at in zip(found, nearest, kept, strict=True)]


def _best(scores: Sequence[NDArray], count: int, above: float) -> list[Rows]:
    found = [np.flatnonzero(one > above) for one in scores]
    values = [one[at] for one, at in zip(scores, found, strict=True)]
    every = np.concatenate(values)
    if len(every) <= count:
        return found
    least = float(np.partition(every, len(every) - count)[len(every) - count]) - _EQUAL
    return [at[of_one >= least] for at, of_one in zip(found, values, strict=True)]
