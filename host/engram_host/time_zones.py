"""Time zones of boards, by the firmware's rules, and of this computer, as the setting `timezone`."""

import os
import zoneinfo
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path

from engram.clock import Zone
from engram.config import zone_of

_HERE = Path("/etc/localtime")
_FILE_BYTES = 1 << 20
"""Limit of a read; zone files have some KB."""
_DAY_SECONDS = 86400
_EPOCH = date(1970, 1, 1).toordinal()
_MOST_RULES = 256
"""Size of the cache; there are some 30 zones with daylight saving."""

_zone = lru_cache(maxsize=_MOST_RULES)(Zone)


def day_date(day: int) -> date:
    return date.fromordinal(day + _EPOCH)


def day_number(day: date) -> int:
    return day.toordinal() - _EPOCH


@dataclass(frozen=True)
class BoardZone:
    """`standard` in minutes east of Greenwich names days in the index; `rule` is "" without DST."""

    standard: int = 0
    rule: str = ""

    def offset_minutes(self, at: int) -> int:
        return _zone(self.rule).offset_minutes(at) if self.rule else self.standard

    def day_of(self, at: int) -> int:
        return (at + self.offset_minutes(at) * 60) // _DAY_SECONDS

    def start_of(self, day: int) -> int:
        local = day * _DAY_SECONDS
        return _zone(self.rule).moment(local) if self.rule else local - self.standard * 60

    def spans(self, first: int, last: int) -> list[tuple[int, int, int]]:
        """Return (first, end, minutes east) for each period of one offset."""
        found = []
        at = first
        while self.rule and at <= last:
            begin, end, minutes = _zone(self.rule).span_of(at)
            found.append((begin, end, minutes))
            at = end
        return found


def is_rule(rule: str) -> bool:
    try:
        _zone(rule)
    except ValueError:
        return False
    return True


# --- this computer


def computer_zone(environ: Mapping[str, str] = os.environ, here: Path = _HERE) -> str:
    """Return the computer's DST rule or its UTC offset; "" if a board accepts neither."""
    for rule in _rules(environ.get("TZ", ""), here):
        try:
            standard, _ = zone_of(rule)
        except ValueError:
            continue
        return rule if "," in rule else _written(standard)
    offset = datetime.now().astimezone().isoformat()[-6:]
    # A zone of local mean time has seconds, too, and is no valid offset.
    return offset if offset[0] in "+-" else ""


def read_rule(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            data = opened.read(_FILE_BYTES)
    except (OSError, ValueError):
        return ""
    if not data.startswith(b"TZif"):
        return ""
    return data.rstrip(b"\n").rpartition(b"\n")[2].decode("ascii", "replace")


def _rules(named: str, here: Path) -> Iterator[str]:
    """Yield candidates: the variable TZ (a zone or a rule), then the system's settings."""
    if not named:
        yield read_rule(here)
        return
    name = named.removeprefix(":")
    for folder in zoneinfo.TZPATH:
        yield read_rule(Path(folder, name))  # an absolute name replaces the folder
    yield name


def _written(minutes: int) -> str:
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02}:{rest:02}"
