"""What a score is made of, and why an answer is empty or leaves something out."""

import numpy as np

from engram_host.companion.search.bm25 import BoardRows, WordScores, walk_threads
from engram_host.companion.search.columns import NONE
from engram_host.companion.search.fusion import Candidate
from engram_host.companion.search.request import Explanation, Part, SearchRequest

_SHOWN_WORDS = 8


def explain(candidate: Candidate, board: BoardRows, words: WordScores | None) -> Explanation:
    """The points of each part of a candidate's score."""
    named: list[Part] = []
    beside: list[Part] = []
    session = 0.0
    if words and candidate.words:
        turn = bool(board.column("turn")[candidate.row])
        # What the words side gave in all is shared out as it came together.
        scale = candidate.words / float(board.scores[candidate.row])
        factor = scale * words.factors[turn]
        named = [(term, factor * part) for term, part in _own_words(candidate.row, board, words)]
        beside = [(id, factor * part) for id, part in _beside(candidate.row, board, words)]
        if turn:
            thread = int(board.column("thread")[candidate.row])
            session = scale * words.session_factor * float(board.sessions[thread])
    return Explanation(
        tuple(named),
        tuple(beside),
        session,
        candidate.meaning,
        candidate.speaker,
        candidate.importance,
        candidate.dates,
        candidate.cosine,
    )


def _own_words(row: int, board: BoardRows, words: WordScores) -> list[Part]:
    parts = []
    for term in words.terms:
        found, counts = board.found[term]
        at = int(np.searchsorted(found, row))
        if at < len(found) and found[at] == row:
            part = words.saturated(board, counts[at : at + 1], found[at : at + 1])
            parts.append((term, words.idf[term] * float(part[0])))
    return parts


def _beside(row: int, board: BoardRows, words: WordScores) -> list[Part]:
    parts = []
    opposite = {"following": "previous", "previous": "following"}
    for (way, distance), share in words.steps():
        giver = int(walk_threads(board, np.array([row]), (opposite[way], distance))[0])
        if giver != NONE and board.seen.live[giver] and board.own[giver] > 0:
            parts.append((f"t{int(board.column('number')[giver])}", share * float(board.own[giver])))
    return parts


def why_empty(
    request: SearchRequest, words: WordScores | None, entries: int, boards: list[BoardRows], degraded: str
) -> str:
    """One sentence on why nothing was found; it tells of nothing that the caller may not see."""
    if not entries:
        return "nothing is stored yet that may be shown here."
    wanted = sum(int(np.count_nonzero(board.seen.wanted)) for board in boards)
    if not wanted:
        return f"none of the {entries} entries that may be shown here passes the filters."
    if words and not words.terms and not request.use_meaning:
        return "the query has no word to search for, only very common ones."
    about = []
    if words:
        found = [term for term in words.terms if words.having[term]]
        shown = ", ".join(words.terms[:_SHOWN_WORDS])
        if not words.terms:
            about.append("the query has no word to search for, only very common ones")
        elif not found:
            about.append(f"none of the words ({shown}) stands in an entry that may be shown here")
        elif words.top and request.min_words:
            about.append(f"nothing matches {request.min_words:g} of the query's words by weight (min_words)")
        else:
            about.append(f"the words ({shown}) stand in no entry that passes the filters")
    if request.use_meaning:
        about.append(degraded.rstrip(".") if degraded else f"no cosine reaches {request.min_cosine:g} (min_cosine)")
    return "; ".join(about) + "."
