"""Checks of the computer: room on its disk, and its clock."""

import shutil
import stat
import time
from pathlib import Path

from engram_host.companion.diagnosis.findings import CHECKS, Finding, watch, well, wrong
from engram_host.companion.diagnosis.paths import find_stat
from engram_host.wording import format_size

LITTLE_ROOM = 1 << 30
NO_ROOM = 100 << 20
"""Bytes of disk below which is warned, and below which the companion will soon stop taking lines."""

BEGINNING = 1_760_000_000
"""A moment before which this program was not written: a clock that says so is wrong."""

_SLACK_SECONDS = 120


def disk(home: Path) -> Finding:
    """Room for the database."""
    place = home
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    detail = CHECKS.say("disk", size=format_size(free), folder=str(home))
    if free < NO_ROOM:
        return wrong("disk", detail, CHECKS.say("disk_full"))
    if free < LITTLE_ROOM:
        return watch("disk", detail, CHECKS.say("disk_little"))
    return well("disk", detail)


def clock(home: Path) -> Finding:
    """Whether the time may be true: it is older than what was written before, or than this program, if it is not."""
    now = time.time()
    shown = time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(now))
    newest = max(map(_written, home.glob("*")), default=0.0) if home.is_dir() else 0.0
    if now < BEGINNING or newest > now + _SLACK_SECONDS:
        return wrong("clock", CHECKS.say("clock_early", time=shown), CHECKS.say("set_clock"))
    return well("clock", shown)


def _written(path: Path) -> float:
    """When a file was written; 0 for what is no file, and for one that is removed meanwhile."""
    found = find_stat(path)
    return found.st_mtime if found and stat.S_ISREG(found.st_mode) else 0.0
