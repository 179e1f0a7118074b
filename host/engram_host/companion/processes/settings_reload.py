"""Lets all processes read their settings again once one of them was asked to.

The others learn it by a notice. Where notices may have been lost, a process compares the count of changes in the database
with the one that it knows: so nothing is read again, and nothing started again, if nothing has changed.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from engram_host.companion.errors import SettingError, StoreUnavailable
from engram_host.companion.store.sql.notices import Notice, NoticeTable

_log = logging.getLogger("engram.settings")


class SettingsReload:
    """Reads the settings again where a person asks for it, and in all other processes."""

    def __init__(self, table: NoticeTable, reload: Callable[[], Awaitable[None]]):
        """`reload` reads the settings and applies them, or raises SettingError."""
        self._table = table
        self._reload = reload
        self._reloading = asyncio.Lock()
        self._changes = 0
        self._looks: set[asyncio.Task[None]] = set()
        self._is_stopping = False

    async def start(self) -> None:
        """Note how many changes there were; call it before notices are heard. StoreUnavailable."""
        self._changes = await asyncio.to_thread(self._table.settings_changes)

    async def stop(self) -> None:
        """Read nothing again any more; call it before what a reload starts is stopped."""
        self._is_stopping = True
        for look in self._looks:
            look.cancel()
        await asyncio.gather(*self._looks, return_exceptions=True)

    async def reload_all(self) -> None:
        """Read them again here, then in all other processes. SettingError, and nothing has changed then. StoreUnavailable."""
        async with self._reloading:
            await self._reload()
            before = self._changes
            self._changes = await asyncio.to_thread(self._table.notify_settings)
            if self._changes != before + 1:  # another process changed them after they were read here
                await self._reload()

    def take_notice(self, notice: Notice) -> None:
        """A process has read its settings again, or may have."""
        if notice.kind in ("settings", "") and not self._is_stopping:
            look = asyncio.get_running_loop().create_task(self._follow())
            self._looks.add(look)
            look.add_done_callback(self._looks.discard)

    async def _follow(self) -> None:
        """Read them again if another process did since the last time. Two at once are done one after the other."""
        async with self._reloading:
            try:
                changes = await asyncio.to_thread(self._table.settings_changes)
                if changes != self._changes:
                    self._changes = changes
                    await self._reload()
            except StoreUnavailable as problem:
                # The connection of notices breaks as well, and a look follows once it is there again.
                _log.warning("the settings are read again later: %s", problem, extra={"repeat": "settings"})
            except SettingError as problem:
                _log.warning("the settings are not read again: %s", problem)
