"""Which lines were forgotten: the bytes of these leave the store.

A board takes forgotten texts off its flash when it compacts a log, and what told of it too. A text that had left the board
before that is only here: so it has to be found when what told of it goes.
"""

from collections.abc import Iterable, Iterator

from engram import log_line
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.row_types import LogRow

_AT_ONCE = 1000
"""Lines looked at together: bounds what is in RAM."""

Line = tuple[int, bytes]


def is_rest(line: bytes, old: bytes) -> bool:
    """Whether a line is what compaction left of another: it says that the text has gone, or says nothing new."""
    new, was = _fields(line), _fields(old)
    if new.get("gone") is True:
        return True
    return bool(new) and all(key in was and was[key] == value for key, value in new.items())


def redacted(rows: Rows, copy: LogRow, taken_out: Iterable[Line]) -> list[Line]:
    """The turns that had left the board and of which lines that go now said that they were forgotten.

    `taken_out` are rising; a later line of the copy may have taken back what an earlier one said.
    """
    turns: dict[int, int] = {}
    for seq, line in taken_out:
        if b'"op":"' in line:
            _observe(turns, seq, _fields(line), copy.oldest)
    if not turns:
        return []
    for _, line in _containing(rows, copy, min(turns.values()), copy.have, b'"op":"show"'):
        turns.pop(_fields(line).get("turn", 0), None)
    return [line for turn in sorted(turns) for line in rows.held(copy, turn - 1, turn)]


def _observe(turns: dict[int, int], seq: int, fields: dict, oldest: int) -> None:
    turn = fields.get("turn", 0)
    if fields.get("op") == "redact" and turn < oldest:
        turns[turn] = seq
    elif fields.get("op") == "show":
        turns.pop(turn, None)


def beyond_board(rows: Rows, copy: LogRow) -> list[Line]:
    """The forgotten lines that are older than all that the board has.

    A board's records leave it by compaction alone. Turns leave the journal for want of room, too, and stay here: but for
    those of which the copy itself tells that they, or their sessions, were forgotten.
    """
    if copy.log == "records":
        return rows.held(copy, 0, copy.oldest - 1)
    told = list(_containing(rows, copy, 0, copy.oldest - 1, b'"op":"'))
    lines = {**dict(redacted(rows, copy, told)), **dict(_of_deleted_sessions(rows, copy))}
    return sorted(lines.items())


def _of_deleted_sessions(rows: Rows, copy: LogRow) -> Iterator[Line]:
    lines = _containing(rows, copy, 0, copy.have, b'"op":"drop"')
    said = [_fields(line) for _, line in lines]
    sessions = {fields.get("sid") for fields in said if fields.get("op") == "drop"}
    if sessions:
        for seq, line in _containing(rows, copy, 0, copy.oldest - 1, b'"role":"'):
            if _fields(line).get("sid") in sessions:
                yield seq, line


def _containing(rows: Rows, copy: LogRow, after: int, to: int, part: bytes) -> Iterator[Line]:
    """The lines of a copy that have some bytes, read a few at a time."""
    while found := rows.held(copy, after, to, _AT_ONCE, part):
        yield from found
        after = found[-1][0]


def _fields(line: bytes) -> dict:
    """What a line says; nothing if it cannot be read."""
    try:
        return log_line.decode(line)
    except ValueError:
        return {}
