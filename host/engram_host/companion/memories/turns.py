"""The turns of a board that somebody may see, by day, by the index that searches use."""

import asyncio
from dataclasses import dataclass

import numpy as np

from engram.memory.access import Caller
from engram_host.companion.entries.reader import ReadEntry, read_lines
from engram_host.companion.search.filters import rows_seen_by
from engram_host.companion.search.fusion import days_of
from engram_host.companion.search.indexes import columns
from engram_host.companion.search.indexes.cache import IndexCache
from engram_host.companion.store import CompanionStore
from engram_host.time_zones import BoardZone

MOST_TURNS = 200
"""Turns of one day, the newest ones."""

MOST_DAYS = 400
"""Days on which something was said, the newest ones."""


@dataclass(frozen=True)
class TurnsByDay:
    """The days on which something was said, newest first, with how many turns; and some turns of one of them, oldest first:
    its newest ones, or those before them; `total` is how many it has.
    """

    days: tuple[tuple[int, int], ...]
    day: int
    turns: tuple[ReadEntry, ...]
    zone: BoardZone
    total: int = 0


class TurnBrowser:
    """Looks at turns. Each call may raise UnknownDevice and StoreUnavailable."""

    def __init__(self, store: CompanionStore, indexes: IndexCache):
        self._store = store
        self._indexes = indexes

    async def by_day(
        self, device: str, caller: Caller, day: int | None, offset: int = 0, limit: int = MOST_TURNS
    ) -> TurnsByDay:
        """What a caller may see of what was said to a board, commands aside: on one day, the latest one if none is given.

        The newest `limit` turns of the day but for the `offset` newest ones.
        """
        return await asyncio.to_thread(self._by_day, device, caller, day, offset, limit)

    def _by_day(self, name: str, caller: Caller, wanted: int | None, offset: int, limit: int) -> TurnsByDay:
        index, device = self._indexes.get(name, None)
        with index.lock:
            rows = index.rows
            states = rows.column("state")
            said = (states == columns.LIVE) | (states == columns.SUPERSEDED)  # also what holds no longer
            shown = rows.column("turn") & ~rows.column("command") & said
            chosen = np.flatnonzero(shown & rows_seen_by(index, caller))
            days = days_of(rows.column("at")[chosen], device.zone)
            found, counts = np.unique(days, return_counts=True)
            day = int(found[-1]) if wanted is None and len(found) else wanted or 0
            of_day = np.sort(rows.column("seq")[chosen[days == day]])
        end = max(0, len(of_day) - offset)
        seqs = of_day[max(0, end - limit) : end].tolist()
        lines = read_lines(self._store, device, "journal", seqs)
        turns = tuple(ReadEntry(f"t{seq}", "live", lines[seq]) for seq in seqs if "text" in lines.get(seq, ()))
        newest = zip(found[::-1].tolist(), counts[::-1].tolist(), strict=True)
        return TurnsByDay(tuple(newest)[:MOST_DAYS], day, turns, device.zone, len(of_day))
