"""How far the copy of a board's senses is."""

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

from engram.link import messages
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.senses.types import HeldReadings

LIST_FIRST_SECONDS = 5
"""When a board tries again whose senses are not listed here yet."""

_COLUMNS = ("epoch", "next", "minute_seq", "minute_check", "hour_seq", "hour_check", "day_seq", "day_check")
_NOTHING = ((0, ""), (0, ""), (0, ""))


@dataclass(frozen=True)
class SenseCopy:
    """Of a board: the epoch, the number of its next new sense, and of each level (seq, check) of the newest block."""

    epoch: int
    next: int
    newest: Sequence[tuple[int, str]] = _NOTHING


def read_copy(rows: Rows, device: str) -> SenseCopy | None:
    """The copy of a board's senses, None if there is none."""
    sql = f"SELECT {', '.join(_COLUMNS)} FROM sense_copies WHERE device = ?"
    for epoch, following, *newest in rows.run(sql, (device,)):
        return SenseCopy(epoch, following, tuple(zip(newest[::2], newest[1::2], strict=True)))
    return None


def save_copy(rows: Rows, device: str, copy: SenseCopy) -> None:
    """Write how far it is."""
    kept = ", ".join(f"{column} = excluded.{column}" for column in _COLUMNS)
    rows.run(
        f"INSERT INTO sense_copies (device, {', '.join(_COLUMNS)}) VALUES ({', '.join('?' * (len(_COLUMNS) + 1))}) "
        f"ON CONFLICT (device) DO UPDATE SET {kept}",
        (device, copy.epoch, copy.next, *(value for pair in copy.newest for value in pair)),
    )


def held_readings(rows: Rows, device: str) -> HeldReadings:
    """What there is of a board's senses."""
    copy = read_copy(rows, device) or SenseCopy(0, 0)
    sql = "SELECT number, name, unit, decimals, made FROM senses WHERE device = ? AND replaced = 0 ORDER BY number"
    listed = [tuple(each) for each in rows.run(sql, (device,))]
    check = crc32(repr((copy.epoch, copy.next, tuple(copy.newest), listed)).encode())
    return HeldReadings(tuple(copy.newest), messages.shown(check))


def sense_state(rows: Rows, device: str, epoch: int) -> str:
    """What there is of a board's senses, as 8 hexadecimal digits: another value if any is missing."""
    copy = read_copy(rows, device)
    return held_readings(rows, device).state if copy and copy.epoch == epoch else messages.shown(0)
