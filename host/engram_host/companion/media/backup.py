"""Backup and restore of photos and sounds in a folder beside a backup of the database.

All backups of one name, such as companion.db and companion.db.1, share a folder, to which only new files are copied.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engram_host.companion.auth.tokens import write_private
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.media.service import FOLDER, MediaFiles, name_of

_NUMBER = re.compile(r"\.[0-9]{1,4}$")


@dataclass(frozen=True)
class SavedMedia:
    count: int
    damaged: Sequence[str]


def folder_of(backup: Path) -> Path:
    return backup.with_name(_NUMBER.sub("", backup.name) + f".{FOLDER}")


def save_media(home: Path, backup: Path) -> SavedMedia:
    files, folder = MediaFiles(home), folder_of(backup)
    names = files.names()
    damaged: list[str] = []
    try:
        if names:
            folder.mkdir(mode=0o700, exist_ok=True)
        for name in names:
            copy = folder / name
            if not copy.exists():
                if (data := files.read(name)) is None:
                    damaged.append(name)
                    continue
                write_private(copy, data)
            os.utime(copy)
    except OSError as error:
        raise StoreUnavailable(f"{folder} cannot be written: {error.strerror}.") from None
    return SavedMedia(len(names) - len(damaged), damaged)


def prune_media(backups: Sequence[Path]) -> None:
    """Remove files that no existing backup needs; may raise StoreUnavailable."""
    folder = folder_of(backups[0])
    times = [path.stat().st_mtime for path in backups if path.exists()]
    if not folder.is_dir() or not times:
        return
    try:
        for path in folder.iterdir():
            # A backup is written after the files that it needs were marked, so the oldest may be somewhat younger than these.
            if path.stat().st_mtime < min(times) - _WHILE:
                path.unlink()
    except OSError as error:
        raise StoreUnavailable(f"{folder} cannot be written: {error.strerror}.") from None


_WHILE = 86400.0


def restore_media(backup: Path, home: Path) -> SavedMedia:
    """Copy a backup's files into `home`, except damaged ones; may raise StoreUnavailable."""
    folder = folder_of(backup)
    files = MediaFiles(home)
    damaged: list[str] = []
    count = 0
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        data = path.read_bytes()
        if name_of(data) != path.name:
            damaged.append(path.name)
            continue
        with files.locked():
            files.write(path.name, data)
        count += 1
    return SavedMedia(count, damaged)
