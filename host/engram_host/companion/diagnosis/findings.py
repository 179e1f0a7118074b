"""Checks of a companion, with advice: their results, and those of the computer; checks.py has the others."""

import os
import shutil
import stat
import time
from dataclasses import dataclass
from errno import ELOOP, ENOENT, ENOTDIR
from pathlib import Path

from engram_host.sentences import SentenceTable
from engram_host.wording import format_size

WELL, WATCH, WRONG = "well", "watch", "wrong"

CHECKS = SentenceTable(
    "check_result",
    {
        "refused": "`engram serve` does not start with this setting",
        "unreadable": "cannot be looked at",
        "look_again": "{problem}: look again.",
        "disk": "{size} free for {folder}",
        "disk_full": "free space: the companion stops storing lines when the disk is full.",
        "disk_little": "free space before it is full; boards keep what is not copied.",
        "clock_early": "{time} is too early",
        "set_clock": "set the clock (NTP): the companion files what boards send under its time.",
        "folder_missing": "{folder} will be created at the first start",
        "folder_open": "other users can open {folder}",
        "file_missing": "{file} is not there",
        "replace_file": "put it there, or remove it from the settings.",
        "file_open": "other users can read {file}",
        "file_open_secrets": "other users can read {file}, and {names} in it",
        "file_private": "only its owner can read {file}",
        "tls": "on; its certificate ends {day}",
        "tls_ended": "on; its certificate ended {day}",
        "renew": "renew it, with `engram tls` if that made it, and restart the companion.",
        "gateway_key": "has its key",
        "gateway_no_key": "has no key",
        "set_key": "set {variable} if the service asks for one.",
        "no_alerts": "no alert is sent",
        "alerts": (
            "{n} address; `engram alert test` sends to each",
            "{n} addresses; `engram alert test` sends to each",
        ),
    },
)

REFUSED = CHECKS.say("refused")


@dataclass(frozen=True)
class Finding:
    """Result of a check: `detail` describes the state, `advice` the remedy or ""."""

    name: str
    state: str
    detail: str
    advice: str = ""


def well(name: str, detail: str) -> Finding:
    return Finding(name, WELL, detail)


def watch(name: str, detail: str, advice: str = "") -> Finding:
    return Finding(name, WATCH, detail, advice)


def wrong(name: str, detail: str, advice: str) -> Finding:
    return Finding(name, WRONG, detail, advice)


# --- the computer


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
