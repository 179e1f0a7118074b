"""Checks of the whole database, and its figures for metrics."""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store.board_notes import NoteFileTable
from engram_host.companion.store.boards.status import BoardStatusTable, percent
from engram_host.companion.store.damage import count_damaged, set_lost_aside
from engram_host.companion.store.database import DatabaseTable, reads, tables_with, writes
from engram_host.companion.store.rows import LogRow, Rows
from engram_host.companion.store.values import ValueTable
from engram_host.companion.types import FOLDER

_LINES_AT_ONCE = 2000


class HealthTable(DatabaseTable):
    found_notes: Sequence[str] = ()
    """Damage that the last check found in notes, in sentences: a full check is too slow for each request."""

    def probe(self) -> list[str]:
        """Write a value and read a row of each table; return warnings, or raise StoreUnavailable."""
        ValueTable(self.database).put("probe", str(int(time.time())))
        return [*self.database.warnings(), *self._read_each(), *self.found_notes]

    @reads
    def _read_each(self, rows: Rows) -> list[str]:
        for table in tables_with():
            rows.run(f"SELECT * FROM {table} LIMIT 1")
        return [lines.sentence for lines in count_damaged(rows)]

    def check(self, pause: Callable[[], None] = lambda: None) -> None:
        """Check all pages and lines, former epochs too; call `pause` after each few thousand lines."""
        self.database.check()
        notes = NoteFileTable(self.database).check_notes()
        self.found_notes = [notes] if notes else []
        for copy in self._copies():
            after = -1
            while (last := self._check_lines(copy, after)) > after:
                after = last
                pause()

    @reads
    def _copies(self, rows: Rows) -> list[LogRow]:
        return rows.all_copies()

    @reads
    def _check_lines(self, rows: Rows, copy: LogRow, after: int) -> int:
        found = rows.checks_between(copy, after, 1 << 62, _LINES_AT_ONCE, archived=True)
        rows.intact(copy, found)
        return found[-1][0] if found else -1

    @writes
    def set_lost_aside(self, rows: Rows, now: int) -> int:
        return set_lost_aside(rows, now)

    def gauges(self) -> dict[str, float]:
        found = self._counts()
        if uses := BoardStatusTable(self.database).flash_uses():
            found["engram_flash_most_percent"] = max(percent(*use) or 0 for use in uses.values())
        return found

    @reads
    def _counts(self, rows: Rows) -> dict[str, float]:
        devices = f"SELECT count(*) FROM devices WHERE substr(name, 1, {len(FOLDER)}) <> ?"
        # Former epochs add nothing: their archived records are void, or in the present copy as well.
        archived = (
            "SELECT count(*) FROM (SELECT DISTINCT device, archive FROM lines JOIN logs USING (device, log, epoch) "
            "WHERE is_present AND archive > 0 AND archive <> 0 AND line IS NOT NULL) AS found"
        )
        return {
            "engram_devices": rows.run(devices, (FOLDER,))[0][0],
            "engram_archived_records": rows.run(archived)[0][0],
            "engram_database_bytes": rows.size(),
            "engram_damaged_lines": sum(lines.count for lines in count_damaged(rows)),
        }


# --- whether it can be used now


KEPT_SECONDS = 1.0
"""Lifetime of a cached look, to bound the cost of health requests."""

LOOK_SECONDS = 3.0
"""Timeout of a look: a slower database cannot serve."""

_SLOW = f"the database did not answer within {LOOK_SECONDS:.0f} s: look at its disk, and at other programs that use it."


@dataclass(frozen=True)
class Look:
    down: str = ""
    problems: tuple[str, ...] = ()


class StoreLook:
    def __init__(self, probe: Callable[[], list[str]]):
        self._probe = probe
        # In its own thread, not one that waits for the database: it has to report if all of these hang.
        self._thread = ThreadPoolExecutor(1, "health")
        self._under_way: asyncio.Future[Look] | None = None
        self._began = 0.0
        self._until = 0.0
        self._found = Look()

    async def look(self) -> Look:
        now = time.monotonic()
        if now < self._until:
            return self._found
        if self._under_way is None or self._under_way.done():
            self._began = now
            self._under_way = asyncio.get_running_loop().run_in_executor(self._thread, self._look)
        done, _ = await asyncio.wait([self._under_way], timeout=max(self._began + LOOK_SECONDS - now, 0))
        self._found = done.pop().result() if done else Look(_SLOW)
        self._until = time.monotonic() + KEPT_SECONDS
        return self._found

    @property
    def is_usable(self) -> bool:
        return not self._found.down

    def _look(self) -> Look:
        try:
            return Look(problems=tuple(self._probe()))
        except StoreUnavailable as problem:
            return Look(problem.sentence)
        except Exception as error:  # noqa: BLE001 - detects a database that answers nonsense
            return Look(f"the database answers what it should not ({type(error).__name__}: {error}): look at the log.")
