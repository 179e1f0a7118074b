"""The messages between board and companion, alike over MQTT and HTTP, by the same code on both sides.

A message is a head, a line as in engram.log_line, and a body: raw lines of a log for `lines`, a file's bytes
for `note`, a block of readings for `readings`, a text for `reply`, `say`, `got` and `found`.
docs/reference/messages.md describes the fields; the tables here have their bounds.

All messages of a board have its id (`board`), the number of its connection (`link`) and their own number
(`n`), which only rise, so that repeated and late ones are ignored. An answer repeats the three.
"""

from engram import log_line
from engram.errors import ArgumentError, EngramError

VERSION = 1
MOST_BYTES = 65536
"""Maximum bytes of a message."""

ANSWER_BYTES = 60000

WAIT_SECONDS = 25
"""Seconds for which the companion may hold a `listen` request."""

MID_CHARS = 56
"""Maximum characters of a message id, which the board prefixes with `link:`."""

FORWARDED_CHARS = 64

QUOTED_CHARS = 200

PUSH_CHARS = 4000
"""Maximum characters of a message by the board itself; the journal keeps all of it."""

ITEMS = 32

NOTE_BYTES = 64000

NOTES_AT_ONCE = 32

SENSES = 16

WITH_BODY = ("lines", "note", "readings", "reply", "say", "got", "found")
"""Messages with a body behind the head."""

GONE = "gone"
LEFT = "left"
"""Stands for a digest if a note was cleared, expired or evicted."""

LOGS = ("records", "journal")

# The kinds of fields, as a sentence has them, with the bounds of a number, of a text's length, or of a list's.
_TEXT = "a text of {} to {} characters"
_NUMBER = "a number from {} to {}"
_FLAG = "true or false"
_LOG = "records or journal"
_LIST = "a list of {} to {} elements"
_TEXTS = "a list of {} to {} texts"
_SEQS = "a list of {} to {} seqs"
_NUMBERS = "a list of {} to {} numbers"

_NOTE = (_TEXT, 0, 255)
_COUNT = (_NUMBER, 0, (1 << 30) - 1)
_SEQ = (_NUMBER, 0, log_line.MAX_SEQ)
_CRC = (_TEXT, 0, 8)
_MOMENT = (_NUMBER, 0, 1 << 40)
_IS = (_FLAG, 0, 0)
_STATE = (_NUMBERS, 4, 4)
_HELD = (_LIST, 3, 3)
_SURE = (_NUMBER, 0, 1000)
_BLOCK_SEQ = (_NUMBER, 0, (1 << 32) - 1)
_ADDRESS = (("board", (_TEXT, 1, 32)), ("link", _COUNT), ("n", _COUNT))
_OF_LOG = ("log", (_LOG, 0, 0))
_OF_EPOCH = ("epoch", _COUNT)
_RANGE = (_OF_LOG, _OF_EPOCH, ("after", _SEQ), ("to", _SEQ), ("count", _SEQ))

_MID = ("mid", (_TEXT, 1, MID_CHARS))
_OFFER = ("offer", (_NUMBER, 1, (1 << 30) - 1))
_ROOM = ("room", (_TEXT, 1, 64))
_CALLER = (("principal", (_TEXT, 1, 64)), ("group", _IS), ("workspace", (_TEXT, 0, 64)))

# Messages of a board: (name, (kind, lowest, highest)) of each field but op; see the kinds above.
FROM_BOARD = {
    "hello": (
        ("version", (_NUMBER, 1, 255)),
        ("zone", (_NUMBER, -840, 840)),
        ("records", _STATE),
        ("journal", _STATE),
        ("relied", _SEQ),
        ("rule", (_TEXT, 0, 64)),
    ),
    "lines": _RANGE,
    "check": _RANGE + (("digest", _CRC),),
    "agreed": (_OF_LOG, _OF_EPOCH, ("rewrites", _COUNT)),
    "keep": (_OF_LOG, _OF_EPOCH, ("seqs", (_SEQS, 1, 16)), ("digest", _CRC)),
    "holds": (_OF_EPOCH, ("first", _SEQ), ("last", _SEQ)),
    "notes": (_OF_EPOCH, ("after", _NOTE), ("to", _NOTE), ("files", (_LIST, 0, NOTES_AT_ONCE))),
    "note": (_OF_EPOCH, ("file", _NOTE), ("digest", _CRC)),
    "get": (("id", (_TEXT, 1, 16)),) + _CALLER,
    "search": (("query", (_TEXT, 1, 2000)), ("limit", (_NUMBER, 1, 50)))
    + _CALLER
    + (("tags", (_TEXTS, 0, 8)), ("since", _MOMENT), ("until", _MOMENT), ("folders", _IS)),
    "file": (("path", (_TEXT, 1, 300)), ("first", (_NUMBER, 1, 1 << 24)), ("count", (_NUMBER, 1, 100))) + _CALLER,
    "listen": (("wait", (_NUMBER, 0, 60)), ("mid", (_TEXT, 0, MID_CHARS)), ("turn", (_TEXT, 0, 16))),
    "reply": (_MID, _OFFER, ("k", (_NUMBER, 1, (1 << 30) - 1))),
    "push": (_MID, _ROOM, ("text", (_TEXT, 1, PUSH_CHARS))),
    "status": (("items", (_LIST, 1, ITEMS)),),
    "senses": (_OF_EPOCH, ("next", (_NUMBER, 0, 255)), ("whole", _IS), ("items", (_LIST, 0, SENSES)))
    + (("shared", (_NUMBERS, 0, SENSES)),),
    "readings": (_OF_EPOCH, ("level", (_NUMBER, 0, 1)), ("seq", _BLOCK_SEQ)),
}
# Answers to a board.
TO_BOARD = {
    "welcome": (("records", _HELD), ("journal", _HELD), ("archived", _SEQ), ("asks", _IS), ("told", (_TEXT, 0, 1000)))
    + (("notes", _CRC), ("senses", _CRC)),
    "have": (_OF_LOG, _OF_EPOCH, ("have", _SEQ)),
    "same": (),
    "differs": (),
    "found": (("note", (_TEXT, 0, 300)), ("confidence", _SURE), ("sure", (_NUMBERS, 0, 50))),
    "kept": (("count", _COUNT),),
    "noted": (("lacks", (_NUMBERS, 0, NOTES_AT_ONCE)), ("state", _CRC)),
    "perceived": (("have", (_LIST, 2, 2)), ("state", _CRC)),
    "got": (),
    "say": (_MID, _OFFER, _ROOM)
    + _CALLER
    + (("command", _IS), ("forwarded", (_TEXT, 0, FORWARDED_CHARS)), ("quoted", (_TEXT, 0, QUOTED_CHARS)))
    + (("edits", (_TEXT, 0, MID_CHARS)),),
    "cancel": (_MID,),
    "quiet": (("again", (_NUMBER, 0, 3600)),),
    "received": (("cancel", _IS),),
    "refused": (("why", (_TEXT, 1, 1000)), ("again", (_NUMBER, 0, 86400))),
}


class BadMessage(EngramError):
    """Invalid message; the text has the reason."""


def encode(op: str, board: str, link: int, n: int, **fields) -> bytes:
    """Return the head of a message; ArgumentError if a field is invalid."""
    table = FROM_BOARD.get(op) or TO_BOARD.get(op) or ()
    _check(_ADDRESS, {"board": board, "link": link, "n": n})
    _check(table, fields)
    pairs = [("op", op), ("board", board), ("link", link), ("n", n)]
    pairs.extend((name, fields[name]) for name, _ in table)
    return log_line.encode(pairs)


def decode(data, table) -> tuple:
    """Return (head, memoryview of the body) of a message in FROM_BOARD or TO_BOARD; BadMessage."""
    data = memoryview(data)
    if len(data) > MOST_BYTES:
        raise BadMessage("a message has %d bytes, at most %d are taken." % (len(data), MOST_BYTES))
    end = bytes(data[: log_line.MAX_LINE]).find(b"\n") + 1
    try:
        head = log_line.decode(data[:end])
    except ValueError as error:
        raise BadMessage("the head of a message cannot be read: %s." % error)
    op = head.get("op")
    if not isinstance(op, str) or op not in table:
        raise BadMessage("there is no message of that kind.")
    try:
        _check(_ADDRESS, head)
        _check(table[op], head)
    except ArgumentError as error:
        raise BadMessage("in the message %s %s %s" % (op, error.argument, error.problem))
    if op not in WITH_BODY and end < len(data):
        raise BadMessage("%d bytes stand behind the message %s." % (len(data) - end, op))
    return head, data[end:]


def is_row(value, *kinds) -> bool:
    if not isinstance(value, (list, tuple)) or len(value) != len(kinds):
        return False
    return all(isinstance(one, kind) for one, kind in zip(value, kinds))


def caller_fields(caller) -> dict:
    return {"principal": caller.principal, "group": caller.group, "workspace": caller.workspace}


def shown(number: int) -> str:
    return "%08x" % number


def _check(table, fields: dict) -> None:
    for name, (kind, low, high) in table:
        if name not in fields:
            raise ArgumentError(name, "is missing")
        if not _fits(fields[name], kind, low, high):
            raise ArgumentError(name, "must be " + kind.format(low, high))


def _fits(value, kind: str, low: int, high: int) -> bool:
    if kind == _FLAG:
        return isinstance(value, bool)
    if kind == _LOG:
        return value in LOGS
    if kind == _NUMBER:
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    if not isinstance(value, str if kind == _TEXT else (list, tuple)) or not low <= len(value) <= high:
        return False
    if kind == _TEXTS:
        return all(_fits(one, _TEXT, 0, 64) for one in value)
    if kind == _SEQS:
        return all(_fits(one, _NUMBER, 1, log_line.MAX_SEQ) for one in value)
    return kind != _NUMBERS or all(_fits(one, _NUMBER, 0, 2 * log_line.MAX_SEQ) for one in value)
