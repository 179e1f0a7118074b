"""Time zones: that of a board, by the firmware's own rules, and that of this computer, as the setting `timezone` has it."""

import os
import zoneinfo
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from engram.config import zone_of
from engram.zone import Zone

_HERE = Path("/etc/localtime")
_FILE_BYTES = 1 << 20
"""The longest file that is read: those of the time zone database have some KB."""
_DAY_SECONDS = 86400
_MOST_RULES = 256
"""Rules that are kept read: there are some 30 with daylight saving on Earth."""

_zone = lru_cache(maxsize=_MOST_RULES)(Zone)


@dataclass(frozen=True)
class BoardZone:
    """`standard` is the offset of standard time in minutes east of Greenwich, by which the index names days; `rule` says when
    there is daylight saving time, "" where there is none.
    """

    standard: int = 0
    rule: str = ""

    def offset_minutes(self, at: int) -> int:
        """Minutes east of Greenwich at a moment."""
        return _zone(self.rule).offset_minutes(at) if self.rule else self.standard

    def day_of(self, at: int) -> int:
        """The day of a moment, in days since 1970."""
        return (at + self.offset_minutes(at) * 60) // _DAY_SECONDS

    def start_of(self, day: int) -> int:
        """The moment at which a day begins, given in days since 1970."""
        local = day * _DAY_SECONDS
        return _zone(self.rule).moment(local) if self.rule else local - self.standard * 60

    def spans(self, first: int, last: int) -> list[tuple[int, int, int]]:
        """(first, end, minutes east) of the times with one offset in which some moments are, in order."""
        found = []
        at = first
        while self.rule and at <= last:
            begin, end, minutes = _zone(self.rule).span_of(at)
            found.append((begin, end, minutes))
            at = end
        return found


def is_rule(rule: str) -> bool:
    """Whether a text is a rule that the firmware knows."""
    try:
        _zone(rule)
    except ValueError:
        return False
    return True


# --- of this computer


def computer_zone(environ: Mapping[str, str] = os.environ, here: Path = _HERE) -> str:
    """The rule of this computer's zone if it has daylight saving, else its offset from UTC; "" if a board takes neither."""
    for rule in _rules(environ.get("TZ", ""), here):
        try:
            standard, _ = zone_of(rule)
        except ValueError:
            continue
        return rule if "," in rule else _written(standard)
    offset = datetime.now().astimezone().isoformat()[-6:]
    # A zone of local mean time has seconds too, and then this is no offset.
    return offset if offset[0] in "+-" else ""


def read_rule(file: Path) -> str:
    """The rule at the end of a file of the time zone database; "" if it has none or cannot be read."""
    try:
        with file.open("rb") as opened:
            data = opened.read(_FILE_BYTES)
    except (OSError, ValueError):
        return ""
    if not data.startswith(b"TZif"):
        return ""
    return data.rstrip(b"\n").rpartition(b"\n")[2].decode("ascii", "replace")


def _rules(named: str, here: Path) -> Iterator[str]:
    """What may be the rule: by the variable TZ, which names a zone or is a rule itself, or by the computer's settings."""
    if not named:
        yield read_rule(here)
        return
    name = named.removeprefix(":")
    for folder in zoneinfo.TZPATH:
        yield read_rule(Path(folder, name))  # an absolute name takes the folder's place
    yield name


def _written(minutes: int) -> str:
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"
