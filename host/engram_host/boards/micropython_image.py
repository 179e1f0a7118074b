"""MicroPython for a chip: image files and partition tables.

Official images since MicroPython 1.26 have no partition for the file system: MicroPython makes one at each
start, from the end of the last partition to the end of the flash. Older images have one labelled vfs.

An image file holds bootloader, partition table and application, from the chip's first offset on.
"""

import re
import struct
from dataclasses import dataclass
from pathlib import Path

from engram_host.boards.errors import NoFile, WrongFirmware
from engram_host.boards.profile import CHIPS, BoardProfile, Region

PARTITION_TABLE = Region(0x8000, 0xC00)

APP = 0

_ENTRY = struct.Struct("<HBBII16sI")
_MARK, _CHECKSUM_MARK = 0x50AA, 0xEBEB
_LABELS = ("vfs", "ffat")


@dataclass(frozen=True)
class Partition:
    label: str
    kind: int
    place: Region


def parse_partitions(data: bytes) -> list[Partition]:
    """Parse a partition table; [] if `data` holds none."""
    found: list[Partition] = []
    for at in range(0, len(data) - _ENTRY.size + 1, _ENTRY.size):
        mark, kind, _, offset, size, label, _ = _ENTRY.unpack_from(data, at)
        if mark == _CHECKSUM_MARK:
            continue
        if mark != _MARK:
            break
        found.append(Partition(label.rstrip(b"\0").decode("ascii", "replace"), kind, Region(offset, size)))
    return found


def find_filesystem(table: list[Partition], flash_bytes: int) -> Region | None:
    """Return the region of MicroPython's file system; None if there is no room."""
    for partition in table:
        if partition.label in _LABELS:
            return partition.place
    end = max((partition.place.end for partition in table), default=0)
    return Region(end, flash_bytes - end) if 0 < end < flash_bytes else None


# --- images


OLDEST = (1, 26)

_IMAGE_MARK = 0xE9
_CHIP_ID_AT = 12
_CHIP_IDS = {0: "esp32", 2: "esp32s2", 5: "esp32c3", 9: "esp32s3", 12: "esp32c2", 13: "esp32c6", 16: "esp32h2"}
_VERSION = re.compile(rb"MicroPython v(\d+)\.(\d+)[^ \0]* on \d{4}-\d\d-\d\d")
_OFFICIAL = re.compile(rb"Generic ESP32(?:S3)? module(?: with (?:Octal-)?SPIRAM)?\b")
_VARIANTS = {b"with SPIRAM": "SPIRAM", b"with Octal-SPIRAM": "SPIRAM_OCT"}


@dataclass(frozen=True)
class MicroPythonImage:
    """A MicroPython for a profile's chip; `offset` is its place in the flash."""

    data: bytes
    offset: int
    version: str
    table: list[Partition]


def read_image(path: Path, profile: BoardProfile) -> MicroPythonImage:
    """Read MicroPython from a file; raises NoFile, or WrongFirmware if the board cannot run it."""
    advice = f"take {profile.download}-DATE-VERSION.bin from MicroPython's download page."
    try:
        data = path.read_bytes()
    except OSError as error:
        kind = NoFile if isinstance(error, FileNotFoundError) else WrongFirmware
        raise kind(f"{path} cannot be read: {error.strerror}; {advice}") from None
    if len(data) <= _CHIP_ID_AT + 2 or data[0] != _IMAGE_MARK:
        raise WrongFirmware(f"{path} is no image for a chip of Espressif's: {advice}")
    chip = _CHIP_IDS.get(*struct.unpack_from("<H", data, _CHIP_ID_AT))
    if chip != profile.chip:
        raise WrongFirmware(
            f"{path} is for {chip or 'another chip'}, and {profile.name} has an {profile.chip}: {advice}"
        )
    offset = CHIPS[profile.chip]
    table = parse_partitions(data[PARTITION_TABLE.offset - offset :][: PARTITION_TABLE.size])
    if not table:
        raise WrongFirmware(f"{path} has no partition table (is it an .app-bin, for updates only?): {advice}")
    _check_length(path, data, offset, table)
    version = _VERSION.search(data)
    if not version:
        raise WrongFirmware(f"{path} is no MicroPython: {advice}")
    if (int(version[1]), int(version[2])) < OLDEST:
        oldest = ".".join(str(number) for number in OLDEST)
        raise WrongFirmware(f"{path} is {version[0].decode()}, and Engram needs {oldest} or newer: {advice}")
    if _variant(data, profile) != profile.micropython_variant:
        raise WrongFirmware(f"{path} is of another variant, which handles PSRAM otherwise: {advice}")
    return MicroPythonImage(data, offset, version[0].decode(), table)


def _variant(data: bytes, profile: BoardProfile) -> str:
    name = _OFFICIAL.search(data)
    if not name:
        return profile.micropython_variant
    return next((variant for end, variant in _VARIANTS.items() if name[0].endswith(end)), "")


def _check_length(path: Path, data: bytes, offset: int, table: list[Partition]) -> None:
    for partition in table:
        if partition.kind == APP:
            if not partition.place.offset < offset + len(data) <= partition.place.end:
                raise WrongFirmware(f"{path} is cut short or damaged: its length does not fit its own partition table.")
            return
