"""The messages between board and companion, alike over MQTT and HTTP, by the same code on both sides.

A message is a head, a line as in engram.log_line, and a body: raw lines of a log for `lines`, a file's bytes
for `note`, a block of readings for `readings`, a text for `reply`, `say`, `got` and `found`.
docs/reference/messages.md describes the fields; the tables here have their bounds.

All messages of a board have its id (`board`), the number of its connection (`link`) and their own number
(`n`), which only rise, so that repeated and late ones are ignored. An answer repeats the three.
"""

from engram import log_line
from engram.errors import ArgumentError, EngramError
from engram.schema_check import check

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


def _text(least: int, most: int) -> dict:
    return {"type": "string", "minLength": least, "maxLength": most}


def _number(least: int, most: int) -> dict:
    return {"type": "integer", "minimum": least, "maximum": most}


def _list(least: int, most: int, **items) -> dict:
    """Return the rule of a list, with `items` as that of each element if given."""
    return dict({"type": "array", "minItems": least, "maxItems": most}, **items)


_NOTE = _text(0, 255)
_COUNT = _number(0, (1 << 30) - 1)
_SEQ = _number(0, log_line.MAX_SEQ)
_CRC = _text(0, 8)
_MOMENT = _number(0, 1 << 40)
_IS = {"type": "boolean"}
_NUMBERS = {"items": _number(0, 2 * log_line.MAX_SEQ)}
_STATE = _list(4, 4, **_NUMBERS)
_HELD = _list(3, 3)
_SURE = _number(0, 1000)
_BLOCK_SEQ = _number(0, (1 << 32) - 1)
_ADDRESS = (("board", _text(1, 32)), ("link", _COUNT), ("n", _COUNT))
_OF_LOG = ("log", {"type": "string", "enum": LOGS})
_OF_EPOCH = ("epoch", _COUNT)
_RANGE = (_OF_LOG, _OF_EPOCH, ("after", _SEQ), ("to", _SEQ), ("count", _SEQ))

_MID = ("mid", _text(1, MID_CHARS))
_OFFER = ("offer", _number(1, (1 << 30) - 1))
_ROOM = ("room", _text(1, 64))
_CALLER = (("principal", _text(1, 64)), ("group", _IS), ("workspace", _text(0, 64)))

# Messages of a board: (name, rule) of each field but op.
FROM_BOARD = {
    "hello": (
        ("version", _number(1, 255)),
        ("zone", _number(-840, 840)),
        ("records", _STATE),
        ("journal", _STATE),
        ("relied", _SEQ),
        ("rule", _text(0, 64)),
    ),
    "lines": _RANGE,
    "check": _RANGE + (("digest", _CRC),),
    "agreed": (_OF_LOG, _OF_EPOCH, ("rewrites", _COUNT)),
    "keep": (_OF_LOG, _OF_EPOCH, ("seqs", _list(1, 16, items=_number(1, log_line.MAX_SEQ))), ("digest", _CRC)),
    "holds": (_OF_EPOCH, ("first", _SEQ), ("last", _SEQ)),
    "notes": (_OF_EPOCH, ("after", _NOTE), ("to", _NOTE), ("files", _list(0, NOTES_AT_ONCE))),
    "note": (_OF_EPOCH, ("file", _NOTE), ("digest", _CRC)),
    "get": (("id", _text(1, 16)),) + _CALLER,
    "search": (("query", _text(1, 2000)), ("limit", _number(1, 50)))
    + _CALLER
    + (("tags", _list(0, 8, items=_text(0, 64))), ("since", _MOMENT), ("until", _MOMENT), ("folders", _IS)),
    "file": (("path", _text(1, 300)), ("first", _number(1, 1 << 24)), ("count", _number(1, 100))) + _CALLER,
    "listen": (("wait", _number(0, 60)), ("mid", _text(0, MID_CHARS)), ("turn", _text(0, 16))),
    "reply": (_MID, _OFFER, ("k", _number(1, (1 << 30) - 1))),
    "push": (_MID, _ROOM, ("text", _text(1, PUSH_CHARS))),
    "status": (("items", _list(1, ITEMS)),),
    "senses": (_OF_EPOCH, ("next", _number(0, 255)), ("whole", _IS), ("items", _list(0, SENSES)))
    + (("shared", _list(0, SENSES, **_NUMBERS)),),
    "readings": (_OF_EPOCH, ("level", _number(0, 1)), ("seq", _BLOCK_SEQ)),
}
# Answers to a board.
TO_BOARD = {
    "welcome": (("records", _HELD), ("journal", _HELD), ("archived", _SEQ), ("asks", _IS), ("told", _text(0, 1000)))
    + (("notes", _CRC), ("senses", _CRC)),
    "have": (_OF_LOG, _OF_EPOCH, ("have", _SEQ)),
    "same": (),
    "differs": (),
    "found": (("note", _text(0, 300)), ("confidence", _SURE), ("sure", _list(0, 50, **_NUMBERS))),
    "kept": (("count", _COUNT),),
    "noted": (("lacks", _list(0, NOTES_AT_ONCE, **_NUMBERS)), ("state", _CRC)),
    "perceived": (("have", _list(2, 2)), ("state", _CRC)),
    "got": (),
    "say": (_MID, _OFFER, _ROOM)
    + _CALLER
    + (("command", _IS), ("forwarded", _text(0, FORWARDED_CHARS)), ("quoted", _text(0, QUOTED_CHARS)))
    + (("edits", _text(0, MID_CHARS)),),
    "cancel": (_MID,),
    "quiet": (("again", _number(0, 3600)),),
    "received": (("cancel", _IS),),
    "refused": (("why", _text(1, 1000)), ("again", _number(0, 86400))),
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
    for name, rule in table:
        if name not in fields:
            raise ArgumentError(name, "is missing")
        check(name, fields[name], rule)
