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
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from engram.store.types import EIGHTHS
from engram_host.companion.search.filters import WAYS, Mask, VisibleRows
from engram_host.companion.search.request import Weights
from engram_host.companion.search.tokenizer import term_id

K1 = 0.9
B_ENTRY = 0.4
B_SESSION = 0.2
LEAST_LENGTH = 20.0
"""Words: a shorter entry does not gain from being shorter."""

_KEY_WORDS = 4
"""Terms that each turn has beside its text: day, month, year and speaker."""

_LONE = 0.75
"""What stands beside a turn adds to its T: by a quarter less it is like that of what stands alone."""

Floats = NDArray[np.float64]
Counts = NDArray[np.uint8] | NDArray[np.int32]
"""How often some rows have a word, in eighths: a power of two changes no bit of a quotient of counts."""

Found = tuple[NDArray[np.int32], Counts]
"""Rows that have a word, each once, and how often. Rows that nobody may see are among them: each sum leaves those out, which
takes less time than to pick rows for each word.
"""

Places = NDArray[np.intp] | slice
EVERY = slice(None)


@dataclass
class BoardRows:
    """One board's rows in one search."""

    seen: VisibleRows
    lengths: Floats
    norms: Floats = field(default_factory=lambda: np.zeros(0))
    """What stands beside a count below the line of BM25, by the row's length, in eighths."""

    found: dict[str, Found] = field(default_factory=dict)
    own: Floats = field(default_factory=lambda: np.zeros(0))
    total: Floats = field(default_factory=lambda: np.zeros(0))
    sessions: Floats = field(default_factory=lambda: np.zeros(0))
    """S of each thread."""

    scores: Floats = field(default_factory=lambda: np.zeros(0))
    """The words side's score of each wanted row, 0 where it has none."""

    repeats: Mask = field(default_factory=lambda: np.zeros(0, np.bool_))
    """Turns in which whoever asks has asked for most of the same: they answer nothing."""

    def column(self, name: str) -> NDArray:
        """A column of the index's rows."""
        return self.seen.index.rows.column(name)


class WordScores:
    """The scores of all rows of some boards for the words of one query.

    `terms` says of each word whether only an identifier gave it: such a one adds to scores, and lacking it takes nothing.
    """

    def __init__(
        self,
        seen: list[VisibleRows],
        terms: dict[str, bool],
        weights: Weights,
    ):
        self.weights = weights
        self.boards = [_board_rows(one) for one in seen]
        self.terms = terms
        for board in self.boards:
            _find_terms(board, list(terms))
            board.repeats = _repeats(board)
        self.entries = sum(one.live_rows.totals.entries for one in seen)
        self.having: dict[str, int] = {}
        self._score_sessions()
        self.idf = {term: inverse_frequency(self.entries, having) for term, having in self.having.items()}
        self.full = sum(self.idf[term] for term in terms if not terms[term] or self.having[term])
        self.means = {turn: self._mean_length(turn) for turn in (False, True)}
        for board in self.boards:
            board.norms = self._norms(board)
            self._score_entries(board)
        self._join()

    @property
    def best_share(self) -> float:
        """How much of the weight of the query's words the best wanted entry has by itself."""
        best = max((float(board.own[board.seen.wanted].max(initial=0)) for board in self.boards), default=0.0)
        return best / self.full if self.full else 0.0

    def coverage(self, board: BoardRows, rows: Places = EVERY) -> Floats:
        """For some rows the share of the weight of the query's words that each and what stands beside it match, at most 1."""
        evidence = self.evidence(board, rows)
        return np.minimum(1, evidence / self.full) if self.full else np.zeros(len(evidence))

    def evidence(self, board: BoardRows, rows: Places = EVERY) -> Floats:
        """For some rows the weight of the query's words that each and what stands beside it match."""
        return board.total[rows] * np.array((1.0, _LONE)).take(board.column("turn")[rows].view(np.uint8))

    def saturated(self, board: BoardRows, rows: NDArray[np.intp], counts: Counts) -> Floats:
        """A word's part in B of the rows that have it so often, without its idf."""
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
        # In the order of the words, so the sum of a row is the same whatever rows there are.
        for term in self.terms:
            found, counts = board.found[term]
            rows = found.astype(np.intp)
            parts = self.saturated(board, rows, counts)
            parts *= self.idf[term]
            np.add.at(board.own, rows, parts)
        self._add_neighbours(board)

    def _add_neighbours(self, board: BoardRows) -> None:
        rows = board.seen.live_rows
        # One place more, which NONE leads to: there nobody gives.
        own = np.append(board.own, 0)
        own[rows.dead] = 0
        board.total = board.own.copy()
        for distance, share in self.shares:
            given = share * own
            for way in WAYS:
                board.total += given.take(rows.neighbours[way, distance])
        board.total[rows.wordless] = 0
        board.total[board.seen.unwanted] = 0

    @property
    def shares(self) -> tuple[tuple[int, float], ...]:
        """(how far, share): turns that stand so far beside another one give it so much of their own."""
        return (1, self.weights.near), (2, self.weights.far)

    # --- sessions

    def _score_sessions(self) -> None:
        """S: sessions of all boards are documents of one collection. `having` of entries is counted with it."""
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
            idf = inverse_frequency(documents, having)
            for board, (_, counts), norm in zip(self.boards, found, norms, strict=True):
                board.sessions += idf * counts * (K1 + 1) / (counts + norm)

    # --- records and turns in one order

    def _join(self) -> None:
        of_boards = [_best(board) for board in self.boards]
        best = {turn: max((one[turn] for one in of_boards), default=0.0) for turn in (False, True)}
        evidence = {False: best[False], True: best[True] * _LONE}
        self.best_evidence = evidence
        least = min((value for value in evidence.values() if value), default=0.0)
        # The better side is as it is, the other one less by the ratio; alone, a side is as it is.
        most = max(evidence.values())
        scales = {turn: least / most if value == least and least else 1.0 for turn, value in evidence.items()}
        sessions = [_of_thread(board) for board in self.boards]
        best_session = max((float(one.max(initial=0)) for one in sessions), default=0.0)
        self.factors = {turn: scales[turn] / best[turn] if best[turn] else 0.0 for turn in (False, True)}
        self.factors[False] *= self.weights.record
        self.session_factor = self.weights.session * scales[True] / best_session if best_session else 0.0
        for board, of_thread in zip(self.boards, sessions, strict=True):
            board.scores = _by_kind(board, self.factors[False], self.factors[True])
            board.scores *= board.total
            of_thread *= self.session_factor
            board.scores += of_thread
        self.top = max((float(one.scores.max(initial=0, where=~one.repeats)) for one in self.boards), default=0.0)


def _board_rows(seen: VisibleRows) -> BoardRows:
    return BoardRows(seen, seen.live_rows.lengths)


def _find_terms(board: BoardRows, terms: list[str]) -> None:
    """Look the words up; the words of a memory are found in its turns as well."""
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
    """Found rows with the turns of records among them; `by_row` is 0 for each row, before and after."""
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
    """The questions of whoever asks of which at least half of the words are the query's."""
    asking = board.column("question") & (board.column("who") == board.seen.index.speakers.find(board.seen.principal))
    if not asking.any():
        return asking
    having = np.zeros(len(asking), np.int32)
    for found, _ in board.found.values():
        having[found] += 1
    return asking & (having > 0) & (2 * having >= board.lengths - _KEY_WORDS)


def inverse_frequency(documents: int, having: int) -> float:
    """The weight of a word that `having` of all `documents` have."""
    return math.log(1 + (documents - having + 0.5) / (having + 0.5)) if documents else 0.0


def _count(board: BoardRows, found: NDArray[np.int32], counts: Counts) -> tuple[int, Floats]:
    """Of a word: how many live rows have it, and how often the live turns of each thread do."""
    size = len(board.seen.index.threads.texts)
    threads = board.seen.live_rows.live_threads.take(found)
    having = int(np.count_nonzero(threads <= size))
    return having, np.bincount(threads, counts, size + 2)[:size].astype(np.float64, copy=False)


def _best(board: BoardRows) -> dict[bool, float]:
    """The highest T of records (False) and turns (True)."""
    records = board.seen.live_rows.records
    turns = board.total.copy()
    turns[records] = 0
    turns[board.repeats] = 0
    return {False: float(board.total[records].max(initial=0)), True: float(turns.max(initial=0))}


def _of_thread(board: BoardRows) -> Floats:
    """S of the session of each turn that matches, 0 for other rows; NONE, which records have, leads to one place more."""
    of_thread = np.append(board.sessions, 0).take(board.column("thread"))
    of_thread *= board.total > 0  # to pick rows by a mask would take five times as long
    return of_thread


def _by_kind(board: BoardRows, of_record: float, of_turn: float) -> Floats:
    """One number for all records and another one for all turns."""
    numbers = np.full(len(board.lengths), of_turn)
    numbers[board.seen.live_rows.records] = of_record
    return numbers
