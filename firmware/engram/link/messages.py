"""The messages between board and companion, the same over MQTT and HTTP, and the same code on both sides.

A message is a head, which is a line as in every log (see engram.log_line), and behind it, for `lines`, the raw lines of a log,
for `note` the bytes of a file, for `readings` a block of a ring of readings, for `reply`, `say`, `got` and `found` a text.
docs/reference/messages.md tells what each field is for; the tables here tell what each may be.

All messages of a board have its id (`board`), the number of its connection (`link`) and their own number (`n`), which both
only ever rise: so what comes twice or late is known, and does nothing. An answer repeats the three.
"""

from engram import log_line
from engram.errors import ArgumentError, EngramError

VERSION = 1
MOST_BYTES = 65536
"""The longest message: bounds what either side has to hold."""

ANSWER_BYTES = 60000
"""The longest message to a board: bounds what it has to hold."""

WAIT_SECONDS = 25
"""The companion may wait for so long that somebody says something, before it answers `listen`."""

MID_CHARS = 56
"""The longest id of a message that somebody says over the link: the board keeps it with `link:` before it."""

FORWARDED_CHARS = 64
"""The longest name of whom a forwarded message is from."""

QUOTED_CHARS = 200
"""The longest beginning of what a message replies to or quotes."""

PUSH_CHARS = 4000
"""The longest text that a board begins to say by itself: what is longer is cut, and stands whole in its journal."""

ITEMS = 32
"""Figures of a status: bounds what either side looks through."""

NOTE_BYTES = 64000
"""The longest note that is copied: with its head it fits into a message."""

NOTES_AT_ONCE = 32
"""Notes that one message lists: bounds the head, and the answer."""

SENSES = 16
"""Senses that a board lists at most."""

WITH_BODY = ("lines", "note", "readings", "reply", "say", "got", "found")
"""The messages in which something stands behind the head."""

GONE = "gone"
LEFT = "left"
"""In place of a digest in a list of notes: the note was cleared; its days are over, or there is no room for it."""

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

# What a board sends: (name, (kind, lowest, highest)) of each field but op; the kinds are above.
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
# What a board is answered.
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
    """A message is not of this form; the text says in what."""


def encode(op: str, board: str, link: int, n: int, **fields) -> bytes:
    """The head of a message. `fields` as the tables tell: ArgumentError if one does not fit."""
    table = FROM_BOARD.get(op) or TO_BOARD.get(op) or ()
    _check(_ADDRESS, {"board": board, "link": link, "n": n})
    _check(table, fields)
    pairs = [("op", op), ("board", board), ("link", link), ("n", n)]
    pairs.extend((name, fields[name]) for name, _ in table)
    return log_line.encode(pairs)


def decode(data, table) -> tuple:
    """(head as a dict, a memoryview of what stands behind it) of a message in FROM_BOARD or TO_BOARD; BadMessage."""
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
    """True if a value is a list with one element of each kind, in this order."""
    if not isinstance(value, (list, tuple)) or len(value) != len(kinds):
        return False
    return all(isinstance(one, kind) for one, kind in zip(value, kinds))


def caller_fields(caller) -> dict:
    """For whom a board asks, as the fields of a message."""
    return {"principal": caller.principal, "group": caller.group, "workspace": caller.workspace}


def shown(number: int) -> str:
    """A check as it stands in a message."""
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
