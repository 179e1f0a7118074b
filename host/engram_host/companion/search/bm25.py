"""The words side of a search: BM25 with a turn's neighbours and its session as more evidence, as on the board.

    B = BM25 of an entry                                          k1 .9, b .4; a turn has the words of its memories too
        (words from the 33rd on count an eighth, and no entry counts as shorter than 20 words)
    T = B + near B of the turns beside it + far B of the next but one on either side
    S = BM25 of the session's turns as one document               k1 .9, b .2
    turn   = T / max T + session S / max S
    record = record T / max T, a record being a session of its own

in 64-bit floats, with idf = log(1 + (N - n + .5) / (n + .5)). N, n, mean lengths and maxima are over all the boards that
are searched. The side whose best entry matches less weight of words is scaled down by the ratio of the two, as in the
board's engram.memory.recall. Sums are taken in the order of the query's words, so the order of rows changes no bit.

Source: Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond"; weights:
docs/design/retrieval.md.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engram.memory.confidence import GROWN
from engram.store.types import EIGHTHS
from engram_host.companion.search.tokenizer import term_id
from engram_host.companion.search.view import WAYS, Mask, VisibleRows

K1 = 0.9
B_ENTRY = 0.4
B_SESSION = 0.2
LEAST_LENGTH = 20.0

_KEY_WORDS = 4

SHARES = ((1, 0.4), (2, 0.2))
"""Shares of B that a turn gives to those beside it, by distance: `near` and `far`."""

SESSION = 0.5
RECORD = 1.5

_LONE = 0.75
"""Share of T kept by a turn with neighbours, so that it compares with a lone one."""

Floats = NDArray[np.float64]
Counts = NDArray[np.uint8] | NDArray[np.int32]
"""Term counts per row in eighths; a power of two keeps quotients exact."""

Found = tuple[NDArray[np.int32], Counts]
"""Distinct rows that have a word, and the counts; includes rows that the caller may not see."""

Places = NDArray[np.intp] | slice
EVERY = slice(None)


@dataclass
class BoardRows:
    seen: VisibleRows
    lengths: Floats
    norms: Floats = field(default_factory=lambda: np.zeros(0))

    found: dict[str, Found] = field(default_factory=dict)
    own: Floats = field(default_factory=lambda: np.zeros(0))
    total: Floats = field(default_factory=lambda: np.zeros(0))
    sessions: Floats = field(default_factory=lambda: np.zeros(0))

    scores: Floats = field(default_factory=lambda: np.zeros(0))

    repeats: Mask = field(default_factory=lambda: np.zeros(0, np.bool_))
    """Turns of the asker that ask mostly the same; they are no answers."""

    def column(self, name: str) -> NDArray:
        return self.seen.index.rows.column(name)


class WordScores:
    """BM25 scores of all rows; `terms` maps each word to True if only an identifier gave it.

    In a young memory, where each word is rare, those that say nothing weigh nothing: those without any of `content`.
    """

    def __init__(self, seen: list[VisibleRows], terms: dict[str, bool], content: Collection[str] = ()):
        self.boards = [BoardRows(one, one.live_rows.lengths) for one in seen]
        self.terms = terms
        for board in self.boards:
            _find_terms(board, list(terms))
            board.repeats = _repeats(board)
        self.entries = sum(one.live_rows.totals.entries for one in seen)
        # A term of Han is two characters, and content is single ones.
        said = {term for term, added in terms.items() if added or not set(content).isdisjoint((term, *term))}
        self._light = terms.keys() - said if content and self.entries < GROWN else ()
        self.having: dict[str, int] = {}
        self._score_sessions()
        self.idf = {term: self._weight(term, self.entries, having) for term, having in self.having.items()}
        self.full = sum(self.idf[term] for term in terms if not terms[term] or self.having[term])
        self.means = {turn: self._mean_length(turn) for turn in (False, True)}
        for board in self.boards:
            board.norms = self._norms(board)
            self._score_entries(board)
        self._join()

    @property
    def best_share(self) -> float:
        best = max((float(board.own[board.seen.wanted].max(initial=0)) for board in self.boards), default=0.0)
        return best / self.full if self.full else 0.0

    def coverage(self, board: BoardRows, rows: Places = EVERY) -> Floats:
        """Return the matched share of the query's weight per row, neighbours included, at most 1."""
        evidence = self.evidence(board, rows)
        return np.minimum(1, evidence / self.full) if self.full else np.zeros(len(evidence))

    def evidence(self, board: BoardRows, rows: Places = EVERY) -> Floats:
        return board.total[rows] * np.array((1.0, _LONE)).take(board.column("turn")[rows].view(np.uint8))

    def saturated(self, board: BoardRows, rows: NDArray[np.intp], counts: Counts) -> Floats:
        parts = np.multiply(counts, K1 + 1, dtype=np.float64)
        norms = board.norms.take(rows)
        norms += counts
        parts /= norms
        return parts

    # --- entries

    def _mean_length(self, turn: bool) -> float:
        totals = [board.seen.live_rows.totals for board in self.boards]
        count, length = sum(one.count[turn] for one in totals), sum(one.length[turn] for one in totals)
        return length / count if count else 1.0

    def _norms(self, board: BoardRows) -> Floats:
        kept, means = board.seen.live_rows.norms, (self.means[False], self.means[True])
        if means in kept:
            return kept[means]
        norms = np.maximum(board.lengths, LEAST_LENGTH)
        norms *= B_ENTRY
        norms /= _by_kind(board, *means)
        norms += 1 - B_ENTRY
        norms *= K1 * EIGHTHS
        kept.clear()
        kept[means] = norms
        return norms

    def _score_entries(self, board: BoardRows) -> None:
        board.own = np.zeros(len(board.lengths))
        # In the order of the words, so a row's sum does not depend on the order of rows.
        for term in self.terms:
            found, counts = board.found[term]
            rows = found.astype(np.intp)
            parts = self.saturated(board, rows, counts)
            parts *= self.idf[term]
            np.add.at(board.own, rows, parts)
        self._add_neighbours(board)

    def _add_neighbours(self, board: BoardRows) -> None:
        rows = board.seen.live_rows
        # One extra element for NONE, always 0.
        own = np.append(board.own, 0)
        own[rows.dead] = 0
        own[:-1][board.repeats] = 0  # what stands beside a question is no answer to it
        board.total = board.own.copy()
        for distance, share in SHARES:
            given = share * own
            for way in WAYS:
                board.total += given.take(rows.neighbours[way, distance])
        board.total[rows.wordless] = 0
        board.total[board.seen.unwanted] = 0

    # --- sessions

    def _score_sessions(self) -> None:
        lengths = [board.seen.live_rows.thread_lengths for board in self.boards]
        documents = sum(int(np.count_nonzero(length)) for length in lengths)
        mean = sum(float(length.sum()) for length in lengths) / max(1, documents)
        norms = [
            EIGHTHS * (K1 * (1 - B_SESSION + B_SESSION * length / mean) if mean else np.ones(len(length)))
            for length in lengths
        ]
        for board, length in zip(self.boards, lengths, strict=True):
            board.sessions = np.zeros(len(length))
        for term in self.terms:
            found = [_count(board, *board.found[term]) for board in self.boards]
            self.having[term] = sum(having for having, _ in found)
            having = min(documents, sum(int(np.count_nonzero(counts)) for _, counts in found))
            idf = self._weight(term, documents, having)
            for board, (_, counts), norm in zip(self.boards, found, norms, strict=True):
                board.sessions += idf * counts * (K1 + 1) / (counts + norm)

    def _weight(self, term: str, documents: int, having: int) -> float:
        return 0.0 if term in self._light else inverse_frequency(documents, having)

    # --- records and turns in one order

    def _join(self) -> None:
        of_boards = [_best(board) for board in self.boards]
        best = {turn: max((one[turn] for one in of_boards), default=0.0) for turn in (False, True)}
        evidence = {False: best[False], True: best[True] * _LONE}
        self.best_evidence = evidence
        least = min((value for value in evidence.values() if value), default=0.0)
        # The better side keeps its scores, the other is scaled by the ratio.
        most = max(evidence.values())
        scales = {turn: least / most if value == least and least else 1.0 for turn, value in evidence.items()}
        sessions = [_of_thread(board) for board in self.boards]
        best_session = max((float(one.max(initial=0)) for one in sessions), default=0.0)
        self.factors = {turn: scales[turn] / best[turn] if best[turn] else 0.0 for turn in (False, True)}
        self.factors[False] *= RECORD
        self.session_factor = SESSION * scales[True] / best_session if best_session else 0.0
        for board, of_thread in zip(self.boards, sessions, strict=True):
            board.scores = _by_kind(board, self.factors[False], self.factors[True])
            board.scores *= board.total
            of_thread *= self.session_factor
            board.scores += of_thread
        self.top = max((float(one.scores.max(initial=0, where=~one.repeats)) for one in self.boards), default=0.0)


def _find_terms(board: BoardRows, terms: list[str]) -> None:
    records, turns = board.seen.live_rows.pairs
    by_row = np.zeros(len(board.lengths), np.int32)
    for term in terms:
        found, counts = board.seen.index.postings.find(term_id(term))
        if len(records):
            found, counts = _found_in_turns(found, counts, records, turns, by_row)
        board.found[term] = (found, counts)


def _found_in_turns(
    found: NDArray[np.int32],
    counts: Counts,
    records: NDArray[np.int32],
    turns: NDArray[np.int32],
    by_row: NDArray[np.int32],
) -> Found:
    """Add the turns of the found records; `by_row` must be all zeros and is left so."""
    by_row[found] = counts
    having = np.flatnonzero(by_row.take(records))
    if len(having):
        turns, more = turns[having], by_row[records[having]]
        new = np.sort(turns[by_row[turns] == 0])
        new = new[np.diff(new, prepend=-1) > 0]  # each once: numpy.unique takes ten times as long
        np.add.at(by_row, turns, more)
        found = np.concatenate([found, new])
        counts = by_row.take(found)
    by_row[found] = 0
    return found, counts


def _repeats(board: BoardRows) -> Mask:
    asking = board.column("question") & (board.column("who") == board.seen.index.speakers.find(board.seen.principal))
    if not asking.any():
        return asking
    having = np.zeros(len(asking), np.int32)
    for found, _ in board.found.values():
        having[found] += 1
    return asking & (having > 0) & (2 * having >= board.lengths - _KEY_WORDS)


def inverse_frequency(documents: int, having: int) -> float:
    return math.log(1 + (documents - having + 0.5) / (having + 0.5)) if documents else 0.0


def _count(board: BoardRows, found: NDArray[np.int32], counts: Counts) -> tuple[int, Floats]:
    size = len(board.seen.index.threads.texts)
    threads = board.seen.live_rows.live_threads.take(found)
    having = int(np.count_nonzero(threads <= size))
    return having, np.bincount(threads, counts, size + 2)[:size].astype(np.float64, copy=False)


def _best(board: BoardRows) -> dict[bool, float]:
    records = board.seen.live_rows.records
    turns = board.total.copy()
    turns[records] = 0
    turns[board.repeats] = 0
    return {False: float(board.total[records].max(initial=0)), True: float(turns.max(initial=0))}


def _of_thread(board: BoardRows) -> Floats:
    of_thread = np.append(board.sessions, 0).take(board.column("thread"))
    of_thread *= board.total > 0  # to pick rows by a mask would take five times as long
    return of_thread


def _by_kind(board: BoardRows, of_record: float, of_turn: float) -> Floats:
    numbers = np.full(len(board.lengths), of_turn)
    numbers[board.seen.live_rows.records] = of_record
    return numbers
