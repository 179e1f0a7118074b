"""The messages between board and companion, alike over MQTT and HTTP, by the same code on both sides.

A message is a head, a line as in engram.log_line, and a body: raw lines of a log for `lines`, a file's bytes
for `note`, a block of readings for `readings`, a text for `reply`, `say`, `got` and `found`.
docs/reference/messages.md describes the fields; messages.txt has their bounds, those of upper case by their names here.

All messages of a board have its id (`board`), the number of its connection (`link`) and their own number
(`n`), which only rise, so that repeated and late ones are ignored. An answer repeats the three.
"""

from engram import log_line, tables
from engram.errors import ArgumentError, EngramError
from engram.schema_check import check, rule_of

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


def _rule(kind: str, span: str = "", *items: str) -> dict:
    """Return the rule that messages.txt writes as these words."""
    if not span:
        return rule_of(kind)
    least, most = [int(bound) if bound.isdigit() else globals()[bound] for bound in span.split("..")]
    if kind == "text":
        return {"type": "string", "minLength": least, "maxLength": most}
    rule: dict = {"type": "array", "minItems": least, "maxItems": most}
    if items:
        rule["items"] = _rule(*items)
    return rule


def _read() -> tuple:
    """Return the fields of a board's messages, those of messages to it, and the answers to its own."""
    from_board, to_board, answers = {}, {}, {}
    rules = {}  # equal ones are one on the heap
    for row in tables.rows("link/messages"):
        head, _, fields = row.partition(":")
        op, _, names = head.partition(" > ")
        found = []
        for field in fields.split(",") if fields else ():
            name, _, said = field.strip().partition(" ")
            rules[said] = rules.get(said) or _rule(*said.split(" "))
            found.append((name, rules[said]))
        (from_board if names else to_board)[op] = tuple(found)
        answers[op] = names.split("|")
    return from_board, to_board, answers


FROM_BOARD, TO_BOARD, ANSWERS = _read()
"""By op the (name, rule) of each further field, and the ops of the answers."""

_COUNT = _rule("0..1073741823")
_ADDRESS = (("board", _rule("text", "1..32")), ("link", _COUNT), ("n", _COUNT))


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
