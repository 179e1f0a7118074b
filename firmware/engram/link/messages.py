"""The messages between board and companion, the same over MQTT and HTTP, and the same code on both sides.

A message is a head, which is a line as in every log (see engram.log_line), and for `lines` the raw lines of a log behind it.
docs/formats.md tells what each field is for; the tables here tell what each may be.

All messages of a board have its id (`board`), the number of its connection (`link`) and their own number (`n`), which both
only ever rise: so what comes twice or late is known, and does nothing. An answer repeats the three.
"""

from binascii import crc32

from engram import log_line
from engram.compat import const
from engram.errors import ArgumentError, EngramError

VERSION = 1
MOST_BYTES = 65536
"""The longest message: bounds what either side has to hold."""

ANSWER_BYTES = 2048
"""The longest message to a board: bounds what it has to hold. What was found comes in as many as it takes."""

LOGS = ("records", "journal")

_MOST_NUMBER = const((1 << 30) - 1)
_ID = ("text", 1, 32)
_NUMBER = ("number", 0, _MOST_NUMBER)
_SEQ = ("number", 0, log_line.MAX_SEQ)
_CRC = ("text", 0, 8)
_ADDRESS = (("board", _ID), ("link", _NUMBER), ("n", _NUMBER))
_RANGE = (
    ("log", ("one", LOGS, 0)),
    ("epoch", _NUMBER),
    ("after", _SEQ),
    ("to", _SEQ),
    ("count", _SEQ),
)

_ASKER = (("principal", ("text", 1, 64)), ("group", ("flag", 0, 0)), ("workspace", ("text", 0, 64)))

# What a board sends: (name, (kind, lowest, highest)) of each field but op; kinds as in _fits().
FROM_BOARD = {
    "hello": (
        ("version", ("number", 1, 255)),
        ("zone", ("number", -840, 840)),
        ("records", ("numbers", 4, 0)),
        ("journal", ("numbers", 4, 0)),
        ("relied", _SEQ),
    ),
    "lines": _RANGE,
    "check": _RANGE + (("digest", _CRC),),
    "agreed": (("log", ("one", LOGS, 0)), ("epoch", _NUMBER), ("rewrites", _NUMBER)),
    "keep": (("log", ("one", LOGS, 0)), ("epoch", _NUMBER), ("seqs", ("seqs", 1, 16)), ("digest", _CRC)),
    "holds": (("epoch", _NUMBER), ("entries", ("list", 0, 32))),
    "list": (("epoch", _NUMBER), ("after", _SEQ)),
    "get": (("id", ("text", 1, 16)),) + _ASKER,
    "search": (
        ("query", ("text", 1, 2000)),
        ("limit", ("number", 1, 50)),
    )
    + _ASKER
    + (("tags", ("texts", 0, 8)), ("since", ("number", 0, 1 << 40)), ("until", ("number", 0, 1 << 40))),
}
# And what it is answered.
TO_BOARD = {
    "welcome": (
        ("records", ("list", 3, 3)),
        ("journal", ("list", 3, 3)),
        ("archived", _SEQ),
        ("asks", ("flag", 0, 0)),
        ("told", ("text", 0, 1000)),
    ),
    "have": (("log", ("one", LOGS, 0)), ("epoch", _NUMBER), ("have", _SEQ)),
    "same": (),
    "differs": (),
    "found": (
        ("part", ("number", 1, 64)),
        ("parts", ("number", 1, 64)),
        ("items", ("list", 0, 50)),
        ("note", ("text", 0, 300)),
    ),
    "kept": (("count", _NUMBER),),
    "listed": (("items", ("list", 0, 64)), ("next", _SEQ)),
    "got": (("part", ("number", 1, 64)), ("parts", ("number", 1, 64)), ("text", ("text", 0, ANSWER_BYTES))),
    "refused": (("why", ("text", 1, 1000)), ("again", ("number", 0, 86400))),
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
    if op != "lines" and end < len(data):
        raise BadMessage("%d bytes stand behind the message %s." % (len(data) - end, op))
    return head, data[end:]


def lines(body):
    """Yield the lines behind a head of `lines`, as memoryviews that are whole and as they were written; BadMessage."""
    body = memoryview(body)
    data = bytes(body)
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1
        line = body[start:end]
        if not end or not log_line.check(line):
            raise BadMessage("a line at byte %d is damaged." % start)
        yield line
        start = end


def digest(line, before: int = 0) -> int:
    """The check over lines in their order, one more at a time: the crc32 of their own crcs; 0 for none."""
    size = len(line)
    return crc32(memoryview(line)[size - 11 : size - 3], before)


def shown(number: int) -> str:
    """A check as it stands in a message."""
    return "%08x" % number


def _check(table, fields: dict) -> None:
    for name, rule in table:
        if name not in fields:
            raise ArgumentError(name, "is missing")
        problem = _misfit(fields[name], rule[0], rule[1], rule[2])
        if problem:
            raise ArgumentError(name, problem)


def _misfit(value, kind: str, low, high) -> str:
    """The problem of a value, "" if it has none."""
    if kind == "text":
        fits = isinstance(value, str) and low <= len(value) <= high
        return "" if fits else "must be a text of %d to %d characters" % (low, high)
    if kind == "number":
        return "" if _is_number(value) and low <= value <= high else "must be a number from %d to %d" % (low, high)
    if kind == "flag":
        return "" if isinstance(value, bool) else "must be true or false"
    if kind == "one":
        return "" if isinstance(value, str) and value in low else "must be one of " + ", ".join(low)
    if not isinstance(value, (list, tuple)):
        return "must be a list"
    if kind == "list":
        return "" if low <= len(value) <= high else "must have %d to %d elements" % (low, high)
    if kind == "texts":
        is_good = len(value) <= high and all(isinstance(one, str) and len(one) <= 64 for one in value)
        return "" if is_good else "must be at most %d texts" % high
    if kind == "seqs":
        is_good = low <= len(value) <= high and all(_is_number(one) and 0 < one <= log_line.MAX_SEQ for one in value)
        return "" if is_good else "must be %d to %d seqs" % (low, high)
    fits = len(value) == low and all(_is_number(one) and 0 <= one <= log_line.MAX_SEQ * 2 for one in value)
    return "" if fits else "must be %d numbers" % low


def _is_number(value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
