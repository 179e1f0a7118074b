"""Answers with a body, none longer than a board accepts."""

from collections.abc import Iterable
from typing import Any

from engram import text
from engram.link import messages
from engram_host.companion.replication.messages import Head
from engram_host.companion.search.request import Hit

_THOUSAND = 1000
_HEAD_BYTES = 4096
_NOTE_LONGEST = 300
_WHO_LONGEST = 32
_TEXT_LONGEST = 1000


def line_answer(head: Head, line: bytes) -> bytes:
    return messages.encode("got", head["board"], head["link"], head["n"]) + line


def hits_answer(head: Head, hits: Iterable[Hit], note: str, confidence: float) -> bytes:
    """Return the answer to a search, with as many hits as fit; `confidence` is 0 to 1."""
    items: list[list[Any]] = []
    sure: list[int] = []
    room = messages.ANSWER_BYTES - _HEAD_BYTES
    for hit in hits:
        item = _item(hit)
        room -= len(text.dumps(item).encode()) + 1
        if room < 0:
            break
        items.append(item)
        sure.append(round(hit.confidence * _THOUSAND))
    fields = {"note": note[:_NOTE_LONGEST], "confidence": round(confidence * _THOUSAND), "sure": sure}
    found = messages.encode("found", head["board"], head["link"], head["n"], **fields)
    return found + text.dumps(items).encode()


def _item(hit: Hit) -> list[Any]:
    """Return a hit for a board: with its text only if the board no longer has it."""
    score = round(hit.score * _THOUSAND)
    if hit.is_on_board and not hit.citation:
        return [hit.id, score]
    return [hit.id, score, hit.at, text.cut(hit.who, _WHO_LONGEST), text.cut(hit.text, _TEXT_LONGEST)]
