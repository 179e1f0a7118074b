"""Answers in as many messages as they need, none longer than a board takes."""

from collections.abc import Iterable
from typing import Any

from engram import text
from engram.link import messages
from engram_host.companion.replication.messages import Head
from engram_host.companion.search.request import Hit

_THOUSAND = 1000
_SURE_BYTES = 5
"""Of a number up to _THOUSAND in a list, with its comma."""

_NOTE_LONGEST = 300
_WHO_LONGEST = 32
_TEXT_LONGEST = 1000
_FEWEST_CHARACTERS = 40


def text_pieces(whole: str, room: int) -> list[str]:
    """A text in pieces that take at most `room` bytes each in a message."""
    pieces: list[str] = []
    while whole or not pieces:
        size = room
        # What is escaped takes up to six times as much.
        while len(text.dumps(whole[:size]).encode()) - 2 > room:
            size = size * 3 // 4
        pieces.append(whole[:size])
        whole = whole[size:]
    return pieces


def line_chunks(head: Head, line: bytes) -> list[bytes]:
    """The messages that hold a line, none longer than a board takes."""
    pieces = text_pieces(line.decode(), messages.ANSWER_BYTES - len(_got(head, 64, 64, "")))
    return [_got(head, at + 1, len(pieces), piece) for at, piece in enumerate(pieces)]


def hit_chunks(head: Head, hits: Iterable[Hit], note: str, confidence: float) -> list[bytes]:
    """The messages that hold what was found for a board, as many hits in each as it takes; `confidence` is 0 to 1."""
    note = note[:_NOTE_LONGEST]
    certain = round(confidence * _THOUSAND)
    room = messages.ANSWER_BYTES - len(_found(head, 64, 64, [], note, _THOUSAND)) - _SURE_BYTES
    groups: list[list[tuple[list[Any], int]]] = [[]]
    used = 0
    for hit in hits:
        item = _fitting(_item(hit), room)
        size = _size(item) + _SURE_BYTES
        if used + size > room and groups[-1]:
            groups.append([])
            used = 0
        groups[-1].append((item, round(hit.confidence * _THOUSAND)))
        used += size
    return [_found(head, at + 1, len(groups), group, note, certain) for at, group in enumerate(groups)]


def _got(head: Head, part: int, parts: int, piece: str) -> bytes:
    return messages.encode("got", head["board"], head["link"], head["n"], part=part, parts=parts, text=piece)


def _item(hit: Hit) -> list[Any]:
    """A hit as a board takes it: with its text only if the board has it no more, or never had."""
    score = round(hit.score * _THOUSAND)
    if hit.is_on_board and not hit.citation:
        return [hit.id, score]
    return [hit.id, score, hit.at, text.cut(hit.who, _WHO_LONGEST), text.cut(hit.text, _TEXT_LONGEST)]


def _found(head: Head, part: int, parts: int, found: list[tuple[list[Any], int]], note: str, certain: int) -> bytes:
    address = head["board"], head["link"], head["n"]
    items, sure = [item for item, _ in found], [sure for _, sure in found]
    fields = {"part": part, "parts": parts, "items": items, "note": note, "confidence": certain, "sure": sure}
    return messages.encode("found", *address, **fields)


def _size(item: list[Any]) -> int:
    """The bytes of an item in a message, with its comma."""
    return len(text.dumps(item).encode()) + 1


def _fitting(item: list[Any], room: int) -> list[Any]:
    """An item whose text is cut until it fits into a message of its own."""
    while _size(item) > room:
        item = [*item[:-1], text.cut(item[-1], len(item[-1]) * 3 // 4)]
        if len(item[-1]) < _FEWEST_CHARACTERS:
            return item[:2]
    return item
