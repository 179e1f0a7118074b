"""Messages on a board's senses: their list, and blocks of readings; both may be hostile."""

from collections.abc import Collection
from typing import Any

from engram import text
from engram.link import messages
from engram.senses import rings
from engram.senses.rows import rows_in
from engram_host.companion.errors import Refused
from engram_host.companion.replication.messages import (
    DAMAGED_SECONDS,
    UPDATE_SECONDS,
    ReadingsHead,
    SensesHead,
)
from engram_host.companion.store.senses.table import SenseTable
from engram_host.companion.store.senses.types import (
    SPANS,
    HeldReadings,
    Listed,
    ReadingBlock,
    Row,
    SenseList,
)
from engram_host.companion.types import LineQuota, Sender

MOST_NUMBER = 127
_MOST_DECIMALS = 3
_NAME_CHARS, _UNIT_CHARS = 32, 8
_LOWEST, _HIGHEST = -(1 << 31), (1 << 31) - 1
_MOST_SLOT = (1 << 32) - 1
_MOST_MADE = 1 << 40
_MOST_PARTS = 64
"""Parts of a sense that a block may fill; boards write some days, more after a wrong clock."""


def take(
    store: SenseTable,
    sender: Sender,
    device: str,
    head: SensesHead | ReadingsHead,
    body: bytes,
    now: int,
    quota: LineQuota,
) -> HeldReadings:
    """Apply a message and return the state; raises Refused or Stale."""
    if head["op"] == "senses":
        return store.put_senses(sender, device, read_list(head), now)
    return store.put_readings(sender, device, read_block(head, body), now, quota)


def read_list(head: SensesHead) -> SenseList:
    """Return a board's list of senses; raises Refused."""
    shared = frozenset(head["shared"])
    listed = tuple(_listed(item, shared) for item in head["items"])
    for keys in ({each.number for each in listed}, {each.name for each in listed}):
        if len(keys) < len(listed):
            raise _refusal("two of them are the same")
    return SenseList(head["epoch"], head["next"], head["whole"], listed)


def _listed(item: Any, shared: Collection[int]) -> Listed:
    if not (isinstance(item, list) and [type(value) for value in item] == [int, str, str, int, int]):
        raise _refusal("an item has another form")
    number, name, unit, decimals, made = item
    is_sound = 0 <= number <= MOST_NUMBER and 0 <= decimals <= _MOST_DECIMALS and 0 <= made <= _MOST_MADE
    if not is_sound or not 0 < len(name) <= _NAME_CHARS or len(unit) > _UNIT_CHARS:
        raise _refusal("a value is beyond its bounds")
    if text.printable(name) != name or text.printable(unit) != unit:
        raise _refusal("a name or unit has characters that cannot be shown")
    return Listed(number, name, unit, decimals, made, number in shared)


def _refusal(why: str) -> Refused:
    return Refused(f"a list of senses has another form, {why}: the board's firmware is at fault.", UPDATE_SECONDS)


def read_block(head: ReadingsHead, body: bytes) -> ReadingBlock:
    """Return a block's rows by sense, without impossible ones; raises Refused if damaged."""
    block = rings.block_at(body)
    if block is None or block.size != len(body):
        raise Refused("readings were damaged on the way.", DAMAGED_SECONDS)
    found: dict[int, list[Row]] = {}
    for number, slot, aggregate in rows_in(block.rows):
        found.setdefault(number, []).append(Row(slot, *aggregate))
    rows = {number: _newest_parts(found[number], SPANS[head["level"]]) for number in found}
    return ReadingBlock(head["epoch"], head["level"], head["seq"], messages.shown(block.check), block.size, rows)


def _newest_parts(found: list[Row], span: int) -> list[Row]:
    """Return the valid rows of the newest parts of `span` slots, within a block's limit."""
    rows = [row for row in found if _is_sound(row)]
    parts = sorted({row.slot // span for row in rows})
    if len(parts) <= _MOST_PARTS:
        return rows
    return [row for row in rows if row.slot // span >= parts[-_MOST_PARTS]]


def _is_sound(row: Row) -> bool:
    in_order = _LOWEST <= row.low <= row.mean <= row.high <= _HIGHEST and row.low <= row.last <= row.high
    return in_order and 0 < row.readings < 1 << 40 and 0 <= row.slot <= _MOST_SLOT
