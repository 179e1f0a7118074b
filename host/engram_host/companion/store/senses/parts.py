"""Parts of readings: compressed JSON Lines `[slot,count,min,max,mean,last]`, ordered by slot."""

import json
import logging
import zlib
from collections.abc import Iterable, Mapping

from engram.senses.values import add_to, aggregate_of
from engram_host.companion.store.senses.types import Row

_log = logging.getLogger("engram.store")

MOST_BYTES = 1 << 20


def encode_part(rows: Mapping[int, Row]) -> bytes:
    """Encode rows by slot."""
    lines = "".join(json.dumps(rows[slot], separators=(",", ":")) + "\n" for slot in sorted(rows))
    return zlib.compress(lines.encode(), 6)


def decode_part(content: bytes) -> dict[int, Row]:
    """Decode rows by slot; log a damaged part and return nothing."""
    reader = zlib.decompressobj()
    try:
        lines = reader.decompress(content, MOST_BYTES)
        if not reader.eof:
            raise ValueError("it is cut, or longer than any")
        return {row[0]: Row(*row) for row in json.loads(b"[" + b",".join(lines.split(b"\n")[:-1]) + b"]")}
    except (zlib.error, ValueError, TypeError) as damage:
        _log.warning("a part of the readings is damaged and is passed over: %s", damage, extra={"repeat": "readings"})
        return {}


def add_rows(known: Iterable[Row], new: Iterable[Row]) -> dict[int, Row]:
    """Merge rows by slot; a slot in both has the readings of both."""
    found: dict[int, list[int]] = {}
    for row in (*known, *new):
        add_to(found, row[0], row[1:])
    return _rows(found)


def fold(rows: Iterable[Row], slot_of: "Mapping[int, int] | None" = None, size: int = 60) -> dict[int, Row]:
    """Aggregate rows to a coarser level, by `slot_of` or `size` slots each."""
    found: dict[int, list[int]] = {}
    for row in rows:
        add_to(found, slot_of[row[0]] if slot_of is not None else row[0] // size, row[1:])
    return _rows(found)


def _rows(found: Mapping[int, list[int]]) -> dict[int, Row]:
    return {slot: Row(slot, *aggregate_of(total)) for slot, total in found.items()}


def fuller(one: Mapping[int, Row], other: Mapping[int, Row]) -> dict[int, Row]:
    """Merge rows by slot, taking the one with more readings, or `one` on a tie."""
    found = dict(other)
    for slot, row in one.items():
        if slot not in found or row.readings >= found[slot].readings:
            found[slot] = row
    return {slot: found[slot] for slot in sorted(found)}
