"""Messages on the state of a board: its notes, its senses and readings, and its status; all may be hostile."""

import json
from collections.abc import Collection
from dataclasses import fields
from typing import Any
from zlib import crc32

from engram import text
from engram.link import messages
from engram.senses import rings
from engram.senses.rings import rows_in
from engram_host.companion.errors import Refused
from engram_host.companion.replication.messages import DAMAGED_SECONDS, UPDATE_SECONDS, Head
from engram_host.companion.store.boards.status import TELEGRAM_STATES, BoardStatus
from engram_host.companion.store.senses.types import SPANS, Listed, ReadingBlock, Row, SenseList
from engram_host.companion.types import NoteEntry, NoteSpan

# --- notes: a list of them, and texts that are missing here


def read_note_span(device: str, head: Head) -> NoteSpan:
    """Return a board's list of notes; raises Refused."""
    entries = tuple(_note_entry(one) for one in head["files"])
    return NoteSpan(device, head["epoch"], head["after"], head["to"], entries)


def check_note(head: Head, body: bytes) -> None:
    if messages.shown(crc32(body)) != head["digest"]:
        raise Refused("a note was damaged on the way, or changed while it was sent.", DAMAGED_SECONDS)


def _note_entry(entry: Any) -> NoteEntry:
    if not (isinstance(entry, list) and [type(value) for value in entry] == [str, int, str]):
        raise Refused("an entry of the notes has another form: the board's firmware is at fault.", UPDATE_SECONDS)
    file, size, digest = entry
    if not size:
        return NoteEntry(file, None, digest == messages.LEFT)
    try:
        return NoteEntry(file, int(digest, 16))
    except ValueError:
        raise Refused("a digest of a note is none: the board's firmware is at fault.", UPDATE_SECONDS) from None


# --- senses: a list of them, and blocks of readings


MOST_NUMBER = 127
_MOST_DECIMALS = 3
_NAME_CHARS, _UNIT_CHARS = 32, 8
_LOWEST, _HIGHEST = -(1 << 31), (1 << 31) - 1
_MOST_SLOT = (1 << 32) - 1
_MOST_MADE = 1 << 40
_MOST_PARTS = 64
"""Parts of a sense that a block may fill; boards write some days, more after a wrong clock."""


def read_list(head: Head) -> SenseList:
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


def read_block(head: Head, body: bytes) -> ReadingBlock:
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


# --- status


MOST = (1 << 53) - 1
"""Highest figure: exact in every JSON parser."""

_LONGEST = {"firmware": 32, "mode": 16, "reset": 16, "model": 64, "telegram": 16}

_LONGEST_SENTENCE = 200
_MOST_PINS, _LONGEST_PIN = 24, 32

_KINDS = {field.name: type(field.default) for field in fields(BoardStatus)}


def read_status(head: Head) -> BoardStatus:
    """Return a board's figures, cut to their bounds; ignores newer fields, raises Refused."""
    found: dict[str, Any] = {}
    for item in head["items"]:
        if not (isinstance(item, list) and len(item) == 2 and isinstance(item[0], str)):
            raise _status_refusal("an item is no pair of a name and a value")
        name, value = item
        if name in _KINDS:
            found[name] = _bounded(name, value)
    if found.get("telegram", "") not in ("", *TELEGRAM_STATES):
        raise _status_refusal("telegram has no such state")
    return BoardStatus(**found)


def _bounded(name: str, value: Any) -> int | str:
    if name == "pins":
        return _pins(value)
    if type(value) is not _KINDS[name]:
        raise _status_refusal(f"{name} is no {'number' if _KINDS[name] is int else 'text'}")
    if isinstance(value, int):
        return min(max(value, 0), MOST)
    return text.cut(" ".join(text.printable(value).split()), _LONGEST.get(name, _LONGEST_SENTENCE))


def _pins(value: Any) -> str:
    if not isinstance(value, dict):
        raise _status_refusal("pins is no object")
    return json.dumps({_shown(name): _pin(each) for name, each in list(value.items())[:_MOST_PINS]}, ensure_ascii=False)


def _pin(value: Any) -> int | str | None:
    if type(value) is int:
        return min(max(value, -MOST), MOST)
    if isinstance(value, str):
        return _shown(value)
    if value is None:
        return None
    raise _status_refusal("a pin has no such value")


def _shown(said: str) -> str:
    return text.cut(" ".join(text.printable(said).split()), _LONGEST_PIN)


def _status_refusal(why: str) -> Refused:
    return Refused(f"a status has another form, {why}: the board's firmware is at fault.", UPDATE_SECONDS)
