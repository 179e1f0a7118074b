"""Cuts a Markdown file into passages of lines, and a passage into the snippet that is shown.

A passage is filled line by line up to its room. It ends earlier before a heading once it is half full, so that what changes in
one section leaves the passages of the next one as they were; and before a block of code, or at an empty line, that stands near
its end. Where a section is cut, the next passage repeats the last lines of the one before it, but none from before a heading.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engram import text as board
from engram_host.companion.search.tokenizer import query_terms

FORM = 1
"""One more whenever the same file would be cut in another way: files are then read again."""

_QUARTERS = 4
"""Room is counted in quarters of a token, as engram.text.tokens() estimates them: they add up without rounding."""

_FIRST_WIDE = "\u3000"
_LONGEST_HEADING = 100
_MOST_FRONT_LINES = 200
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))??(?:[ \t]+#*)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NO_PARAGRAPH = re.compile(r" {0,3}(?:[-+*>|]|\d+[.)]|$)| {4}|\t")
_TITLE = re.compile(r"title:[ \t]*(.+)")


@dataclass(frozen=True)
class Passage:
    """The lines from `first` to `last` of a file, counted from 1, or a part of one line that is longer than a passage.

    `headings` are those it stands under, outermost first; one that is its own first line is among them.
    """

    first: int
    last: int
    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line, or a part of a long one. `size` is in quarters of a token and has the line's end in it."""

    line: int
    text: str
    size: int
    headings: tuple[str, ...]
    is_heading: bool
    in_fence: bool
    """Whether a block of code began before it and has not ended."""


def split_passages(text: str, tokens: int = 400, overlap: int = 80) -> list[Passage]:
    """The passages of a Markdown text: at most `tokens` each; at most `overlap` of them stand in the one before it too.

    Every line that is not empty is in one of them. `overlap` must be less than half of `tokens`.
    """
    pieces = list(_pieces(text, tokens * _QUARTERS))
    return [_passage(pieces[start:end]) for start, end in _spans(pieces, tokens * _QUARTERS, overlap * _QUARTERS)]


def lines_of(text: str) -> list[str]:
    """The lines of a text as editors count them, without their ends."""
    lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
    return lines[:-1] if not lines[-1] else lines


def _passage(pieces: list[_Piece]) -> Passage:
    text = "\n".join(piece.text for piece in pieces)
    return Passage(pieces[0].line, pieces[-1].line, pieces[0].headings, text)


# --- spans of pieces


def _spans(pieces: list[_Piece], room: int, overlap: int) -> Iterator[tuple[int, int]]:
    """(start, end) of each passage that is not empty."""
    start = end = 0
    while start < len(pieces):
        end = _passage_end(pieces, start, end, room)
        if any(piece.text.strip() for piece in pieces[start:end]):
            yield start, end
        start = _next_start(pieces, start, end, room, overlap)


def _passage_end(pieces: list[_Piece], start: int, done: int, room: int) -> int:
    """Where a passage ends that begins at `start`; all before `done` stands in the one before it."""
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
    """An end a little before `end`, beyond `least`: before a block of code that does not fit, or behind an empty line."""
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
    """Where the next passage begins: up to `overlap` before `end`, in the same section."""
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
            yield _Piece(number, part, _size(part) + 1, marks.headings, is_heading and not at, in_fence)


class _Marks:
    """What the lines of a file are, looked at in order; `headings` are those in force."""

    def __init__(self, lines: list[str]):
        self._lines = lines
        self._front_end = _front_matter(lines)
        self._fence = ""
        self._title = _title(lines[: self._front_end])
        self._open: list[tuple[int, str]] = []
        self.headings: tuple[str, ...] = self._title

    def classify_line(self, at: int) -> tuple[bool, bool]:
        """(whether it is a heading, whether it is inside a block of code) of the next line."""
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
    """How many lines the block of settings at the beginning has, 0 if there is none."""
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


def _size(text: str) -> int:
    """Quarters of a token."""
    wide = 0 if text.isascii() else sum(sign >= _FIRST_WIDE for sign in text)
    return len(text) + (_QUARTERS - 1) * wide


def _split_long_line(line: str, room: int) -> Iterator[str]:
    """A line, in parts if it has no room in one passage; cut at a space if there is one."""
    while _size(line) > room:
        part = board.cut(line, room if line.isascii() else _fitting(line, room))
        space = part.rfind(" ", len(part) // 2)
        if space > 0:
            part = part[: space + 1]
        yield part
        line = line[len(part) :]
    yield line


def _fitting(line: str, room: int) -> int:
    """How many characters of a line fit."""
    size = 0
    for at, sign in enumerate(line):
        size += _QUARTERS if sign >= _FIRST_WIDE else 1
        if size > room:
            return at
    return len(line)


# --- snippets


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
        whole = _cut_around_hit(whole, terms, most)
    return Snippet(whole.strip("\n"), best)


def found_line(passage: str, query: str, most: int) -> str:
    """The line of a passage with most words of the query, in at most `most` characters; "" if none of them stands in it."""
    terms = frozenset(query_terms(query, _MOST_TERMS))
    lines = passage.split("\n")
    found = [_found(line, terms) for line in lines]
    best = max(range(len(lines)), key=lambda at: (len(found[at]), -at))
    if not found[best]:
        return ""
    line = lines[best].strip()
    return line if len(line) <= most else _cut_around_hit(line, terms, most)


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


def _cut_around_hit(line: str, terms: frozenset[str], most: int) -> str:
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
