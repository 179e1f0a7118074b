"""Rows of boards, of their logs' copies and of new lines."""

from dataclasses import dataclass
from typing import Any

from engram import log_line
from engram_host.companion.types import LogName, Sender
from engram_host.time_zones import BoardZone

DAMAGED_ASIDE = "it is damaged, and the board has no more what it said"


@dataclass
class DeviceRow:
    """A board's row; `link` and `n` are of its newest message, and `board` is empty in a new row."""

    name: str
    board: str = ""
    link: int = 0
    n: int = 0
    heard: int = 0
    standard: int = 0
    version: int = 0
    generation: int = 0
    rule: str = ""

    @property
    def zone(self) -> BoardZone:
        return BoardZone(self.standard, self.rule)

    def is_ahead_of(self, sender: Sender) -> bool:
        return (sender.link, sender.n) < (self.link, self.n)

    def next_version(self) -> int:
        self.version += 1
        return self.version


@dataclass
class LogRow:
    """A log's copy, complete up to `have`; both sides agreed at `agreed` rewrites, -1 if unknown."""

    device: str
    log: LogName
    epoch: int
    is_present: bool = True
    have: int = 0
    oldest: int = 1
    next: int = 1
    rewrites: int = 0
    agreed: int = -1
    replaced: int = 0

    @property
    def key(self) -> tuple[str, LogName, int]:
        return self.device, self.log, self.epoch


def as_log_row(row: tuple[Any, ...]) -> LogRow:
    device, log, epoch, is_present, *numbers = row
    return LogRow(device, log, epoch, bool(is_present), *numbers)


@dataclass(frozen=True)
class NewLine:
    seq: int
    version: int
    line: bytes | None


def line_bytes(value: object) -> bytes:
    if isinstance(value, (bytes, memoryview)):
        return bytes(value)
    return str(value).encode("utf-8", "replace")


def crc_of(line: bytes) -> str:
    return line[-11:-3].decode("ascii", "replace")


def is_intact(seq: int, crc: str, line: bytes) -> bool:
    return log_line.check(line) and crc_of(line) == crc and (_begins_with(line, seq) or _seq_of(line) == seq)


def _begins_with(line: bytes, seq: int) -> bool:
    return line.startswith(b'{"seq":%d,' % seq)


def _seq_of(line: bytes) -> int | None:
    return fields_of(line).get("seq")


def fields_of(line: bytes) -> dict[str, Any]:
    try:
        return log_line.decode(line)
    except ValueError:
        return {}
