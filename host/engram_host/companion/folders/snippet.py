"""The part of a passage that is shown: the lines that have most of the query's words, within a bound of characters."""

from collections.abc import Sequence
from dataclasses import dataclass

from engram import text as board
from engram_host.companion.search.tokenizer import query_terms

_MOST_TERMS = 64
_DOTS = "…"


@dataclass(frozen=True)
class Snippet:
    """What is shown of a passage, and at which of its lines, counted from 0, the best of it stands."""

    text: str
    line: int


def snippet(passage: str, query: str, most: int) -> Snippet:
    """At most `most` characters of a passage around what fits the query; its beginning if no word of the query stands in it."""
    lines = passage.split("\n")
    terms = frozenset(query_terms(query, _MOST_TERMS))
    found = [_found(line, terms) for line in lines]
    first, last = _window(lines, found, most)
    best = max(range(first, last), key=lambda at: (len(found[at]), bool(lines[at].strip()), -at))
    whole = "\n".join(lines[first:last])
    if len(whole) > most:
        whole = _around(whole, terms, most)
    return Snippet(whole.strip("\n"), best)


def _found(line: str, terms: frozenset[str]) -> frozenset[str]:
    """The words of the query that a line has."""
    return terms.intersection(board.index_terms(line)) if terms else terms


def _window(lines: Sequence[str], found: Sequence[frozenset[str]], most: int) -> tuple[int, int]:
    """(first line, line after the last) of what has most words and fits; one line at least, of equals the earliest one."""
    best, best_words = (0, 1), -1
    for first in range(len(lines)):
        if found[first] or not first:
            end = _fill(lines, first, most)
            words = len(frozenset().union(*found[first:end]))
            if words > best_words:
                best, best_words = (first, end), words
    first, end = best
    # What room is left shows what comes before.
    size = sum(len(line) + 1 for line in lines[first:end])
    while first > 0 and size + len(lines[first - 1]) + 1 <= most:
        first -= 1
        size += len(lines[first]) + 1
    return first, end


def _fill(lines: Sequence[str], first: int, most: int) -> int:
    """The line after the last one that fits, beginning at `first`."""
    size, end = len(lines[first]), first + 1
    while end < len(lines) and size + 1 + len(lines[end]) <= most:
        size += 1 + len(lines[end])
        end += 1
    return end


def _around(line: str, terms: frozenset[str], most: int) -> str:
    """A part of a long line, around the first of its words that the query has."""
    at = 0
    for piece in line.split(" "):
        if terms.intersection(board.index_terms(piece)):
            break
        at += len(piece) + 1
    else:
        at = 0
    room = most - 2 * len(_DOTS)
    start = max(0, min(at - room // 3, len(line) - room))
    part = board.cut(line[start:], room)
    return (_DOTS if start else "") + part + (_DOTS if start + len(part) < len(line) else "")
