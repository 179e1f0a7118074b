"""Photos and sounds of boards: their types and references, their files, and the service that keeps them within limits.

A reference stands in a turn or a memory, such as "[photo, media/0123456789abcdef] a fox".
"""

import asyncio
import contextlib
import hashlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.auth.tokens import write_private
from engram_host.companion.errors import MediaRefused
from engram_host.companion.lockfile import lock_file
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.media import PREFIX, MediaTable, StoredMedia, media_id
from engram_host.companion.types import MediaLimits

FOLDER = "media"
_LOCK = ".lock"
_NAME = re.compile(r"[0-9a-f]{64}")


def name_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class MediaFiles:
    """The files in the companion's folder, each called by the SHA-256 of its bytes.

    A file is whole on disk before its row is written, and a row is gone before its file is: what a stop leaves is a file
    without a row, which sweep() removes. A lock keeps other processes from removing a file that is being written.
    """

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


_BEGINNINGS = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfa", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf2", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_MP4_SOUNDS = (b"M4A ", b"M4B ")

ENDINGS = {
    "image/jpeg": "jpg",
    "image/png": "png",
    "image/gif": "gif",
    "image/webp": "webp",
    "audio/ogg": "ogg",
    "audio/mpeg": "mp3",
    "audio/mp4": "m4a",
    "audio/wav": "wav",
    "audio/flac": "flac",
}


def type_of(data: bytes) -> str:
    for beginning, found in _BEGINNINGS:
        if data.startswith(beginning):
            return found
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12], "")
    return "audio/mp4" if data[4:8] == b"ftyp" and data[8:12] in _MP4_SOUNDS else ""


# --- references

_ID = rf"(?<![0-9A-Za-z_/.-]){PREFIX}([0-9a-f]{{16}})(?![0-9A-Za-z_/-])"
_IN_TEXT = re.compile(_ID)
_IN_LINE = re.compile(_ID.encode())
_MARKS = re.compile(r"[\[(][^\[\]()\n]*[\])]")


def ids_in(text: str) -> list[str]:
    return list(dict.fromkeys(_IN_TEXT.findall(text)))


def ids_in_line(line: bytes) -> set[str]:
    return {found.decode() for found in _IN_LINE.findall(line)}


def caption_of(text: str) -> str:
    """Return a text without the brackets that contain references."""
    kept = _MARKS.sub(lambda found: "" if _IN_TEXT.search(found[0]) else found[0], text)
    return " ".join(kept.split())


MOST_NAMED = 400


class MediaService:
    """Stores media of boards; any call may raise StoreUnavailable or MediaRefused."""

    def __init__(
        self,
        *,
        boards: BoardTable,
        media: MediaTable,
        files: MediaFiles,
        limits: MediaLimits,
        clock: Callable[[], float] = time.time,
    ):
        self._boards = boards
        self._media = media
        self._files = files
        self.limits = limits
        self._clock = clock

    async def keep(self, device: str, data: bytes, caller: Caller) -> StoredMedia:
        """Store media that `caller` sent and evict the board's oldest beyond the limits; UnknownDevice."""
        return await asyncio.to_thread(self.keep_now, device, data, caller)

    def keep_now(self, device: str, data: bytes, caller: Caller) -> StoredMedia:
        self.require_on()
        if len(data) > self.limits.bytes_each:
            raise self.too_large()
        found = type_of(data)
        if found not in self.limits.types:
            raise MediaRefused("media_type", types=", ".join(sorted(self.limits.types)))
        sha, scope = name_of(data), access.own_scope(caller)
        new = StoredMedia(device, media_id(sha, scope), sha, found, len(data), scope, int(self._clock()))
        self._boards.device(device)  # before its bytes are written
        with self._files.locked():
            self._files.write(sha, data)
            kept, gone = self._media.keep_media(new, self.limits)
            self._files.remove(gone)
        return kept

    def require_on(self) -> None:
        if not self.limits.board_count:
            raise MediaRefused("media_off")

    def too_large(self) -> MediaRefused:
        return MediaRefused("media_large", most=self.limits.bytes_each)

    async def find(self, device: str, media: str) -> StoredMedia:
        """Return a board's media, or raise UnknownMedia."""
        return await asyncio.to_thread(self._media.find_media, device, media)

    async def read(self, found: StoredMedia) -> bytes:
        data = await asyncio.to_thread(self._files.read, found.sha)
        if data is None:
            raise MediaRefused("media_lost", id=found.id)
        return data

    async def list(self, device: str, limit: int, before: int) -> list[StoredMedia]:
        def read() -> list[StoredMedia]:
            self._boards.device(device)
            return self._media.list_media(device, limit, before)

        return await asyncio.to_thread(read)

    async def delete(self, device: str, media: str) -> None:
        def remove() -> None:
            self.forget_now([self._media.find_media(device, media)])

        await asyncio.to_thread(remove)

    def forget_now(self, media: Iterable[StoredMedia]) -> None:
        """Delete media, and their files unless others share them; blocks."""
        with self._files.locked():
            self._files.remove(self._media.forget_media(list(media)))

    def sweep(self) -> int:
        """Remove files without a row and return how many; blocks."""
        return self._files.sweep(self._media.media_files)

    async def named_in(self, device: str, texts: Iterable[str]) -> dict[str, StoredMedia]:
        ids = list(dict.fromkeys(each for text in texts for each in ids_in(text)))[:MOST_NAMED]
        if not ids:
            return {}
        return await asyncio.to_thread(self._media.known_media, device, ids)
