"""What stands in files, some of which a server may remove meanwhile."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def bytes_of(path: Path) -> bytes:
    """What stands in a file, nothing if it is not there."""
    with suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


def bytes_found(files: Iterable[Path], *texts: bytes) -> set[bytes]:
    """Which of some bytes stand in files; a file that is removed before it is read has none."""
    found = set()
    for data in map(bytes_of, files):
        found |= {text for text in texts if text in data}
    return found
