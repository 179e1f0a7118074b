"""Photos and sounds of boards: kept within bounds, found by their references, removed with their files."""

import asyncio
import time
from collections.abc import Callable, Iterable

from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.errors import MediaRefused, UnknownMedia
from engram_host.companion.media.files import MediaFiles, name_of
from engram_host.companion.media.references import ids_in
from engram_host.companion.media.signatures import type_of
from engram_host.companion.settings import Settings, media_limits
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.media.table import StoredMedia, media_id
from engram_host.companion.types import MediaLimits

MOST_NAMED = 400
"""References of one view that are looked up."""


class MediaService:
    """Keeps media for boards. Each call may raise StoreUnavailable; MediaRefused says why one is not taken."""

    def __init__(
        self,
        store: CompanionStore,
        files: MediaFiles,
        limits: MediaLimits,
        clock: Callable[[], float] = time.time,
    ):
        self._store = store
        self._files = files
        self.limits = limits
        self._clock = clock

    async def keep(self, device: str, data: bytes, caller: Caller) -> StoredMedia:
        """Keep one that `caller` sent to a board; beyond the bounds the board's oldest go. UnknownDevice."""
        return await asyncio.to_thread(self.keep_now, device, data, caller)

    def keep_now(self, device: str, data: bytes, caller: Caller) -> StoredMedia:
        """As keep(); blocks."""
        self.require_on()
        if len(data) > self.limits.bytes_each:
            raise self.too_large()
        found = type_of(data)
        if found not in self.limits.types:
            raise MediaRefused("media_type", types=", ".join(sorted(self.limits.types)))
        sha, scope = name_of(data), access.own_scope(caller)
        new = StoredMedia(device, media_id(sha, scope), sha, found, len(data), scope, int(self._clock()))
        self._store.device(device)  # before its bytes are written
        with self._files.locked():
            self._files.write(sha, data)
            kept, gone = self._store.keep_media(new, self.limits)
            self._files.remove(gone)
        return kept

    def require_on(self) -> None:
        """MediaRefused if no media are kept."""
        if not self.limits.board_count:
            raise MediaRefused("media_off")

    def too_large(self) -> MediaRefused:
        """Why one is not taken that has too many bytes."""
        return MediaRefused("media_large", most=self.limits.bytes_each)

    async def find(self, device: str, media: str, caller: Caller | None = None) -> StoredMedia:
        """One of a board, if `caller` may see it; None may see all. UnknownMedia."""
        found = await asyncio.to_thread(self._store.find_media, device, media)
        if caller is not None and not access.may_see(caller, found.scope):
            raise UnknownMedia(media)
        return found

    async def read(self, found: StoredMedia) -> bytes:
        """The bytes of one. MediaRefused if its file is missing or damaged."""
        data = await asyncio.to_thread(self._files.read, found.sha)
        if data is None:
            raise MediaRefused("media_lost", id=found.id)
        return data

    async def list(self, device: str, limit: int, before: int) -> list[StoredMedia]:
        """Those of a board, newest first. UnknownDevice."""

        def read() -> list[StoredMedia]:
            self._store.device(device)
            return self._store.list_media(device, limit, before)

        return await asyncio.to_thread(read)

    async def delete(self, device: str, media: str) -> None:
        """Remove one of a board, whatever names it. UnknownMedia."""

        def remove() -> None:
            self.forget_now([self._store.find_media(device, media)])

        await asyncio.to_thread(remove)

    def forget_now(self, media: Iterable[StoredMedia]) -> None:
        """Remove some, and their files if nobody else has them; blocks."""
        with self._files.locked():
            self._files.remove(self._store.forget_media(list(media)))

    def sweep(self) -> int:
        """Remove files that no row has; how many there were. Blocks."""
        return self._files.sweep(self._store.media_files)

    async def named_in(self, device: str, texts: Iterable[str], caller: Caller | None = None) -> dict[str, StoredMedia]:
        """The media that texts name and `caller` may see, by their ids."""
        ids = list(dict.fromkeys(each for text in texts for each in ids_in(text)))[:MOST_NAMED]
        if not ids:
            return {}
        found = await asyncio.to_thread(self._store.known_media, device, ids)
        return {name: each for name, each in found.items() if caller is None or access.may_see(caller, each.scope)}


def make_media_service(store: CompanionStore, settings: Settings) -> MediaService:
    """The service of a companion by its settings."""
    return MediaService(store, MediaFiles(settings.home), media_limits(settings.media))
