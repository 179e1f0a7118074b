"""The files of photos and sounds in the companion's folder, each called by the SHA-256 of its bytes.

A file is whole on disk before its row is written, and a row is gone before its file is: what a stop leaves is a file without a
row, which sweep() removes. A lock keeps other processes from removing a file that is being written.
"""

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from engram_host.companion.auth.tokens import write_private
from engram_host.companion.errors import MediaRefused
from engram_host.companion.lockfile import lock_file

FOLDER = "media"
_LOCK = ".lock"
_NAME = re.compile(r"[0-9a-f]{64}")


def name_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class MediaFiles:
    def __init__(self, home: Path):
        self._folder = home / FOLDER

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        with _refusing():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = lock_file(self._folder / _LOCK, waits=True)
        with lock:
            yield

    def write(self, name: str, data: bytes) -> None:
        """Write and sync a file unless it is intact already; requires locked()."""
        path = self._path(name)
        with _refusing():
            if path.exists() and name_of(path.read_bytes()) == name:
                return
            write_private(path, data)
            self._sync()

    def read(self, name: str) -> bytes | None:
        try:
            data = self._path(name).read_bytes()
        except OSError:
            return None
        return data if name_of(data) == name else None

    def remove(self, names: Iterable[str]) -> None:
        """Remove files that no row refers to; requires locked()."""
        with _refusing():
            for name in names:
                self._path(name).unlink(missing_ok=True)

    def sweep(self, kept: Callable[[], set[str]]) -> int:
        """Remove all files but those that `kept` returns, and return how many."""
        if not self._folder.is_dir():
            return 0
        with self.locked(), _refusing():
            names = kept()
            gone = [path for path in self._folder.iterdir() if path.name not in names and path.name != _LOCK]
            for path in gone:
                path.unlink()
        return len(gone)

    def names(self) -> list[str]:
        if not self._folder.is_dir():
            return []
        return sorted(path.name for path in self._folder.iterdir() if _NAME.fullmatch(path.name))

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a file of media")
        return self._folder / name

    def _sync(self) -> None:
        folder = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise MediaRefused("media_unkept", problem=error.strerror or type(error).__name__) from None
