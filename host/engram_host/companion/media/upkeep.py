"""Removes media whose turn or memory was forgotten, media that nothing ever named, and files without a row.

Media stay as long as a line names them: an entry that was not forgotten, a copy of a former epoch, or a line that was set
aside. A line counts only for media of its own scope, or somebody could keep media that another person has forgotten.
"""

import asyncio
import logging
import time
from collections.abc import Callable

from engram.memory import ALL
from engram_host.companion.entries.lines import describe_line
from engram_host.companion.entries.reader import LogCopy
from engram_host.companion.errors import MediaRefused, StoreUnavailable, UnknownDevice
from engram_host.companion.media.service import MediaService, ids_in_line
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.media import MediaTable, StoredMedia
from engram_host.companion.store.rows import fields_of
from engram_host.companion.supervisor import BackgroundPart, Supervisor, wait_for_event
from engram_host.companion.types import Device

_log = logging.getLogger("engram.media")

FIRST_SECONDS = 60.0

EVERY_SECONDS = 3600.0

SETTLE_SECONDS = 5.0

_DAY_SECONDS = 86400
WHOLE_SECONDS = _DAY_SECONDS

_CHANGES_AT_ONCE = 2000
_MOST = 1 << 30
_FORGETTING = (b'"op":', b'"gone":')


class MediaUpkeep(BackgroundPart):
    def __init__(
        self,
        *,
        boards: BoardTable,
        media: MediaTable,
        service: MediaService,
        waiting_days: int,
        supervisor: Supervisor,
        clock: Callable[[], float] = time.time,
    ):
        super().__init__(supervisor, "media")
        self._boards = boards
        self._media = media
        self._service = service
        self._unused_seconds = (waiting_days + 1) * _DAY_SECONDS
        self._clock = clock
        self._woken = asyncio.Event()
        self._seen: dict[str, tuple[int, int, int]] = {}
        """(generation, version, time of the last full scan) of each board."""

    def wake(self) -> None:
        self._woken.set()

    async def _run(self) -> None:
        await asyncio.sleep(FIRST_SECONDS)
        swept = -EVERY_SECONDS
        while True:
            self._woken.clear()
            is_due = time.monotonic() - swept >= EVERY_SECONDS
            try:
                await asyncio.to_thread(self.look, with_files=is_due)
                swept = time.monotonic() if is_due else swept
            except (StoreUnavailable, MediaRefused) as problem:
                _log.warning("photos and sounds that are to go stay for now: %s", problem, extra={"repeat": "media"})
            await wait_for_event(self._woken, EVERY_SECONDS)
            await asyncio.sleep(SETTLE_SECONDS)

    def look(self, *, with_files: bool = True) -> None:
        """Delete expired media; blocks, and may raise StoreUnavailable or MediaRefused."""
        for name in self._media.boards_with_media():
            try:
                self._look_at(self._boards.device(name))
            except UnknownDevice:
                continue  # it was erased meanwhile
        if with_files and (count := self._service.sweep()):
            _log.info("files of photos and sounds that nothing had: %d removed", count)

    def _look_at(self, device: Device) -> None:
        now = int(self._clock())
        media = {each.id: each for each in self._media.list_media(device.name, _MOST)}
        used, kept = set[str](), set(media)
        if self._has_changed(device, now):
            used, kept = self._named(device, media)
            self._media.note_used_media([media[each] for each in used if not media[each].used], now)
        gone = [
            each
            for each in media.values()
            if (each.id not in kept if each.used or each.id in used else each.at < now - self._unused_seconds)
        ]
        if gone:
            self._service.forget_now(gone)
            _log.info("photos and sounds of %s that nothing names: %d removed", device.name, len(gone))

    def _has_changed(self, device: Device, now: int) -> bool:
        generation, version, looked = self._seen.get(device.name, (-1, 0, 0))
        if generation != device.generation or now - looked >= WHOLE_SECONDS:
            self._seen[device.name] = device.generation, device.version, now
            return True
        has_changed = False
        while changes := self._boards.changes(device.name, version, _CHANGES_AT_ONCE):
            version = changes[-1].version
            has_changed |= any(
                each.line is None or any(mark in each.line for mark in (*_FORGETTING, b"media/")) for each in changes
            )
        self._seen[device.name] = generation, version, looked
        return has_changed

    def _named(self, device: Device, media: dict[str, StoredMedia]) -> tuple[set[str], set[str]]:
        used, kept = set[str](), set[str]()
        copies: dict[str, LogCopy] = {}
        for mention in self._media.media_mentions(device.name):
            fields = fields_of(mention.line)
            named = {
                each
                for each in ids_in_line(mention.line) & media.keys()
                if media[each].scope == fields.get("scope", ALL)
            }
            if not named:
                continue
            # Media sent again after their turn was forgotten wait for a turn of their own.
            used |= {each for each in named if media[each].at < mention.received}
            if not mention.is_present:
                kept |= named
                continue
            if mention.log not in copies:
                copies[mention.log] = LogCopy(self._boards, device, mention.log, int(self._clock()))
            number = describe_line(mention.log, fields, device.zone.standard).number
            if copies[mention.log].has_entry(number):
                kept |= named
        return used, kept
