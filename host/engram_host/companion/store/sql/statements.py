"""Parts of SQL statements that several tables share, in the common subset of both databases."""

from collections.abc import Sequence
from typing import Any, TypeVar

OF_COPY = "device = ? AND log = ? AND epoch = ?"
LINE_COLUMNS = "device, log, epoch, seq, version, received, crc, line"

ON_KNOWN_LINE = (
    "ON CONFLICT (device, log, epoch, seq) DO UPDATE SET version = excluded.version, received = excluded.received, "
    "crc = excluded.crc, line = excluded.line, beyond = excluded.beyond, archive = "
    # A resent damaged line keeps its archive mark.
    "CASE WHEN lines.crc = '' AND lines.line IS NOT NULL AND excluded.line IS NOT NULL THEN lines.archive ELSE 0 END"
)

PRESENT = (
    "JOIN logs ON logs.device = {0}.device AND logs.log = {0}.log AND logs.epoch = {0}.epoch AND logs.is_present "
    "WHERE {0}.device = ? AND {0}.version > ?"
)

Value = TypeVar("Value")


def padded(values: Sequence[Value]) -> list[Value]:
    """Repeat the last value up to a power of two, so that few distinct statements are prepared."""
    count = 1 << (len(values) - 1).bit_length() if values else 0
    return [*values, *([values[-1]] * (count - len(values)) if values else ())]


def placeholders(values: Sequence[Any]) -> str:
    """Return as many `?` as there are values."""
    return ", ".join("?" * len(values))
