"""Reloads the settings in all processes once one of them was asked to.

The others learn it by a notice. Where notices may have been lost, a process compares the count of changes in the database
with the one that it knows, and reloads only if they differ.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from engram_host.companion.errors import SettingError, StoreUnavailable
from engram_host.companion.store.values import Notice, ValueTable

_log = logging.getLogger("engram.settings")


class SettingsReload:
    def __init__(self, table: ValueTable, reload: Callable[[], Awaitable[None]]):
        """`reload` reads and applies the settings, or raises SettingError."""
        self._table = table
        self._reload = reload
        self._reloading = asyncio.Lock()
        self._changes = 0
        self._looks: set[asyncio.Task[None]] = set()
        self._is_stopping = False

    async def start(self) -> None:
        """Read the count of changes; call this before notices are heard."""
        self._changes = await asyncio.to_thread(self._table.settings_changes)

    async def stop(self) -> None:
        """Cancel reloads; call this before anything that a reload starts is stopped."""
        self._is_stopping = True
        for look in self._looks:
            look.cancel()
        await asyncio.gather(*self._looks, return_exceptions=True)

    async def reload_all(self) -> None:
        """Reload here, then elsewhere; a SettingError changes nothing, StoreUnavailable may be raised."""
        async with self._reloading:
            await self._reload()
            before = self._changes
            self._changes = await asyncio.to_thread(self._table.notify_settings)
            if self._changes != before + 1:  # another process changed them after they were read here
                await self._reload()

    def take_notice(self, notice: Notice) -> None:
        if notice.kind in ("settings", "") and not self._is_stopping:
            look = asyncio.get_running_loop().create_task(self._follow())
            self._looks.add(look)
            look.add_done_callback(self._looks.discard)

    async def _follow(self) -> None:
        async with self._reloading:
            try:
                changes = await asyncio.to_thread(self._table.settings_changes)
                if changes != self._changes:
                    self._changes = changes
                    await self._reload()
            except StoreUnavailable as problem:
                # The notice connection breaks as well; once it is back, a check follows.
                _log.warning("the settings are read again later: %s", problem, extra={"repeat": "settings"})
            except SettingError as problem:
                _log.warning("the settings are not read again: %s", problem)
