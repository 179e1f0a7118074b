"""What a board has let go to the companion for good: lines that stay when the board's log has them no more.

A board first asks for a promise; then it writes an `archive` line for the record, and that says of the promised line that
it stays. A promise that nothing came of is void once all is here that the board had when it began its connection: what it has
let go meanwhile without such a line was forgotten, or went to its trash.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from engram import wire
from engram_host.companion.store.rows import Rows
from engram_host.companion.store.state import DeviceRow, LogRow, NewLine

PROMISED = -1

Line = tuple[int, bytes]


def follow(rows: Rows, device: DeviceRow, copy: LogRow, come: Iterable[Line], now: int) -> None:
    """Take what new lines of the records say of the archive."""
    for seq, line in come:
        if b'"op":"archive"' in line:
            _archive(rows, device, copy, seq, _fields(line))
        elif b'"op":"forget"' in line:
            _forget(rows, device, copy, _fields(line), now)
        elif b'"restored":' in line:
            _release(rows, device, copy, _number(_fields(line)), seq, now)


def divide(rows: Rows, copy: LogRow, lines: Sequence[Line], promises: bool) -> tuple[list[Line], list[Line]]:
    """(those of the archive, others) of lines that a board has let go; whether promised ones count as the first."""
    marks = {seq: mark for seq, mark, _, _ in rows.marked(copy)} if lines and copy.log == "records" else {}
    stay = [pair for pair in lines if marks.get(pair[0], 0) > 0 or (promises and marks.get(pair[0]) == PROMISED)]
    stays = {seq for seq, _ in stay}
    return stay, [pair for pair in lines if pair[0] not in stays]


def put_beyond(rows: Rows, device: DeviceRow, copy: LogRow, lines: Sequence[Line]) -> None:
    """Note that a board has lines no more that stay."""
    rows.set_beyond(copy, [(seq, device.step()) for seq, _ in lines])


def settle(rows: Rows, device: DeviceRow, copy: LogRow, now: int) -> None:
    """Let go what was promised, was let go by the board, and is not archived; both sides have to be in step."""
    if copy.log != "records" or copy.have + 1 < copy.next or copy.agreed != copy.rewrites:
        return
    void = [(seq, line) for seq, _, is_beyond, line in rows.marked(copy, PROMISED) if is_beyond]
    _purge(rows, device, copy, void, now)


def _archive(rows: Rows, device: DeviceRow, copy: LogRow, seq: int, fields: dict[str, Any]) -> None:
    number, was = _number(fields), fields.get("was")
    if number and isinstance(was, int):
        rows.set_archive(copy, was, number, device.step())
        rows.set_archive(copy, seq, number, device.step())


def _forget(rows: Rows, device: DeviceRow, copy: LogRow, fields: dict[str, Any], now: int) -> None:
    """Forget an archived record. Where the board could not know whose it is, only who may see it can forget it."""
    number = _number(fields)
    found = [_fields(line) for _, _, _, line in rows.marked(copy, number)] if number else []
    scopes = fields.get("scopes")
    if isinstance(scopes, list) and not any(one.get("scope", "all") in scopes for one in found if "content" in one):
        return
    _release(rows, device, copy, number, 0, now, is_forgotten=True)


def _release(
    rows: Rows, device: DeviceRow, copy: LogRow, number: int, newest: int, now: int, is_forgotten: bool = False
) -> None:
    """A record is archived no more: what only the companion has of it goes, but for the line `newest`."""
    found = [one for one in rows.marked(copy, number) if one[0] != newest] if number else []
    for seq, _, is_beyond, _ in found:
        if not is_beyond:
            rows.set_archive(copy, seq, 0, device.step())
    gone = [(seq, line) for seq, _, is_beyond, line in found if is_beyond]
    _purge(rows, device, copy, gone, now, is_forgotten)


def _purge(
    rows: Rows, device: DeviceRow, copy: LogRow, lines: Sequence[Line], now: int, is_forgotten: bool = True
) -> None:
    if not lines:
        return
    rows.put(copy, [NewLine(seq, device.step(), None) for seq, _ in lines], now)
    rows.drop_vectors_of(copy, [seq for seq, _ in lines])
    if is_forgotten:
        rows.forget_equals(copy, lines)
    rows.let_go = True


def _number(fields: dict[str, Any]) -> int:
    """The number of the record that a line is about, 0 if it names none."""
    ref = fields.get("id")
    return int(ref[1:]) if isinstance(ref, str) and ref[:1] == "m" and ref[1:].isdecimal() else 0


def _fields(line: bytes) -> dict[str, Any]:
    try:
        return wire.decode(line)
    except ValueError:
        return {}
