"""Graphs that were built once, in files of the companion's folder.

A file is the SHA-256 of what follows, 32 bytes, and the graph. Its name says what the graph was built from: model, precision,
and a key of the weights and of GRAPH_VERSION. A file that does not fit its SHA-256 is thrown away and built again.
"""

import contextlib
import hashlib
import logging
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

_log = logging.getLogger("engram.embedding")

GRAPH_VERSION = 1
"""Changes with each change of what graph.py writes."""

_DIGEST_BYTES = 32
_SUFFIX = ".graph"
_TEMPORARY = ".tmp"

_WRITING_SECONDS = 3600
"""A temporary file older than this is of a process that was killed."""


class GraphFiles:
    """The folder; it is made when the first graph is kept. None: nothing is kept."""

    def __init__(self, folder: Path | None):
        self._folder = folder

    def open(self, name: str, key: str, build: Callable[[], bytes]) -> bytes:
        """The graph `name` with that key: the one that is kept, or one built now.

        A folder that cannot be read or written costs the time to build it, and a line in the log.
        """
        if self._folder is None:
            return build()
        path = self._folder / f"{name}-{key}{_SUFFIX}"
        try:
            graph = _read(path)
        except OSError as error:
            _log.warning("the graph %s cannot be read (%s), so it is built again", path, error.strerror)
            graph = None
        if graph is None:
            graph = build()
            try:
                self._write(path, graph)
                self._remove_former(name, path)
            except OSError as error:
                _log.warning("the graph %s cannot be kept (%s), so it is built at each start", path, error.strerror)
        return graph

    def _write(self, path: Path, graph: bytes) -> None:
        """Write to a file of its own, then rename: who opens `path` finds all or nothing. OSError."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(_TEMPORARY, path.stem, path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(graph).digest())
                file.write(graph)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        _sync_folder(path.parent)

    def _remove_former(self, name: str, kept: Path) -> None:
        """Remove graphs of the same name with another key, and what killed processes left. OSError."""
        for path in kept.parent.glob(f"{name}-*"):
            is_former = path.suffix == _SUFFIX and path != kept
            if is_former or (path.suffix == _TEMPORARY and _age(path) > _WRITING_SECONDS):
                path.unlink(missing_ok=True)


def _read(path: Path) -> bytes | None:
    """The graph of a file; None if there is none, or if it is damaged. OSError."""
    try:
        whole = path.read_bytes()
    except FileNotFoundError:
        return None
    graph = whole[_DIGEST_BYTES:]
    if hashlib.sha256(graph).digest() == whole[:_DIGEST_BYTES]:
        return graph
    _log.warning("the graph %s is damaged, so it is built again", path)
    return None


def _age(path: Path) -> float:
    """Seconds since a file was written; 0 if it is gone. OSError."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _sync_folder(folder: Path) -> None:
    """Write the folder's entries to the disk, where a system can do that for a folder. OSError."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
