"""Messages of boards as types.

engram.link.messages checks the heads of messages, so what is read of a head is there.
tests/companion/replication/test_message_headers.py compares the fields with the tables of the firmware.

A board names its version of the messages in `hello`; another one than the companion's is refused with a sentence on which side
to update.
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
    rule: str


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
    """Between which numbers are the memories of the board's archive."""

    op: Literal["holds"]
    epoch: int
    first: int
    last: int


class CallerHead(Head):
    """A message in which the board says for whom it asks."""

    principal: str
    group: bool
    workspace: str


class NotesHead(Head):
    """Which notes there are of a span of names; of each (file, bytes, digest), or without bytes why there is none."""

    op: Literal["notes"]
    epoch: int
    after: str
    to: str
    files: list[Any]


class NoteHead(Head):
    """The text of a note stands behind the head."""

    op: Literal["note"]
    epoch: int
    file: str
    digest: str


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
    folders: bool


class FileHead(CallerHead):
    """Asks for lines of a file in a Markdown folder, or of a note that has left the board."""

    op: Literal["file"]
    path: str
    first: int
    count: int


class ListenHead(Head):
    """Asks for a message of somebody, for some seconds; `mid` is the one that the board has in work, "" for none, `turn` its
    id of it once it is on flash.
    """

    op: Literal["listen"]
    wait: int
    mid: str
    turn: str


class ReplyHead(Head):
    """A part of the answer to a message that the board was offered: items (kind, text) stand behind the head."""

    op: Literal["reply"]
    mid: str
    offer: int
    k: int


class PushHead(Head):
    """The board says something by its own initiative."""

    op: Literal["push"]
    mid: str
    room: str
    text: str


class StatusHead(Head):
    """How the board is; of each item (name, value)."""

    op: Literal["status"]
    items: list[Any]


class SensesHead(Head):
    """Which senses there are; of each (number, name, unit, decimals, made). `shared` are the numbers of those that everybody
    may see.
    """

    op: Literal["senses"]
    epoch: int
    next: int
    whole: bool
    items: list[Any]
    shared: list[int]


class ReadingsHead(Head):
    """A block of a ring of readings stands behind the head."""

    op: Literal["readings"]
    epoch: int
    level: int
    seq: int


StateHead = NotesHead | NoteHead | StatusHead | SensesHead | ReadingsHead

ConversationHead = ListenHead | ReplyHead | PushHead

ReplicationHead = HelloHead | LinesHead | CheckHead | AgreedHead | KeepHead | HoldsHead | StateHead

BoardHead = ReplicationHead | GetHead | SearchHead | FileHead | ConversationHead


UPDATE_SECONDS = 3600
"""When a board tries again after somebody has to update it, or the companion."""

UPDATE_BOARD = "update the board: send it the current firmware with `engram board deploy`."
UPDATE_COMPANION = "update Engram on the companion's computer, and start `engram serve` again."

_MOST_NUMBER = (1 << 30) - 1
"""The highest epoch, and number of rewrites, that the other messages of a board may name."""

DAMAGED_SECONDS = 5
"""When a board tries again after a message that was damaged on the way."""


class UnknownMessage(Refused):
    """A whole message whose sender can be answered, of a form that this companion does not know."""

    def __init__(self, head: Head, op: str, why: str):
        super().__init__(why, UPDATE_SECONDS)
        self.head = head
        self.op = op


def decode(data: bytes) -> tuple[BoardHead, memoryview]:
    """A board's message, with what stands behind its head.

    BadMessage if it is damaged, so that nobody can be answered; else UnknownMessage if its form is not known.
    """
    try:
        head, body = messages.decode(data, messages.FROM_BOARD)
    except messages.BadMessage as problem:
        raise _unknown(data, problem) from None
    return cast(BoardHead, head), body


def _unknown(data: bytes, problem: messages.BadMessage) -> Exception:
    """Why a message is not taken, to be told to its sender if that can be: a head whose crc is right was written so."""
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
    """Refuse a `hello` of another version of the messages."""
    if head["version"] != messages.VERSION:
        raise Refused(_other_version(head["version"]), UPDATE_SECONDS)


def _other_version(version: int) -> str:
    update = UPDATE_BOARD if version < messages.VERSION else UPDATE_COMPANION
    return f"the board speaks version {version} of the messages, the companion {messages.VERSION}: {update}"


def check_states(head: HelloHead) -> None:
    """Refuse a `hello` with numbers that no other message may name, or a time zone that nobody can read."""
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
