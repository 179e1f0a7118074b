"""Parts of SQL statements that several tables share, in what SQLite and PostgreSQL have in common."""

from collections.abc import Sequence
from typing import Any, TypeVar

OF_COPY = "device = ? AND log = ? AND epoch = ?"
LINE_COLUMNS = "device, log, epoch, seq, version, received, crc, line"
"""Those of a new line; the others have their defaults."""

ON_KNOWN_LINE = (
    "ON CONFLICT (device, log, epoch, seq) DO UPDATE SET version = excluded.version, received = excluded.received, "
    "crc = excluded.crc, line = excluded.line, beyond = excluded.beyond, archive = "
    # What was damaged comes again: it is as archived as it was.
    "CASE WHEN lines.crc = '' AND lines.line IS NOT NULL AND excluded.line IS NOT NULL THEN lines.archive ELSE 0 END"
)
"""What an INSERT of a line does if there is one with its key."""

PRESENT = (
    "JOIN logs ON logs.device = {0}.device AND logs.log = {0}.log AND logs.epoch = {0}.epoch AND logs.is_present "
    "WHERE {0}.device = ? AND {0}.version > ?"
)

Value = TypeVar("Value")


def padded(values: Sequence[Value]) -> list[Value]:
    """Values for a list in SQL, the last one repeated until their count is a power of two.

    So lists of all lengths make few different statements, and a database that keeps prepared ones plans each of them once.
    """
    count = 1 << (len(values) - 1).bit_length() if values else 0
    return [*values, *([values[-1]] * (count - len(values)) if values else ())]


def placeholders(values: Sequence[Any]) -> str:
    """As many `?` as there are values, for a list in SQL."""
    return ", ".join("?" * len(values))
