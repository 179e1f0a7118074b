"""Messages of boards as types, and answers in as many messages as they need, none longer than a board takes.

engram.link.messages checks the heads of messages, so what is read of a head is there.
tests/companion/replication/test_message_headers.py compares the fields with the tables of the firmware.
"""

from collections.abc import Iterable
from typing import Any, Literal, TypedDict

from engram import text
from engram.link import messages
from engram_host.companion.search.request import Hit
from engram_host.companion.types import LogName

_THOUSAND = 1000
_NOTE_LONGEST = 300
_WHO_LONGEST = 32
_TEXT_LONGEST = 1000
_FEWEST_CHARACTERS = 40


# --- heads


class Head(TypedDict):
    """What every message has: the board's id, its connection, and the message's number."""

    board: str
    link: int
    n: int


class HelloHead(Head):
    """A board begins a connection; of each log (epoch, oldest, next, rewrites)."""

    op: Literal["hello"]
    version: int
    zone: int
    records: list[int]
    journal: list[int]
    relied: int


class SpanHead(Head):
    """A message on the lines of a log after one seq up to another."""

    log: LogName
    epoch: int
    after: int
    to: int
    count: int


class LinesHead(SpanHead):
    """The lines of a span stand behind the head."""

    op: Literal["lines"]


class CheckHead(SpanHead):
    """Asks whether the companion has the lines of a span with this digest."""

    op: Literal["check"]
    digest: str


class AgreedHead(Head):
    """A log was compared up to this rewrite."""

    op: Literal["agreed"]
    log: LogName
    epoch: int
    rewrites: int


class KeepHead(Head):
    """Asks the companion to promise that it keeps lines for good."""

    op: Literal["keep"]
    log: LogName
    epoch: int
    seqs: list[int]
    digest: str


class HoldsHead(Head):
    """What the board's archive has; of each entry (scope, first, last)."""

    op: Literal["holds"]
    epoch: int
    entries: list[Any]


class ListHead(Head):
    """Asks for the archived records after a seq."""

    op: Literal["list"]
    epoch: int
    after: int


class CallerHead(Head):
    """A message in which the board says for whom it asks."""

    principal: str
    group: bool
    workspace: str


class GetHead(CallerHead):
    """Asks for an entry by its id."""

    op: Literal["get"]
    id: str


class SearchHead(CallerHead):
    """Asks for a search."""

    op: Literal["search"]
    query: str
    limit: int
    tags: list[str]
    since: int
    until: int


ReplicationHead = HelloHead | LinesHead | CheckHead | AgreedHead | KeepHead | HoldsHead | ListHead

BoardHead = ReplicationHead | GetHead | SearchHead


# --- answers


def line_chunks(head: Head, line: bytes) -> list[bytes]:
    """The messages that hold a line, none longer than a board takes."""
    whole = line.decode()
    room = messages.ANSWER_BYTES - len(_got(head, 64, 64, ""))
    pieces: list[str] = []
    while whole or not pieces:
        size = room
        # What is escaped takes up to six times as much.
        while len(text.dumps(whole[:size]).encode()) - 2 > room:
            size = size * 3 // 4
        pieces.append(whole[:size])
        whole = whole[size:]
    return [_got(head, at + 1, len(pieces), piece) for at, piece in enumerate(pieces)]


def hit_chunks(head: Head, hits: Iterable[Hit], note: str) -> list[bytes]:
    """The messages that hold what was found for a board, as many hits in each as it takes."""
    note = note[:_NOTE_LONGEST]
    room = messages.ANSWER_BYTES - len(_found(head, 64, 64, [], note))
    groups: list[list[list[Any]]] = [[]]
    used = 0
    for hit in hits:
        item = _fitting(_item(hit), room)
        size = _size(item)
        if used + size > room and groups[-1]:
            groups.append([])
            used = 0
        groups[-1].append(item)
        used += size
    return [_found(head, at + 1, len(groups), group, note) for at, group in enumerate(groups)]


def _got(head: Head, part: int, parts: int, piece: str) -> bytes:
    return messages.encode("got", head["board"], head["link"], head["n"], part=part, parts=parts, text=piece)


def _item(hit: Hit) -> list[Any]:
    """A hit as a board takes it: with its text only if the board has it no more."""
    score = round(hit.score * _THOUSAND)
    if hit.is_on_board:
        return [hit.id, score]
    return [hit.id, score, hit.at, text.cut(hit.who, _WHO_LONGEST), text.cut(hit.text, _TEXT_LONGEST)]


def _found(head: Head, part: int, parts: int, items: list[list[Any]], note: str) -> bytes:
    address = head["board"], head["link"], head["n"]
    return messages.encode("found", *address, part=part, parts=parts, items=items, note=note)


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
