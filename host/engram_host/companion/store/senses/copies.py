"""Progress of the copy of a board's senses."""

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

from engram.link import messages
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.senses.types import HeldReadings

LIST_FIRST_SECONDS = 5

_COLUMNS = ("epoch", "next", "minute_seq", "minute_check", "hour_seq", "hour_check")
_NOTHING = ((0, ""), (0, ""))


@dataclass(frozen=True)
class SenseCopy:
    """A board's epoch, its next sense number, and (seq, check) of each level's newest block."""

    epoch: int
    next: int
    newest: Sequence[tuple[int, str]] = _NOTHING


def read_copy(rows: Rows, device: str) -> SenseCopy | None:
    """Return the copy of a board's senses, or None."""
    sql = f"SELECT {', '.join(_COLUMNS)} FROM sense_copies WHERE device = ?"
    for epoch, following, *newest in rows.run(sql, (device,)):
        return SenseCopy(epoch, following, tuple(zip(newest[::2], newest[1::2], strict=True)))
    return None


def save_copy(rows: Rows, device: str, copy: SenseCopy) -> None:
    """Save the copy of a board's senses."""
    kept = ", ".join(f"{column} = excluded.{column}" for column in _COLUMNS)
    rows.run(
        f"INSERT INTO sense_copies (device, {', '.join(_COLUMNS)}) VALUES ({', '.join('?' * (len(_COLUMNS) + 1))}) "
        f"ON CONFLICT (device) DO UPDATE SET {kept}",
        (device, copy.epoch, copy.next, *(value for pair in copy.newest for value in pair)),
    )


def held_readings(rows: Rows, device: str) -> HeldReadings:
    """Return the newest blocks and the state of a board's senses."""
    copy = read_copy(rows, device) or SenseCopy(0, 0)
    sql = "SELECT number, name, unit, decimals, made FROM senses WHERE device = ? AND replaced = 0 ORDER BY number"
    listed = [tuple(each) for each in rows.run(sql, (device,))]
    check = crc32(repr((copy.epoch, copy.next, tuple(copy.newest), listed)).encode())
    return HeldReadings(tuple(copy.newest), messages.shown(check))


def sense_state(rows: Rows, device: str, epoch: int) -> str:
    """Return 8 hexadecimal digits that change if any sense of a board is missing."""
    copy = read_copy(rows, device)
    return held_readings(rows, device).state if copy and copy.epoch == epoch else messages.shown(0)
