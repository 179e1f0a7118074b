"""A background task that finds anomalies in the readings of all boards and stores them beside the boards' own events.

The usual readings are learned from stored ones after each start; they are not stored themselves.
"""

import asyncio
import logging
import time

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.senses.anomalies import AnomalyFinder
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.processes import Lease, LeasedPart
from engram_host.companion.store.senses.table import SenseTable
from engram_host.companion.store.senses.types import MINUTES, StoredSense
from engram_host.companion.supervisor import Supervisor

_log = logging.getLogger("engram.senses")

LOOK_SECONDS = 300.0
LEARNED_DAYS = 90

_DAY = 1440


class AnomalyWatch(LeasedPart):
    def __init__(self, *, boards: BoardTable, senses: SenseTable, supervisor: Supervisor, lease: Lease):
        super().__init__(supervisor, "anomalies", lease)
        self._boards = boards
        self._senses = senses
        self._finders: dict[tuple[str, int], AnomalyFinder] = {}

    async def _run(self) -> None:
        self._finders.clear()  # another process may have looked since
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                boards = await asyncio.to_thread(self._senses.senses_of_boards)
                there = {(device, sense.key) for device, senses in boards.items() for sense in senses}
                self._finders = {sense: finder for sense, finder in self._finders.items() if sense in there}
                for device, senses in boards.items():
                    for sense in senses:
                        await asyncio.to_thread(self.look, device, sense, int(time.time()))
            except StoreUnavailable as problem:
                _log.warning("anomalies wait: %s", problem, extra={"repeat": "anomalies"})

    def look(self, device: str, sense: StoredSense, now: int) -> None:
        newest = min(sense.at, now) // 60
        finder = self._finders.get((device, sense.key))
        if finder is None:
            offset = self._boards.device(device).zone.offset_minutes(now)
            finder = self._finders[device, sense.key] = AnomalyFinder(offset, newest - LEARNED_DAYS * _DAY)
        if newest <= finder.seen:
            return
        for row in self._senses.reading_rows(device, sense.key, MINUTES, finder.seen + 1, newest):
            finder.add(row)
        self._senses.put_anomalies(device, sense.key, finder.found, newest)
        finder.found = [anomaly for anomaly in finder.found if not anomaly.end]
