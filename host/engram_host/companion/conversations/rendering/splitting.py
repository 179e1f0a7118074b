"""Cuts a growing answer into messages by engram.text.cutting, in a network's own units."""

from dataclasses import dataclass

from engram.text.cutting import CLOSING, open_fence, opening_of, place_cut
from engram_host.companion.bridges.network import Features

LEAST_UNITS = 120


@dataclass(frozen=True)
class Part:
    """A message's text and its end offset; nothing is added if `is_whole`."""

    text: str
    upto: int
    is_whole: bool


def next_part(data: bytes, start: int, features: Features, heading: str, *, is_over: bool) -> Part | None:
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
    return Part(_closed(rest), end, is_over)  # later text may move this cut


def text_between(data: bytes, start: int, upto: int) -> str:
    return _closed(_rest(data, start, upto)[1])


def _rest(data: bytes, start: int, upto: int) -> tuple[bytes, bytes, int]:
    """Return (reopening marks of code, marks and text from `start`, end offset)."""
    fence, opened = open_fence(data[:start])
    if fence:
        opening = opening_of(data, opened)
        return opening, opening + data[start + (data[start : start + 1] == b"\n") : upto], upto
    between = data[start:upto].lstrip()
    return b"", between, upto


def _closed(data: bytes) -> str:
    fence, _ = open_fence(data)
    return _text(data.rstrip() + (b"\n" + fence if fence else b""))


def _byte_offset(data: bytes, most: int, features: Features) -> int:
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
    end = data.rfind(b"\n\n")
    while end > 0:
        fence, opened = open_fence(data[:end])
        if not fence:
            return end
        end = data.rfind(b"\n\n", 0, opened + 1)
    return 0


def _text(data: bytes) -> str:
    return data.decode(errors="replace")
