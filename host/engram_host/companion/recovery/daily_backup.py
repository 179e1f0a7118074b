"""Saves the SQLite database once a day into the folder `backups` of the companion's folder."""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path

from engram_host.companion.errors import CompanionError, StoreUnavailable
from engram_host.companion.metrics import note_backup
from engram_host.companion.recovery.saving import daily_backup, save_backup
from engram_host.companion.supervisor import BackgroundPart, Supervisor

_log = logging.getLogger("engram.backup")

FIRST_SECONDS = 300.0
"""Delay after the start, which is busy enough."""

LOOK_SECONDS = 3600.0
"""Time between two checks of the newest backup's age; a failed backup is retried."""

_DAY_SECONDS = 86400


class DailyBackup(BackgroundPart):
    def __init__(
        self,
        home: Path,
        database: Path | None,
        *,
        keep: int,
        supervisor: Supervisor,
        clock: Callable[[], float] = time.time,
    ):
        super().__init__(supervisor, "backup")
        self.problem = ""
        self._home = home
        self._database = database
        self._keep = keep
        self._clock = clock

    def start(self) -> None:
        if self._database and self._keep:
            super().start()

    async def _run(self) -> None:
        await asyncio.sleep(FIRST_SECONDS)
        while True:
            await asyncio.to_thread(self.save_if_due)
            await asyncio.sleep(LOOK_SECONDS)

    def save_if_due(self) -> None:
        """Save the database if the newest backup is a day old; `problem` is a failure's reason."""
        assert self._database
        out = daily_backup(self._home)
        if out.exists() and 0 <= self._clock() - out.stat().st_mtime < _DAY_SECONDS:
            return
        try:
            _make_folder(out.parent)
            save_backup(self._database, out, keep=self._keep)
        except CompanionError as problem:
            self.problem = f"the daily backup failed: {problem}"
            _log.warning("%s", self.problem, extra={"repeat": "backup"})
            return
        self.problem = ""
        note_backup(self._home)
        _log.info("saved the database to %s", out)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"{folder} cannot be made: {error.strerror}.") from None
