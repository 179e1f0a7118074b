"""This computer's time zone, as the setting `timezone` of a board has it."""

import os
import zoneinfo
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from engram.config import zone_of

_HERE = Path("/etc/localtime")
_FILE_BYTES = 1 << 20
"""The longest file that is read: those of the time zone database have some KB."""


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
