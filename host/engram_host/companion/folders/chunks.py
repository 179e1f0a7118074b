"""Splits Markdown files into passages, and makes snippets of them.

A passage ends early at a heading, a code block or an empty line; within a section, passages
overlap by some lines.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from engram import text as board
from engram_host.companion.search.tokenizer import query_terms

FORM = 3  # version of the splitting; raise it to read all files again

# Room is counted in quarters of a token, so that sums are exact.
_QUARTERS = 4
_LONGEST_HEADING = 100
_MOST_FRONT_LINES = 200
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#*)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NO_PARAGRAPH = re.compile(r" {0,3}(?:[-+*>|]|\d+[.)]|$)| {4}|\t")
_TITLE = re.compile(r"title:[ \t]*(.+)")


@dataclass(frozen=True)
class Passage:
    """Lines `first` to `last` of a file, from 1, or part of a longer line; `headings` stand above each, outermost first."""

    first: int
    last: int
    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class _Piece:
    line: int
    text: str
    size: int
    headings: tuple[str, ...]
    is_heading: bool
    in_fence: bool  # true inside a code block


def split_passages(text: str, tokens: int = 400, overlap: int = 80) -> list[Passage]:
    """Split Markdown into passages of at most `tokens`; `overlap` must be less than half of that."""
    pieces = list(_pieces(text, tokens * _QUARTERS))
    return [_passage(pieces[start:end]) for start, end in _spans(pieces, tokens * _QUARTERS, overlap * _QUARTERS)]


def lines_of(text: str) -> list[str]:
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    return lines[:-1] if not lines[-1] else lines


def _passage(pieces: list[_Piece]) -> Passage:
    text = "\n".join(piece.text for piece in pieces)
    levels = zip(*(piece.headings for piece in pieces), strict=False)
    headings = tuple(names[0] for names in takewhile(lambda names: len(set(names)) == 1, levels))
    return Passage(pieces[0].line, pieces[-1].line, headings, text)


# --- spans of pieces


def _spans(pieces: list[_Piece], room: int, overlap: int) -> Iterator[tuple[int, int]]:
    start = end = 0
    while start < len(pieces):
        end = _passage_end(pieces, start, end, room)
        if any(piece.text.strip() for piece in pieces[start:end]):
            yield start, end
        start = _next_start(pieces, start, end, room, overlap)


def _passage_end(pieces: list[_Piece], start: int, done: int, room: int) -> int:
    """Return the end of the passage from `start`; lines before `done` are in the former one."""
    size, at = 0, start
    while at < len(pieces) and (
        at == start or size + pieces[at].size <= room + 1
    ):  # the last line's end is not counted
        if pieces[at].is_heading and size >= room // 2:
            return at
        size += pieces[at].size
        at += 1
    return at if at == len(pieces) else _better_end(pieces, max(start, done), at, room)


def _better_end(pieces: list[_Piece], least: int, end: int, room: int) -> int:
    """Return a better end after `least`: before a code block that does not fit, or after an empty line."""
    size, at = 0, end
    while at > least + 1:
        if pieces[at].in_fence and size < room // 2:
            at -= 1
            size += pieces[at].size
            if not pieces[at].in_fence:
                return at
            continue
        if size >= room // 4:
            break
        if not pieces[at - 1].text.strip() or pieces[at].is_heading:
            return at
        at -= 1
        size += pieces[at].size
    return end


def _next_start(pieces: list[_Piece], start: int, end: int, room: int, overlap: int) -> int:
    """Return the start of the next passage: up to `overlap` before `end`, in the same section."""
    if end == len(pieces) or pieces[end].is_heading:
        return end
    most = min(overlap, room - pieces[end].size)
    size, at = 0, end
    while at > start + 1 and size + pieces[at - 1].size <= most:
        at -= 1
        size += pieces[at].size
        if pieces[at].is_heading:
            break
    return at


# --- lines


def _pieces(text: str, room: int) -> Iterator[_Piece]:
    lines = lines_of(text)
    marks = _Marks(lines)
    for number, line in enumerate(lines, 1):
        is_heading, in_fence = marks.classify_line(number - 1)
        for at, part in enumerate(_split_long_line(line, room)):
            yield _Piece(number, part, board.token_quarters(part) + 1, marks.headings, is_heading and not at, in_fence)


class _Marks:
    """Classifier of a file's lines in order; `headings` are those in force."""

    def __init__(self, lines: list[str]):
        self._lines = lines
        self._front_end = _front_matter(lines)
        self._fence = ""
        self._title = _title(lines[: self._front_end])
        self._open: list[tuple[int, str]] = []
        self.headings: tuple[str, ...] = self._title

    def classify_line(self, at: int) -> tuple[bool, bool]:
        """Return (is a heading, is inside a code block) of the next line."""
        line = self._lines[at]
        was_inside = bool(self._fence)
        if at < self._front_end:
            return False, False
        match = _FENCE.match(line)
        if self._fence:
            if match and match[1].startswith(self._fence) and not match[2].strip():
                self._fence = ""
            return False, was_inside
        if match and not (match[1][0] == "`" and "`" in match[2]):
            self._fence = match[1]
            return False, False
        return self._is_heading(at, line), False

    def _is_heading(self, at: int, line: str) -> bool:
        match = _HEADING.match(line)
        if match:
            self._enter(len(match[1]), (match[2] or "").strip())
            return True
        following = self._lines[at + 1] if at + 1 < len(self._lines) else ""
        under = _UNDERLINE.match(following)
        if under is None or _NO_PARAGRAPH.match(line) or (under[1] == "-" and "|" in line):
            return False
        self._enter(1 if under[1][0] == "=" else 2, line.strip())
        return True

    def _enter(self, level: int, text: str) -> None:
        self._open = [(depth, name) for depth, name in self._open if depth < level]
        if text:
            self._open.append((level, board.cut(text, _LONGEST_HEADING)))
        self.headings = (*self._title, *(name for _, name in self._open))


def _front_matter(lines: list[str]) -> int:
    if lines and lines[0].rstrip() == "---":
        for at, line in enumerate(lines[1:_MOST_FRONT_LINES], 2):
            if line.rstrip() in ("---", "..."):
                return at
    return 0


def _title(lines: list[str]) -> tuple[str, ...]:
    for line in lines:
        match = _TITLE.match(line)
        if match:
            title = match[1].strip().strip("\"'")
            return (board.cut(title, _LONGEST_HEADING),) if title else ()
    return ()


def _split_long_line(line: str, room: int) -> Iterator[str]:
    while board.token_quarters(line) > room:
        part = board.cut(line, _fitting(line, room))
        space = part.rfind(" ", len(part) // 2)
        if space > 0:
            part = part[: space + 1]
        yield part
        line = line[len(part) :]
    yield line


def _fitting(line: str, room: int) -> int:
    return bisect_right(range(room + 1), room, key=lambda count: board.token_quarters(line[:count])) - 1


# --- snippets


_MOST_TERMS = 64
_DOTS = "…"


@dataclass(frozen=True)
class Snippet:
    """A snippet of a passage, and the line of its best hit, from 0."""

    text: str
    line: int


def snippet(passage: str, query: str, most: int) -> Snippet:
    """Return at most `most` characters around the line with most of the query's words, or the beginning without any."""
    lines, terms, _, best = _best_line(passage, query)
    first, last = best, best + 1
    size = len(lines[best])
    while last < len(lines) and size + 1 + len(lines[last]) <= most:
        size += 1 + len(lines[last])
        last += 1
    while first > 0 and size + 1 + len(lines[first - 1]) <= most:
        first -= 1
        size += 1 + len(lines[first])
    whole = "\n".join(lines[first:last])
    if len(whole) > most:
        whole = _cut_around_hit(whole, terms, most)
    return Snippet(whole.strip("\n"), best)


def found_line(passage: str, query: str, most: int) -> str:
    """Return the line with most words of the query, at most `most` characters; "" without any."""
    lines, terms, words, best = _best_line(passage, query)
    line = lines[best].strip()
    if not words or len(line) <= most:
        return line if words else ""
    return _cut_around_hit(line, terms, most)


def _best_line(passage: str, query: str) -> tuple[list[str], frozenset[str], int, int]:
    """Return the lines, the query's terms, and the most of these in a line with its place."""
    terms = frozenset(query_terms(query, _MOST_TERMS))
    lines = passage.split("\n")
    counts = [len(terms.intersection(board.index_terms(line))) if terms else 0 for line in lines]
    best = max(range(len(lines)), key=lambda at: (counts[at], bool(lines[at].strip()), -at))
    return lines, terms, counts[best], best


def _cut_around_hit(line: str, terms: frozenset[str], most: int) -> str:
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
