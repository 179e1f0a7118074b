"""Finds lines of MEMORY.md and of the days' notes by words, without an index: the files are few and short, and read in full.

A line is cited by its file and number: 2026-01-31.md#3.
"""

from collections import namedtuple

from engram import text
from engram.compat import const
from engram.memory.texts.notes import MEMORY

_MOST_BYTES = const(131072)  # of files, newest first: bounds the time of a search
_MOST = const(12)  # lines that are kept: bounds the heap
_LONGEST = const(320)  # characters of one
_STEM = const(4)  # first bytes of a term that its other forms have as well

Line = namedtuple("Line", "ref at text terms")
"""A line that has some of the terms: "2026-01-31.md#3", the moment at which its day begins, or now for MEMORY.md, its text, and
its terms."""

Found = namedtuple("Found", "count having lines")
"""How many lines were read, how many of them have each term, and the best Lines."""


def find(notebook, names: list, terms: list, clock, since: int = 0, until: int = 0) -> Found:
    """What the notes with these names have of some terms, from `since` to before `until` (Unix seconds, 0 leaves it open)."""
    looked_for = [(term, text.encode(term)[:_STEM]) for term in terms]
    having = dict.fromkeys(terms, 0)
    lines = []
    count, room = 0, _MOST_BYTES
    for name in names:
        at = clock.now() if name == MEMORY else clock.start_of(name[:-3])
        if room < 0 or (until and at >= until) or (since and (name == MEMORY or clock.start_of(name[:-3], 1) <= since)):
            continue
        for number, raw in enumerate(notebook.raw_lines(name), 1):
            room -= len(raw)
            count += 1
            line = text.decode(raw)
            matched = _matched(raw, line, looked_for)
            for term in matched:
                having[term] += 1
            if matched:
                _keep(lines, Line("%s#%d" % (name, number), at, text.cut(text.printable(line), _LONGEST), matched))
    return Found(count, having, lines)


def _matched(raw: bytes, line: str, looked_for: list) -> tuple:
    """The terms that a line has; most lines in ASCII are passed over by their bytes alone."""
    if len(raw) == len(line):
        lowered = raw.lower()
        if not any(begin in lowered for _, begin in looked_for):
            return ()
    there = set(text.index_terms(line))
    return tuple([term for term, _ in looked_for if term in there])


def _keep(lines: list, line: Line) -> None:
    """Keep a line if there is room, or if it has more terms than another: of those with the fewest, the last is let go."""
    if len(lines) == _MOST:
        place = max(range(_MOST), key=lambda at: (-len(lines[at].terms), at))
        if len(line.terms) <= len(lines[place].terms):
            return
        del lines[place]
    lines.append(line)
