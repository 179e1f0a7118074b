"""What stands at a path of a folder that others may use while it is read."""

import os
from errno import ELOOP, ENOENT, ENOTDIR
from pathlib import Path

_NOTHING_THERE = (ENOENT, ENOTDIR, ELOOP)


def find_stat(path: Path) -> os.stat_result | None:
    """What the system says of a path, None if there is nothing, or nothing any more. OSError if it may not be asked."""
    try:
        return path.stat()
    except OSError as problem:
        if problem.errno not in _NOTHING_THERE:
            raise
        return None
