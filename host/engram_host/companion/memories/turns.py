"""Turns of a board that a caller may see, by day, by the search index."""

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

MOST_DAYS = 400


@dataclass(frozen=True)
class TurnsByDay:
    """Days with turn counts, newest first, and a page of one day's turns, oldest first."""

    days: tuple[tuple[int, int], ...]
    day: int
    turns: tuple[ReadEntry, ...]
    zone: BoardZone
    total: int = 0


class TurnBrowser:
    """Turn queries; each call may raise UnknownDevice and StoreUnavailable."""

    def __init__(self, store: CompanionStore, indexes: IndexCache):
        self._store = store
        self._indexes = indexes

    async def by_day(
        self, device: str, caller: Caller, day: int | None, offset: int = 0, limit: int = MOST_TURNS
    ) -> TurnsByDay:
        """Return a day's visible turns without commands; `offset` counts from the newest."""
        return await asyncio.to_thread(self._by_day, device, caller, day, offset, limit)

    def _by_day(self, name: str, caller: Caller, wanted: int | None, offset: int, limit: int) -> TurnsByDay:
        index, device = self._indexes.get(name, None)
        with index.lock:
            rows = index.rows
            states = rows.column("state")
            said = (states == columns.LIVE) | (states == columns.SUPERSEDED)  # outdated ones too
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
