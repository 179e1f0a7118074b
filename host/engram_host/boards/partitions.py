"""The partition table of an ESP32's flash: in the flash's own form, and as the csv that a build takes.

A MicroPython of 1.26 or newer has no partition for its file system in the official images' tables: it makes one at each
start, from the end of the last partition to the end of the flash. Older images, and frozen builds, have one with the
label vfs.
"""

import struct
from dataclasses import dataclass

from engram_host.boards.profile import Region

PARTITION_TABLE = Region(0x8000, 0xC00)
"""Where the table is in the flash."""

APP = 0
"""The type of a partition with a program in it."""

_ENTRY = struct.Struct("<HBBII16sI")
_MARK, _CHECKSUM_MARK = 0x50AA, 0xEBEB
_TYPES = {"app": 0, "data": 1}
_LABELS = ("vfs", "ffat")


@dataclass(frozen=True)
class Partition:
    """One line of the table; `kind` is its type, 0 for an application and 1 for data."""

    label: str
    kind: int
    place: Region


def parse_partitions(data: bytes) -> list[Partition]:
    """The partitions of a table as it is in the flash; none if there is no table in `data`."""
    found: list[Partition] = []
    for at in range(0, len(data) - _ENTRY.size + 1, _ENTRY.size):
        mark, kind, _, offset, size, label, _ = _ENTRY.unpack_from(data, at)
        if mark == _CHECKSUM_MARK:
            continue
        if mark != _MARK:
            break
        found.append(Partition(label.rstrip(b"\0").decode("ascii", "replace"), kind, Region(offset, size)))
    return found


def parse_partition_csv(text: str) -> list[Partition]:
    """The partitions of a csv; ValueError if a line cannot be read."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("#")[0].split(",")]
        if len(cells) > 1:
            label, kind, _, offset, size = cells[:5]
            found.append(Partition(label, _TYPES[kind], Region(int(offset, 0), int(size, 0))))
    return found


def find_filesystem(table: list[Partition], flash_bytes: int) -> Region | None:
    """Where MicroPython has its file system on a flash with this table; None if there is no room for one."""
    for partition in table:
        if partition.label in _LABELS:
            return partition.place
    end = max((partition.place.end for partition in table), default=0)
    return Region(end, flash_bytes - end) if 0 < end < flash_bytes else None
