"""Messages of boards as types.

engram.link.messages checks the heads of messages, so their fields exist.
tests/companion/replication/test_message_headers.py compares the fields with the tables of the firmware.

A board sends its version of the messages in `hello`; another version is refused, with a sentence on which side to update.
"""

from typing import Any, Literal, TypedDict, cast

from engram import log_line
from engram.errors import ArgumentError
from engram.link import messages
from engram_host.companion.errors import Refused
from engram_host.companion.types import LOGS, LogName
from engram_host.time_zones import is_rule

# --- heads


class Head(TypedDict):
    board: str
    link: int
    n: int


class HelloHead(Head):
    """Begins a connection; has (epoch, oldest, next, rewrites) of each log."""

    op: Literal["hello"]
    version: int
    zone: int
    records: list[int]
    journal: list[int]
    relied: int
    rule: str


class SpanHead(Head):
    """Is about the lines of a log after one seq up to another."""

    log: LogName
    epoch: int
    after: int
    to: int
    count: int


class LinesHead(SpanHead):
    op: Literal["lines"]


class CheckHead(SpanHead):
    op: Literal["check"]
    digest: str


class AgreedHead(Head):
    op: Literal["agreed"]
    log: LogName
    epoch: int
    rewrites: int


class KeepHead(Head):
    """Asks the companion to keep lines for good."""

    op: Literal["keep"]
    log: LogName
    epoch: int
    seqs: list[int]
    digest: str


class HoldsHead(Head):
    """Range of numbers of the memories in the board's archive."""

    op: Literal["holds"]
    epoch: int
    first: int
    last: int


class CallerHead(Head):
    principal: str
    group: bool
    workspace: str


class NotesHead(Head):
    """Notes in a span of names: (file, bytes, digest), or without bytes the reason."""

    op: Literal["notes"]
    epoch: int
    after: str
    to: str
    files: list[Any]


class NoteHead(Head):
    op: Literal["note"]
    epoch: int
    file: str
    digest: str


class GetHead(CallerHead):
    op: Literal["get"]
    id: str


class SearchHead(CallerHead):
    op: Literal["search"]
    query: str
    limit: int
    tags: list[str]
    since: int
    until: int
    folders: bool


class FileHead(CallerHead):
    """Request of lines of a Markdown file, or of a note that has left the board."""

    op: Literal["file"]
    path: str
    first: int
    count: int


class ListenHead(Head):
    """Request of the next message; `mid` is in progress ("" for none), `turn` its id on flash."""

    op: Literal["listen"]
    wait: int
    mid: str
    turn: str


class ReplyHead(Head):
    """Part of an answer to an offered message; its body has items (kind, text)."""

    op: Literal["reply"]
    mid: str
    offer: int
    k: int


class PushHead(Head):
    op: Literal["push"]
    mid: str
    room: str
    text: str


class StatusHead(Head):
    """Status of the board; items are (name, value)."""

    op: Literal["status"]
    items: list[Any]


class SensesHead(Head):
    """List of senses (number, name, unit, decimals, made); `shared` are visible to all."""

    op: Literal["senses"]
    epoch: int
    next: int
    whole: bool
    items: list[Any]
    shared: list[int]


class ReadingsHead(Head):
    """Message with a block of a ring of readings as its body."""

    op: Literal["readings"]
    epoch: int
    level: int
    seq: int


StateHead = NotesHead | NoteHead | StatusHead | SensesHead | ReadingsHead

ConversationHead = ListenHead | ReplyHead | PushHead

ReplicationHead = HelloHead | LinesHead | CheckHead | AgreedHead | KeepHead | HoldsHead | StateHead

BoardHead = ReplicationHead | GetHead | SearchHead | FileHead | ConversationHead


UPDATE_SECONDS = 3600
"""Retry time in seconds after a wrong version, which a person has to update."""

UPDATE_BOARD = "update the board: send it the current firmware with `engram board deploy`."
UPDATE_COMPANION = "update Engram on the companion's computer, and start `engram serve` again."

_MOST_NUMBER = (1 << 30) - 1
"""Highest epoch, and number of rewrites, that a board may name."""

DAMAGED_SECONDS = 5
"""Retry time in seconds after a message damaged on the way."""


class UnknownMessage(Refused):
    """Undamaged message of an unknown form; its sender can be answered."""

    def __init__(self, head: Head, op: str, why: str):
        super().__init__(why, UPDATE_SECONDS)
        self.head = head
        self.op = op


def decode(data: bytes) -> tuple[BoardHead, memoryview]:
    """Decode a message and its body; raises BadMessage if damaged, UnknownMessage if unknown."""
    try:
        head, body = messages.decode(data, messages.FROM_BOARD)
    except messages.BadMessage as problem:
        raise _unknown(data, problem) from None
    return cast(BoardHead, head), body


def _unknown(data: bytes, problem: messages.BadMessage) -> Exception:
    """Return the error for a message; a head with a right crc can be answered."""
    try:
        head = log_line.decode(data[: data.find(b"\n") + 1])
        messages.encode("same", head["board"], head["link"], head["n"])
    except (ValueError, KeyError, ArgumentError):
        return problem
    what = str(problem).rstrip(".")
    why = f"the board and the companion do not speak the same version of the messages ({what}): update the older one."
    version = head.get("version")
    if type(version) is int and version != messages.VERSION:
        why = _other_version(version)
    return UnknownMessage(cast(Head, head), str(head.get("op"))[:20], why)


def check_version(head: HelloHead) -> None:
    """Raise Refused for a `hello` of another version."""
    if head["version"] != messages.VERSION:
        raise Refused(_other_version(head["version"]), UPDATE_SECONDS)


def _other_version(version: int) -> str:
    update = UPDATE_BOARD if version < messages.VERSION else UPDATE_COMPANION
    return f"the board speaks version {version} of the messages, the companion {messages.VERSION}: {update}"


def check_states(head: HelloHead) -> None:
    """Raise Refused for a `hello` with impossible numbers or time zone."""
    for log in LOGS:
        epoch, oldest, following, rewrites = head[log]
        if max(epoch, rewrites) > _MOST_NUMBER or max(oldest, following - 1) > log_line.MAX_SEQ:
            raise Refused(
                f"a number that the board gives of its {log} is beyond the highest there is: the board's firmware is at "
                "fault.",
                UPDATE_SECONDS,
            )
    if head["rule"] and not is_rule(head["rule"]):
        why = f"the board's time zone is by a rule that the companion does not know: {UPDATE_COMPANION}"
        raise Refused(why, UPDATE_SECONDS)
