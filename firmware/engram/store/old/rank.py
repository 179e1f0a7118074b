"""BM25 in integers, with the neighbours and the session of a turn as more evidence.

    B = BM25 of the row                                       k1 .9, b .4
    T = B + .3 B(row before in the session) + .1 B(row after)
    S = BM25 of all rows of the session as one document       k1 .9, b .2
    score = T / max T + .5 S / max S, times 1.2 for the speaker whom the query names

The idf is log(1 + (N - n + .5) / (n + .5)) over live rows. All weights are whole numbers below 2^30, so that ranks
are the same on single floats, doubles and the host, and no float is left on the heap. Ties go to the older row.
"""

import math

from engram.compat import const
from engram.store.old.index import NO_ROW

ONE = 4096
"""A score of 1: the best that the words alone can give within one answer."""

_MOST_TERMS = const(24)  # of a query: keeps sums below 2^30 and the time of a search bounded
_IDF_SCALE = const(1024)
_LARGEST = const(1 << 17)  # sums are scaled below this before they are multiplied by ONE
_FRACTION = const(16)  # of the mean length

# k1 * (1 - b) and k1 * b, in thousandths
_ROW_FLAT = const(540)
_ROW_SLOPE = const(360)
_SESSION_FLAT = const(720)
_SESSION_SLOPE = const(180)
_GAIN = const(121600)  # 64 * (k1 + 1), in thousandths


def inverse_frequency(documents: int, having: int) -> int:
    """The weight of a term that `having` of all `documents` have, times 1024."""
    having = min(having, documents)
    return int(_IDF_SCALE * math.log(1 + (documents - having + 0.5) / (having + 0.5)))


def weight(count: int, length: int, mean: int, flat: int, slope: int) -> int:
    """BM25's term weight times 64; `mean` is the mean length times 16."""
    return count * _GAIN // (count * 1000 + flat + slope * length * _FRACTION // mean)


def weights(frequencies) -> dict:
    """The idf of each term over several stores as if they were one; of each store (entries, {term: entries with it})."""
    documents = 0
    having = {}
    for count, counts in frequencies:
        documents += count
        for term in counts:
            having[term] = having.get(term, 0) + counts[term]
    return {term: inverse_frequency(documents, having[term]) for term in having}


def rank(index, terms, allowed, speaker_label: str = "", idfs=None) -> list:
    """[(score, row, T)], best first, of the live rows that match a term and that `allowed(row)` lets through."""
    rows, sessions = _evidence(index, distinct(terms), idfs)
    totals = _with_neighbours(index, rows)
    # What the asker may not see must not weigh in their scores either.
    totals = {row: total for row, total in totals.items() if allowed(row)}
    speakers = _row_set(index, speaker_label)
    top = max(totals.values()) if totals else 0
    session_top = max(sessions.values()) if sessions else 0
    shift = 0
    while top >> shift >= _LARGEST:
        shift += 1
    session_shift = 0
    while session_top >> session_shift >= _LARGEST:
        session_shift += 1
    ranked = []
    for row, total in totals.items():
        score = (total >> shift) * ONE // (top >> shift)
        prior = sessions.get(index.sessions[row], 0)
        if prior:
            score += (prior >> session_shift) * ONE // (session_top >> session_shift) // 2
        if row in speakers:
            score += score // 5
        ranked.append((-score, row, total))
    ranked.sort()
    for at in range(len(ranked)):
        score, row, total = ranked[at]
        ranked[at] = (-score, row, total)
    return ranked


def distinct(terms) -> list:
    """The first terms of a query, each once: as many as a search takes into account."""
    found = []
    for term in terms:
        if term not in found:
            found.append(term)
            if len(found) == _MOST_TERMS:
                break
    return found


def _evidence(index, terms, idfs) -> tuple:
    """B of each row times 65536, and S of each session likewise, as two dicts."""
    rows = {}
    sessions = {}
    mean = max(1, index.live_length * _FRACTION // max(1, index.live_rows))
    session_count = index.live_sessions()
    session_mean = max(1, index.live_length * _FRACTION // max(1, session_count))
    for term in terms:
        having = 0
        counts = {}
        for row, count in index.rows(term):
            having += 1
            session = index.sessions[row]
            if session != NO_ROW:
                counts[session] = counts.get(session, 0) + count
        if not having:
            continue
        idf = idfs[term] if idfs else inverse_frequency(index.live_rows, having)
        for row, count in index.rows(term):
            gain = weight(count, index.lengths[row], mean, _ROW_FLAT, _ROW_SLOPE)
            rows[row] = rows.get(row, 0) + gain * idf
        idf = inverse_frequency(session_count, len(counts)) if counts else 0
        for session, count in counts.items():
            length = index.session_lengths[session]
            gain = weight(min(count, 255), length, session_mean, _SESSION_FLAT, _SESSION_SLOPE)
            sessions[session] = sessions.get(session, 0) + gain * idf
    return rows, sessions


def _with_neighbours(index, rows) -> dict:
    """T of each row times ten: .3 from the row before, .1 from the row after. A row without words is never found."""
    totals = {}
    for row, score in rows.items():
        totals[row] = totals.get(row, 0) + 10 * score
        before = index.previous[row]
        if before != NO_ROW and index.live[before] and index.lengths[before]:
            totals[before] = totals.get(before, 0) + score
    for row in range(len(index)):
        before = index.previous[row]
        if before != NO_ROW and before in rows and index.live[row] and index.lengths[row]:
            totals[row] = totals.get(row, 0) + 3 * rows[before]
    return totals


def _row_set(index, label: str) -> set:
    return {row for row, _ in index.rows(label)} if label else set()
