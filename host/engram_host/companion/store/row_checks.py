"""Checks of rows: those of tokens and of the audit log end with a crc32 of their values, as lines do.

What a failing disk, or a foreign hand, made of a row is seen by it: a token may not give more than it was made for, and an
entry of the audit log may not say what nobody did. A row of a schema without checks has none (NULL) and counts as sound.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from engram_host.companion.store.queries import Rows
from engram_host.wording import counted


@dataclass(frozen=True)
class CheckedTable:
    """The columns that a check is made of; what a row of the table is called, and what a person does about a damaged one."""

    columns: str
    one: str
    many: str
    remedy: str


CHECKED = {
    "device_tokens": CheckedTable(
        "device, digest, mosquitto, made",
        "board's token",
        "boards' tokens",
        "it is refused: give the board a new one with `engram device rotate NAME`",
    ),
    "former_tokens": CheckedTable(
        "device, digest, ends",
        "board's former token",
        "boards' former tokens",
        "it is refused, as it would be soon anyway",
    ),
    "operator_tokens": CheckedTable(
        "name, digest, is_read_only, made, ends",
        "operator's token",
        "operators' tokens",
        "it is refused: remove it and add another with `engram token`",
    ),
    "audit": CheckedTable(
        "at, who, action, outcome, address",
        "entry of the audit log",
        "entries of the audit log",
        "a backup may still have it whole",
    ),
}
"""The tables whose rows have a check, in their column `crc`."""


def row_check(values: Sequence[Any]) -> int:
    """The check of a row's values, numbers, texts or bytes: a crc32."""
    crc = 0
    for value in values:
        data = bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()
        crc = crc32(data, crc32(b"%d:" % len(data), crc))
    return crc


def is_sound(row: Sequence[Any]) -> bool:
    """Whether a row is as it was written; its last value is its check, or None."""
    return row[-1] is None or row[-1] == row_check(row[:-1])


def damaged_rows(rows: Rows) -> list[str]:
    """A sentence for each table of which rows are damaged."""
    found: list[str] = []
    for name, table in CHECKED.items():
        count = sum(not is_sound(row) for row in rows.run(f"SELECT {table.columns}, crc FROM {name}"))
        if count:
            verb = "is" if count == 1 else "are"
            found.append(f"{counted(count, table.one, table.many)} in the database {verb} damaged: {table.remedy}.")
    return found
