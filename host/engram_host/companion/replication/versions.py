"""The versions of the messages: which one a board and the companion use, and how messages of former firmware are read.

A board names the newest version that it speaks in `hello`; the companion answers in `welcome` with the one that both use.
docs/reference/messages.md has the rules and the forms that there were.
"""

from collections.abc import Mapping
from typing import Any, cast

from engram import log_line
from engram.errors import ArgumentError
from engram.link import messages
from engram_host.companion.errors import Refused
from engram_host.companion.replication.messages import BoardHead, Head, HelloHead
from engram_host.companion.types import LOGS

NEWEST = messages.VERSION
OLDEST = 1
"""The versions that this companion speaks."""

UPDATE_SECONDS = 3600
"""When a board tries again after somebody has to update it, or the companion."""

UPDATE_BOARD = "update the board: send it the current firmware with `engram board deploy`."
UPDATE_COMPANION = "update Engram on the companion's computer, and start `engram serve` again."

_MOST_NUMBER = (1 << 30) - 1
"""The highest epoch, and number of rewrites, that the other messages of a board may name."""

# Fields that firmware of before does not send, with the values that stand for them.
_ADDED: dict[str, dict[str, Any]] = {"hello": {"relied": 0}}


def _without_added(table: Mapping[str, Any]) -> dict[str, Any]:
    return {op: tuple(field for field in fields if field[0] not in _ADDED.get(op, ())) for op, fields in table.items()}


_FORMER = _without_added(messages.FROM_BOARD)


class UnknownMessage(Refused):
    """A whole message whose sender can be answered, of a form that this companion does not know."""

    def __init__(self, head: Head, op: str, why: str):
        super().__init__(why, UPDATE_SECONDS)
        self.head = head
        self.op = op


def decode(data: bytes) -> tuple[BoardHead, memoryview]:
    """A board's message of any version, in the present form, with what stands behind its head.

    BadMessage if it is damaged, so that nobody can be answered; else UnknownMessage if its form is not known.
    """
    try:
        head, body = messages.decode(data, messages.FROM_BOARD)
    except messages.BadMessage as problem:
        try:
            head, body = messages.decode(data, _FORMER)
            head = _ADDED.get(head["op"], {}) | head
            messages.encode(**head)  # checks all fields
        except (messages.BadMessage, ArgumentError):
            raise _unknown(data, problem) from None
    return cast(BoardHead, head), body


def _unknown(data: bytes, problem: messages.BadMessage) -> Exception:
    """Why a message is not taken, to be told to its sender if that can be: a head whose crc is right was written so."""
    try:
        head = log_line.decode(data[: data.find(b"\n") + 1])
        messages.encode("same", head["board"], head["link"], head["n"])
    except (ValueError, KeyError, ArgumentError):
        return problem
    version = head.get("version")
    what = str(problem).rstrip(".")
    why = f"the board and the companion do not speak the same version of the messages ({what}): update the older one."
    if type(version) is int and version > NEWEST:
        why = _newer_board(version)
    return UnknownMessage(cast(Head, head), str(head.get("op"))[:20], why)


def negotiate(head: HelloHead) -> int:
    """The version that a board and this companion use from its `hello` on; Refused if there is none."""
    version = head["version"]
    if version < OLDEST:
        raise Refused(
            f"the board speaks version {version} of the messages, the companion {OLDEST} at least: {UPDATE_BOARD}",
            UPDATE_SECONDS,
        )
    return min(version, NEWEST)


def check_states(head: HelloHead) -> None:
    """Refuse a `hello` with numbers that no other message may name."""
    for log in LOGS:
        epoch, oldest, following, rewrites = head[log]
        if max(epoch, rewrites) > _MOST_NUMBER or max(oldest, following - 1) > log_line.MAX_SEQ:
            raise Refused(
                f"a number that the board gives of its {log} is beyond the highest there is: the board's firmware is at "
                "fault.",
                UPDATE_SECONDS,
            )


def with_version(welcome: bytes, version: int) -> bytes:
    """A `welcome` that names the version which both use; boards of before pass over the field."""
    fields = log_line.decode(welcome)
    return log_line.encode([*fields.items(), ("version", version)])


def _newer_board(version: int) -> str:
    return f"the board speaks version {version} of the messages, the companion {NEWEST}: {UPDATE_COMPANION}"
