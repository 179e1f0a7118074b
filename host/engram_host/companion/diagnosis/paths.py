"""File status in a folder that others may change meanwhile."""

import os
from errno import ELOOP, ENOENT, ENOTDIR
from pathlib import Path

_NOTHING_THERE = (ENOENT, ENOTDIR, ELOOP)


def find_stat(path: Path) -> os.stat_result | None:
    """Return the status, or None if the path is missing; raises OSError if access is denied."""
    try:
        return path.stat()
    except OSError as problem:
        if problem.errno not in _NOTHING_THERE:
            raise
        return None
