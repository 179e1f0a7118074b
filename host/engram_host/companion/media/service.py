"""Service for photos and sounds of boards: stores them within limits, finds and removes them."""

import asyncio
import time
from collections.abc import Callable, Iterable

from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.errors import MediaRefused
from engram_host.companion.media.content import ids_in, type_of
from engram_host.companion.media.files import MediaFiles, name_of
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.media import MediaTable, StoredMedia, media_id
from engram_host.companion.types import MediaLimits

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
