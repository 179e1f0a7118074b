"""The heads of the messages of boards as types: engram.link.messages checks them, so what is read of a head is there.

tests/companion/test_wire_heads.py compares the fields with the tables of the firmware.
"""

from typing import Any, Literal, TypedDict

from engram_host.companion.types import LogName


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
