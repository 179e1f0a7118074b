"""Checks of the computer; checks.py has those of the companion's folder and settings."""

import os
import shutil
import stat
import time
from errno import ELOOP, ENOENT, ENOTDIR
from pathlib import Path

from engram_host.companion.diagnosis.findings import CHECKS, Finding, watch, well, wrong
from engram_host.wording import format_size

LITTLE_ROOM = 1 << 30
NO_ROOM = 100 << 20
"""Bytes of free disk for a warning, and for an error: writes will soon fail."""

BEGINNING = 1_760_000_000
"""A clock before this program's release is wrong."""

_SLACK_SECONDS = 120


def disk(home: Path) -> Finding:
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
    now = time.time()
    shown = time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(now))
    newest = max(map(_written, home.glob("*")), default=0.0) if home.is_dir() else 0.0
    if now < BEGINNING or newest > now + _SLACK_SECONDS:
        return wrong("clock", CHECKS.say("clock_early", time=shown), CHECKS.say("set_clock"))
    return well("clock", shown)


def _written(path: Path) -> float:
    found = find_stat(path)
    return found.st_mtime if found and stat.S_ISREG(found.st_mode) else 0.0


_NOTHING_THERE = (ENOENT, ENOTDIR, ELOOP)


def find_stat(path: Path) -> os.stat_result | None:
    """Return the status, or None if the path is missing; raises OSError if access is denied."""
    try:
        return path.stat()
    except OSError as problem:
        if problem.errno not in _NOTHING_THERE:
            raise
        return None
