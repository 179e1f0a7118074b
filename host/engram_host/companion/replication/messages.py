"""Messages of boards: their heads, batches of lines, and answers with a body, none longer than a board accepts.

A board sends its version of the messages in `hello`; another version is refused, with a sentence on which side to update.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from engram import log_line, text
from engram.errors import ArgumentError
from engram.link import messages
from engram_host.companion.errors import Refused
from engram_host.companion.search.request import Hit
from engram_host.companion.types import LOGS, LineBatch, Sender, SeqRange
from engram_host.time_zones import is_rule

Head = Mapping[str, Any]
"""The fields of a message's head: engram.link.messages has their table, and checks them."""

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


def decode(data: bytes) -> tuple[Head, memoryview]:
    """Decode a message and its body; raises BadMessage if damaged, UnknownMessage if unknown."""
    try:
        return messages.decode(data, messages.FROM_BOARD)
    except messages.BadMessage as problem:
        raise _unknown(data, problem) from None


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
    return UnknownMessage(head, str(head.get("op"))[:20], why)


def check_version(head: Head) -> None:
    """Raise Refused for a `hello` of another version."""
    if head["version"] != messages.VERSION:
        raise Refused(_other_version(head["version"]), UPDATE_SECONDS)


def _other_version(version: int) -> str:
    update = UPDATE_BOARD if version < messages.VERSION else UPDATE_COMPANION
    return f"the board speaks version {version} of the messages, the companion {messages.VERSION}: {update}"


def check_states(head: Head) -> None:
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


def sender_of(head: Head) -> Sender:
    return Sender(head["board"], head["link"], head["n"])


def answer_to(head: Head, op: str, **fields: Any) -> bytes:
    return messages.encode(op, head["board"], head["link"], head["n"], **fields)


# --- lines: all are checked before any is stored


def read_span(device: str, head: Head) -> SeqRange:
    """Return the span of a message; raises Refused."""
    if head["after"] > head["to"]:
        raise Refused("a message ends before it begins: the board's firmware is at fault.")
    return SeqRange(device, head["log"], head["epoch"], head["after"], head["to"])


def read_batch(device: str, sender: Sender, head: Head, body: memoryview) -> LineBatch:
    """Return a batch of checked lines; raises Refused if one is damaged or not of the span."""
    span = read_span(device, head)
    try:
        lines = list(_numbered(span, _lines(body)))
    except messages.BadMessage as damage:
        raise Refused(str(damage), DAMAGED_SECONDS) from None
    if len(lines) != head["count"]:
        raise Refused(
            f"the number of lines in a message ({len(lines)}) is not the one in its head ({head['count']}).",
            DAMAGED_SECONDS,
        )
    return LineBatch(sender, span, lines)


def _lines(body: memoryview) -> Iterable[memoryview]:
    data = bytes(body)
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1
        line = body[start:end]
        if not end or not log_line.check(line):
            raise messages.BadMessage(f"a line at byte {start} is damaged.")
        yield line
        start = end


def _numbered(span: SeqRange, lines: Iterable[memoryview]) -> Iterable[tuple[int, bytes]]:
    last = span.after
    for line in lines:
        try:
            seq = log_line.decode(line).get("seq")
        except ValueError as error:
            raise Refused(f"a line after seq {last} cannot be read: {error}.", DAMAGED_SECONDS) from None
        if type(seq) is not int or not last < seq <= span.to:
            raise Refused(f"the seqs of a message do not rise within its span, after {last}.", DAMAGED_SECONDS)
        last = seq
        yield seq, bytes(line)


# --- answers to searches


_THOUSAND = 1000
_HEAD_BYTES = 4096
_NOTE_LONGEST = 300
_WHO_LONGEST = 32
_TEXT_LONGEST = 1000


def line_answer(head: Head, line: bytes) -> bytes:
    return answer_to(head, "got") + line


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
    return answer_to(head, "found", **fields) + text.dumps(items).encode()


def _item(hit: Hit) -> list[Any]:
    """Return a hit for a board: with its text only if the board no longer has it."""
    score = round(hit.score * _THOUSAND)
    if hit.is_on_board and not hit.citation:
        return [hit.id, score]
    return [hit.id, score, hit.at, text.cut(hit.who, _WHO_LONGEST), text.cut(hit.text, _TEXT_LONGEST)]
