"""Explanations of a score, and of an empty result."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from engram_host.companion.search.bm25 import SHARES, BoardRows, WordScores
from engram_host.companion.search.fusion import Candidate, parts_shown
from engram_host.companion.search.request import REASONS, Explanation, Part
from engram_host.companion.search.tables import NONE
from engram_host.companion.search.tokenizer import query_words
from engram_host.companion.search.view import WAYS
from engram_host.sentences import Sentence

_SHOWN_WORDS = 8


def explain(
    candidate: Candidate, board: BoardRows, words: WordScores | None, query: str, parts: Sequence[float]
) -> Explanation:
    named: list[Part] = []
    beside: list[Part] = []
    session = 0.0
    if words and candidate.words:
        turn = bool(board.column("turn")[candidate.row])
        # Divide the words score in proportion to its terms.
        scale = candidate.words / float(board.scores[candidate.row])
        factor = scale * words.factors[turn]
        named = [(name, factor * part) for name, part in _own_words(candidate.row, board, words, query)]
        beside = [(id, factor * part) for id, part in _neighbour_parts(candidate.row, board)]
        if turn:
            thread = int(board.column("thread")[candidate.row])
            session = scale * words.session_factor * float(board.sessions[thread])
    return Explanation(
        tuple(named),
        tuple(beside),
        session,
        candidate.meaning,
        candidate.speaker,
        candidate.reply,
        candidate.importance,
        candidate.dates,
        candidate.cosine,
        confidence=parts_shown(parts),
    )


def _own_words(row: int, board: BoardRows, words: WordScores, query: str) -> list[Part]:
    named = query_words(query)
    parts: dict[str, float] = {}
    for term in words.terms:
        found, counts = board.found[term]
        at = np.flatnonzero(found == row)
        if len(at):
            part = words.saturated(board, np.array([row]), counts[at])
            name = named.get(term, term)
            parts[name] = parts.get(name, 0.0) + words.idf[term] * float(part[0])
    return list(parts.items())


def _neighbour_parts(row: int, board: BoardRows) -> list[Part]:
    parts = []
    for (distance, share), way in product(SHARES, WAYS):
        giver = int(board.seen.live_rows.neighbours[way, distance][row])
        if giver != NONE and board.seen.live[giver] and board.own[giver] > 0:
            parts.append((f"t{int(board.column('number')[giver])}", share * float(board.own[giver])))
    return parts


def why_empty(query: str, words: WordScores | None, entries: int, wanted: int, by_meaning: bool) -> Sentence:
    if not entries:
        return REASONS.say("nothing_stored")
    if not wanted:
        return REASONS.say("filtered", n=entries)
    if not words:
        return REASONS.say("none_near" if by_meaning else "no_vectors")
    more = "_nor_near" if by_meaning else ""
    if not words.terms:
        return REASONS.say("only_common" + more)
    named = query_words(query)
    distinct = dict.fromkeys(named.get(term, term) for term in words.terms)
    shown = ", ".join(list(distinct)[:_SHOWN_WORDS])
    is_known = any(words.having[term] for term in words.terms)
    return REASONS.say(("words_filtered" if is_known else "no_word") + more, words=shown)
