"""The companion's database for commands on access: opened by itself, with a note in the audit log of each change."""

import contextlib
import getpass
import os
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from engram_host.cli.exit_status import WrongUsage
from engram_host.companion.errors import SettingError
from engram_host.companion.types import DEVICE_NAME, AuditEntry

if TYPE_CHECKING:
    from engram_host.companion.settings import Settings
    from engram_host.companion.store import CompanionStore

_UNITS = {"m": 60, "h": 3600, "d": 86400}
_LONGEST = 3650 * 86400


@contextlib.contextmanager
def opened_store(home: Path) -> "Iterator[tuple[CompanionStore, Settings]]":
    """The store of the companion in a folder, and its settings."""
    from engram_host.companion.settings import make_folder, read_settings, store_url
    from engram_host.companion.store import open_store

    settings = read_settings(home, {})
    make_folder(settings.home)
    store = open_store(store_url(settings.store, settings.home))
    try:
        yield store, settings
    finally:
        store.close()


def note_command(store: "CompanionStore", action: str) -> None:
    """Keep in the audit log that a command changed something."""
    store.add_audit(command_entry(action))


def command_entry(action: str) -> AuditEntry:
    """An entry of the audit log on a command of who runs this."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in some containers
        user = str(os.getuid())
    return AuditEntry(int(time.time()), f"command of {user}", action, "done")


def read_duration(option: str, value: str) -> int:
    """Seconds of a duration such as 30m, 24h or 90d; WrongUsage."""
    found = re.fullmatch(r"([0-9]{1,7})([mhd])", value)
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    if not 0 < seconds <= _LONGEST:
        raise WrongUsage(f"{option} takes minutes, hours or days, such as 30m, 24h or 90d, at most 3650d.")
    return seconds


def checked_name(name: str, what: str = "board name") -> str:
    """A name as boards and tokens have it; SettingError."""
    if not re.fullmatch(DEVICE_NAME, name):
        raise SettingError(
            repr(name[:40]), f"is not a {what}: use lowercase letters, digits and -, at most 32 characters."
        )
    return name


def format_day(seconds: object) -> str:
    """A day in UTC."""
    return datetime.fromtimestamp(float(str(seconds)), UTC).strftime("%Y-%m-%d")


def format_minute(seconds: int) -> str:
    """A minute in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
