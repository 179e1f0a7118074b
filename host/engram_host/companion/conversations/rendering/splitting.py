"""Cuts an answer into messages as it grows: by the rules of engram.text.cutting, in a network's own units."""

from dataclasses import dataclass

from engram.text.cutting import CLOSING, open_fence, opening_of, place_cut
from engram_host.companion.bridges.network import Features

LEAST_UNITS = 120
"""Of a message: a network that takes less cannot show an answer."""


@dataclass(frozen=True)
class Part:
    """What one message shows: its text, and where in the answer it ends. `is_whole`: nothing is added to it any more."""

    text: str
    upto: int
    is_whole: bool


def next_part(data: bytes, start: int, features: Features, heading: str, *, is_over: bool) -> Part | None:
    """What to show of an answer after the byte `start`, below a heading; None if there is nothing yet."""
    opening, rest, end = _rest(data, start, len(data))
    if not rest[len(opening) :].strip():
        return None
    most = max(LEAST_UNITS, features.most_units) - features.count_units(heading)
    if features.count_units(_closed(rest)) > most:
        head, closing, _, _ = place_cut(rest, _byte_offset(rest, most - CLOSING, features))
        return Part(_text(rest[:head] + closing), end - len(rest) + head, True)
    if features.edit_seconds is None and not is_over:
        head = _end_of_paragraphs(rest)
        if not rest[len(opening) : head].strip():
            return None
        return Part(_text(rest[:head]), end - len(rest) + head, True)
    return Part(_closed(rest), end, is_over)  # what comes yet may be cut off again


def text_between(data: bytes, start: int, upto: int) -> str:
    """The text of a message that was sent before: it showed the answer after `start` up to `upto`."""
    return _closed(_rest(data, start, upto)[1])


def _rest(data: bytes, start: int, upto: int) -> tuple[bytes, bytes, int]:
    """(what opens again the code that is open at `start`; that, and what stands between; where this ends)."""
    fence, opened = open_fence(data[:start])
    if fence:
        opening = opening_of(data, opened)
        return opening, opening + data[start + (data[start : start + 1] == b"\n") : upto], upto
    between = data[start:upto].lstrip()
    return b"", between, upto


def _closed(data: bytes) -> str:
    """A text with its code closed."""
    fence, _ = open_fence(data)
    return _text(data.rstrip() + (b"\n" + fence if fence else b""))


def _byte_offset(data: bytes, most: int, features: Features) -> int:
    """Where in `data` this number of the network's units ends."""
    text = data[: 4 * most].decode(errors="ignore")[:most]  # no character has less than a unit
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if features.count_units(text[:middle]) <= most:
            low = middle
        else:
            high = middle - 1
    return len(text[:low].encode())


def _end_of_paragraphs(data: bytes) -> int:
    """Where the last finished paragraph ends; code is not divided."""
    end = data.rfind(b"\n\n")
    while end > 0:
        fence, opened = open_fence(data[:end])
        if not fence:
            return end
        end = data.rfind(b"\n\n", 0, opened + 1)
    return 0


def _text(data: bytes) -> str:
    return data.decode(errors="replace")
