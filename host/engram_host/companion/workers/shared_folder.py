"""The folder in which the workers of one command have their sockets and the buckets of their limits.

It is in the system's folder for temporary files, since the path of a socket may have about a hundred bytes: the companion's own
folder may be too deep for that. The command keeps the folder locked. The system unlocks it however the command ends, and the
next command of the same user removes what is unlocked.
"""

import contextlib
import fcntl
import logging
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

_log = logging.getLogger("engram.workers")

PREFIX = "engram-workers-"


@contextlib.contextmanager
def shared_folder() -> Iterator[str]:
    """A folder for the workers of this command, removed at the end. Those that killed commands have left are removed first."""
    _remove_abandoned()
    folder, lock = _make_locked()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _make_locked() -> tuple[str, int]:
    """A new folder, and the descriptor that keeps it locked."""
    while True:
        folder = tempfile.mkdtemp(prefix=PREFIX)
        lock = -1
        with contextlib.suppress(FileNotFoundError):  # another command took it for abandoned before it was locked
            lock = os.open(folder, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.samestat(os.stat(folder), os.fstat(lock)):
                return folder, lock
        if lock >= 0:
            os.close(lock)


def _remove_abandoned() -> None:
    """Remove the folders of this user whose command has ended, unless a worker of it still serves."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(FileNotFoundError):  # its command has just removed it
            if path.lstat().st_uid == os.getuid() and path.is_dir() and not path.is_symlink():
                _remove_unlocked(path)


def _remove_unlocked(path: Path) -> None:
    lock = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not any(_is_served(each) for each in path.glob("*.sock")):
            _log.info("removing %s, which a command left that was killed", path)
            shutil.rmtree(path, ignore_errors=True)
    except BlockingIOError:
        pass  # its command runs
    finally:
        os.close(lock)


def _is_served(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True  # it may be: it gives no answer in time
    return True
