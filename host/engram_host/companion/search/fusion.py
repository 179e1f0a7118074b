"""Fusion of both sides of a search, with points for dates and speakers that a query names, and the confidence.

    score = ((1 - w) words / max words + w meaning) x speaker x reply x importance + dates

words      the words side's score (bm25.py), max over all that is wanted
meaning    (cosine - mean) / half of (1 - mean), at least 0; the mean is over what is wanted; 0 for what has no vector
w          by the shape of the query: see vector_weight()
speaker    1.4 for the only person whom the query names, if it is theirs
reply      .5 for what the assistant said, unless the query asks for it; .1 for a turn that only asks most of the same
importance .75 to 1.25 for a record, as on the board
dates      .15 for what was said on days that the query names by today, .05 for those of the calendar

Scores are fused and not ranks, since one side is weaker (docs/design/retrieval.md).
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engram.memory import confidence, line_meaning, ranking
from engram.text.times import Days, find_days
from engram_host.companion.search.bm25 import BoardRows, Floats, WordScores, inverse_frequency
from engram_host.companion.search.request import SearchRequest
from engram_host.companion.search.tokenizer import has_identifier
from engram_host.companion.search.view import ROUNDING, SHORTLIST, VectorScores, VisibleRows
from engram_host.companion.types import LogName
from engram_host.time_zones import BoardZone

SPEAKER = 1.4
REPLY = 0.5
EXACT, PARAPHRASE = 0.2, 0.4
"""Weights of meaning, for a query whose words an entry has and for others."""

MOST_CANDIDATES = 8000
"""Maximum candidates per side before fusion."""

_DAY_SECONDS = 86400
_LAST_MOMENT = 1 << 32
_PER_CENT = 0.01
_THOUSANDTH = 0.001
_IDF = 1024
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
    seq: int
    score: float
    words: float

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

    @property
    def log(self) -> LogName:
        return "journal" if self.id[0] == "t" else "records"


def vector_weight(query: str, words: WordScores | None, wanted: float | None) -> tuple[float, str]:
    """Return (weight of meaning, reason): the wanted one, or chosen by the shape of the query."""
    if words is None:
        return 1.0, "only meaning is searched"
    if wanted is not None:
        return wanted, "as asked for"
    if _QUOTED_OR_DIGIT.search(query) or has_identifier(query):
        return EXACT, "the query has digits, a quotation or an identifier"
    if words.best_share < _HALF:
        return PARAPHRASE, "no entry has half of the query's words by weight"
    return EXACT, "an entry has half of the query's words by weight or more"


def fuse(
    request: SearchRequest,
    now: int,
    words: WordScores | None,
    meaning: VectorScores | None,
    boards: list[BoardRows],
    weight: float,
    confidence: "Confidence",
    of_days: Sequence[Floats] | None,
) -> list[Candidate]:
    """Return the candidates of both sides, best first by (score, at, device, id)."""
    lexical = [_share_of_top(board, words) for board in boards] if words else None
    fusion = _Fusion(request, now, words, meaning, weight, _named(request.query, boards), confidence)
    found: list[Candidate] = []
    for place, rows in enumerate(candidate_rows(request, of_days or lexical, meaning, len(boards))):
        if len(rows):
            scores = lexical[place][rows] if lexical else np.zeros(len(rows))
            found += fusion.candidates(place, boards[place], rows, scores)
    found.sort(key=lambda one: (-one.score, -one.at, boards[one.place].seen.index.name, one.id, -one.row))
    return found


def _share_of_top(board: BoardRows, words: WordScores) -> Floats:
    # Without a top only turns match that ask mostly the same.
    return board.scores / words.top if words.top else np.zeros(len(board.scores))


def _named(query: str, boards: list[BoardRows]) -> str:
    names: set[str] = set()
    for board in boards:
        names.update(board.seen.live_rows.speakers)
    return line_meaning.named_speaker(query, sorted(names), lambda label: True)


class _Fusion:
    def __init__(
        self,
        request: SearchRequest,
        now: int,
        words: WordScores | None,
        meaning: VectorScores | None,
        weight: float,
        speaker: str,
        confidence: "Confidence",
    ):
        self._request = request
        self._now = now
        self._words = words
        self._meaning = meaning
        self._weight = weight
        self._speaker = speaker
        self._confidence = confidence

    def candidates(self, place: int, board: BoardRows, rows: Rows, lexical: Floats) -> list[Candidate]:
        index, meaning, weight = board.seen.index, self._meaning, self._weight
        turn, at, number, seq = (board.column(name)[rows] for name in ("turn", "at", "number", "seq"))
        cosines = meaning.exact(place, rows) if meaning else np.full(len(rows), np.nan)
        counts = ~np.isnan(cosines) & (np.nan_to_num(cosines) >= meaning.floor if meaning else False)
        near = np.where(counts, meaning.share(np.nan_to_num(cosines)), 0) * weight if meaning else np.zeros(len(rows))
        of_words = lexical * (1 - weight)
        base = of_words + near
        speaker = index.speakers.find(self._speaker) if self._speaker else None
        is_theirs = board.column("who")[rows] == speaker if speaker is not None else np.zeros(len(rows), np.bool_)
        by_speaker = np.where(is_theirs & turn, base * (SPEAKER - 1), 0)
        halved = board.column("reply")[rows] & (not line_meaning.asks_replies(self._request.query))
        repeats = board.repeats[rows]
        taken = np.where(repeats, 1 - QUESTION, np.where(halved, 1 - REPLY, 0))
        by_reply = -(base + by_speaker) * taken
        by_importance = np.where(turn, 0, base * (board.column("importance")[rows] / 200 - 0.25))
        by_date = _date_points(self._request, self._now, at, index.zone)
        certain = self._confidence.of_rows(
            place, rows, cosines=cosines, is_reply=halved, repeats=repeats, points=by_date
        )
        by_date = np.zeros(len(rows)) if by_date is None else by_date
        scores = np.round(base + by_speaker + by_reply + by_importance + by_date, SCORE_DIGITS)
        coverage = self._words.coverage(board, rows) if self._words else np.zeros(len(rows))
        columns = (rows, at, turn, number, seq, scores, of_words, near, cosines, coverage)
        columns += (by_speaker, by_reply, by_importance, by_date, value_of(certain))
        return [
            Candidate(
                place,
                row,
                at,
                f"{'t' if is_turn else 'm'}{id}",
                seq,
                score,
                word,
                meant,
                None if cosine != cosine else cosine,
                *more,
                confidence_parts=parts,
            )
            for (row, at, is_turn, id, seq, score, word, meant, cosine, *more), parts in zip(
                zip(*(c.tolist() for c in columns), strict=True), map(tuple, certain.tolist()), strict=True
            )
        ]


def days_named(request: SearchRequest, now: int, zone: BoardZone) -> Days | None:
    return _find_days(request.query, int(days_of(np.array([now]), zone)[0])) if request.dates else None


def on_days(days: Days, seen: Sequence[VisibleRows]) -> list[Floats] | None:
    """Return 1 for what people said and kept on some days, 0 for the rest; None if there is nothing."""
    found = []
    for one in seen:
        columns = one.index.rows
        days_of_rows = days_of(columns.column("at"), one.index.zone)
        is_of_days = (days.first <= days_of_rows) & (days_of_rows <= days.last)
        found.append((one.wanted & is_of_days & ~columns.column("reply")).astype(np.float64))
    return found if any(one.any() for one in found) else None


def _date_points(request: SearchRequest, now: int, at: NDArray[np.int64], zone: BoardZone) -> Floats | None:
    named = days_named(request, now, zone)
    if named is None:
        return None
    return _PER_CENT * np.array([ranking.points(named, day) for day in days_of(at, zone).tolist()], np.float64)


# --- which rows may be an answer: the best of each side


def candidate_rows(
    request: SearchRequest, lexical: Sequence[Floats] | None, meaning: VectorScores | None, boards: int
) -> list[Rows]:
    count = min((request.offset + request.limit) * request.candidates, MOST_CANDIDATES)
    found = _best(lexical, count, 0.0) if lexical else [np.zeros(0, np.intp)] * boards
    if meaning is None:
        return found
    nearest = _best(meaning.cosines, SHORTLIST * count, meaning.floor - ROUNDING)
    meaning.load([np.union1d(rows, near) for rows, near in zip(found, nearest, strict=True)])
    cosines = [meaning.exact(place, rows) for place, rows in enumerate(nearest)]
    kept = _best(cosines, count, np.nextafter(meaning.floor, -2))
    return [np.union1d(rows, near[at]) for rows, near, at in zip(found, nearest, kept, strict=True)]


def _best(scores: Sequence[NDArray], count: int, above: float) -> list[Rows]:
    found = [np.flatnonzero(one > above) for one in scores]
    values = [one[at] for one, at in zip(scores, found, strict=True)]
    every = np.concatenate(values)
    if len(every) <= count:
        return found
    least = float(np.partition(every, len(every) - count)[len(every) - count]) - _EQUAL
    return [at[of_one >= least] for at, of_one in zip(found, values, strict=True)]


# --- confidence that an entry is an answer, 0 to 1: the board's engram.memory.confidence plus meaning
#
#     confidence = (words + meaning) / 2 x authority x days x agreement  of one entry; a side alone without the other
#
# words      c (2 - c) of the share c of the known words, by weight, that an entry and what stands beside it match, times
#            the share of known words among all, times how much weight that is, less half of that of the unknown words;
#            the latter two as among _MANY entries at least: in a memory of a few every new word would be rare
# meaning    how far the cosine is on the way to 1 from that of texts which have nothing to do with each other, less a bit
# authority  who says so: a pinned memory, one that a model made, the assistant's own words
# days       whether it is of the days that the query names, if it names some
# agreement  a memory and a turn that both have most of the query's words
#
# A search has the confidence of its best entry that both words and meaning find.

_MANY = 1000
_ENOUGH, _AT_LEAST = 20.0, 4.0

_UNRELATED = 0.05

_MOST_OF = 2 / 3

QUESTION = confidence.QUESTION * _PER_CENT

PARTS = ("words", "meaning", "authority", "days", "agreement")
"""Names of a confidence's parts: two sides (NaN if not searched), then factors."""

_SIDES = 2


def parts_shown(parts: Sequence[float]) -> tuple[tuple[str, float], ...]:
    """Return the searched sides and the effective factors of one row, by name."""
    named = list(zip(PARTS, parts, strict=True))
    sides = [(what, part) for what, part in named[:_SIDES] if not math.isnan(part)]
    return (*sides, *((what, part) for what, part in named[_SIDES:] if part != 1))


def value_of(parts: Floats) -> Floats:
    sides = parts[:, :_SIDES]
    searched = ~np.isnan(sides)
    mean = np.where(searched, sides, 0).sum(axis=1) / np.maximum(1, searched.sum(axis=1))
    return np.minimum(1, mean * parts[:, _SIDES:].prod(axis=1))


class Confidence:
    """Scorer of a search's confidence in its candidates; either side may be None."""

    def __init__(self, words: WordScores | None, meaning: VectorScores | None, content: list[str], is_of_days: bool):
        self._words = words
        self._content = content
        self._is_of_days = is_of_days
        idfs = {term: round(_IDF * weight) for term, weight in words.idf.items()} if words else {}
        self._certainty = confidence.Certainty(None, content, idfs, words.entries if words else _MANY)
        self._weights = _weights_of(words) if words else None
        self._meaning = meaning
        self._agreed = _agreed_evidence(words) if words else np.inf

    def of_rows(
        self,
        place: int,
        rows: Rows,
        *,
        cosines: Floats,
        is_reply: NDArray[np.bool_],
        repeats: NDArray[np.bool_],
        points: Floats | None,
    ) -> Floats:
        """Return PARTS of some rows, shape (len(rows), 5), without a record's own authority; `points` are for dates."""
        parts = np.ones((len(rows), len(PARTS)))
        parts[:, :_SIDES] = np.nan
        if not self._content:
            parts[:, 0] = confidence.OWN_WORDS * _THOUSANDTH if self._is_of_days else 0
            return parts
        if self._words and self._weights:
            evidence = self._words.evidence(self._words.boards[place], rows)
            parts[:, 0] = _of_words(self._weights, evidence)
            parts[evidence >= self._agreed, 4] = confidence.AGREED * _PER_CENT
        if self._meaning:
            parts[:, 1] = _of_meaning(self._meaning, cosines)
        parts[is_reply, 2] = confidence.OF_REPLY * _PER_CENT
        parts[repeats, 2] = QUESTION
        if points is not None:
            parts[:, 3] = np.where(points > 0, confidence.ON_DAYS, confidence.OFF_DAYS) * _PER_CENT
        return parts

    def with_line(self, candidate: Candidate, line: dict[str, Any], said: str) -> tuple[float, ...]:
        """Return the parts with what a line says: a record's authority, and the words of a young memory."""
        words, meaning, authority, *others = candidate.confidence_parts
        if candidate.coverage and self._content and self._certainty.weights is not None:
            # Twice as much, averaged with the meaning, gives the words and half of the meaning.
            words = (1 if math.isnan(meaning) else 2) * self._certainty.of_own_words(said) * _THOUSANDTH
        if "content" in line:
            authority = confidence.of_record(line) * _PER_CENT
        return (words, meaning, authority, *others)


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
    base = max(meaning.mean, meaning.floor)
    away = (np.nan_to_num(cosines, nan=base) - base) / max(1e-6, 1 - base)
    return np.clip((away - _UNRELATED) / (1 - _UNRELATED), 0, 1)


def _agreed_evidence(words: WordScores) -> float:
    best = [*words.best_evidence.values()]
    least = max(best) * _MOST_OF
    return least if 0 < least <= min(best) else np.inf
