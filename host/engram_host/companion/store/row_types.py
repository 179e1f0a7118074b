"""What a store knows of a board and of the copies of its logs, and a line on its way there."""

from dataclasses import dataclass
from typing import Any

from engram import log_line
from engram_host.companion.types import LogName, Sender
from engram_host.time_zones import BoardZone

DAMAGED_ASIDE = "it is damaged, and the board has no more what it said"
"""Why a repair set a line aside."""


@dataclass
class DeviceRow:
    """A board's row. `link` and `n` are those of its newest message, `heard` Unix seconds, `standard` and `rule` those of its
    time zone; `board` is empty in a row that was made just now. `generation` differs from that of an erased board of this name.
    """

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
        """The board's time zone."""
        return BoardZone(self.standard, self.rule)

    def is_ahead_of(self, sender: Sender) -> bool:
        """Whether a later message of the board was here already."""
        return (sender.link, sender.n) < (self.link, self.n)

    def next_version(self) -> int:
        """The version of one more change."""
        self.version += 1
        return self.version


@dataclass
class LogRow:
    """The copy of a log in one epoch: whole up to `have`. `oldest`, `next` and `rewrites` are as the board last said,
    `agreed` is the number of rewrites at which both were found equal, -1 if they have to be compared. `replaced` is when
    another epoch took its place, in Unix seconds; 0 while it is present.
    """

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
        """What its lines have in common."""
        return self.device, self.log, self.epoch


def as_log_row(row: tuple[Any, ...]) -> LogRow:
    """The copy of a log, from the columns of its row."""
    device, log, epoch, is_present, *numbers = row
    return LogRow(device, log, epoch, bool(is_present), *numbers)


@dataclass(frozen=True)
class NewLine:
    """A line that is to be written, or, without bytes, one that has gone."""

    seq: int
    version: int
    line: bytes | None


def line_bytes(value: object) -> bytes:
    """The bytes of a line as the database gives it: of any type, where the row is damaged."""
    if isinstance(value, (bytes, memoryview)):
        return bytes(value)
    return str(value).encode("utf-8", "replace")


def crc_of(line: bytes) -> str:
    """The check that a line ends with (see engram.log_line)."""
    return line[-11:-3].decode("ascii", "replace")


def is_intact(seq: int, crc: str, line: bytes) -> bool:
    """Whether a line is as its board wrote it, and the one that a row with this seq and check is for."""
    return log_line.check(line) and crc_of(line) == crc and (_begins_with(line, seq) or _seq_of(line) == seq)


def _begins_with(line: bytes, seq: int) -> bool:
    """Whether a line has this seq, as far as that can be seen without parsing it: boards write it first."""
    return line.startswith(b'{"seq":%d,' % seq)


def _seq_of(line: bytes) -> int | None:
    return fields_of(line).get("seq")


def fields_of(line: bytes) -> dict[str, Any]:
    """What a line says; nothing if it cannot be read."""
    try:
        return log_line.decode(line)
    except ValueError:
        return {}
