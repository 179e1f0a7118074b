"""Events, notes and habits of a board's copy, with the vectors of the former."""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engram.memory import ALL
from engram.memory.principal_files import principal_of
from engram.memory.texts.notes import MEMORY
from engram_host.companion.entries.reader import ReadEntry
from engram_host.companion.errors import UnknownDevice
from engram_host.companion.habits.clusters import Sighting
from engram_host.companion.memories.browse import MemoryBrowser, MemoryQuery
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.markdown_files import FolderTable
from engram_host.companion.store.vectors import Identity, Vector, VectorTable
from engram_host.companion.types import LEFT_NOTES, NOTES, Device, LogName

MOST_LINES = 1000
"""Newest lines of a source; a board has three, so that comparing them takes 50 MB at most."""
MOST_HABITS = 200

_RECORDS: LogName = "records"


@dataclass(frozen=True)
class HabitSources:
    """Each call blocks, and may raise UnknownDevice and StoreUnavailable."""

    boards: BoardTable
    passages: FolderTable
    vectors: VectorTable
    browser: MemoryBrowser

    def lines(self, device: Device, identity: Identity, since: int, now: int) -> dict[Sighting, Vector | None]:
        """Return the events and lines of notes of a time with their vectors, None for one that has none yet."""
        lines: dict[Sighting, Vector | None] = {}
        for prefix in ("", NOTES, LEFT_NOTES):
            with contextlib.suppress(UnknownDevice):  # without notes
                source = self.boards.device(prefix + device.name)
                query = MemoryQuery(
                    "all", type="" if prefix else "event", since=since, sort="-created", limit=MOST_LINES
                )
                entries = {each.line["seq"]: each for each in self.browser.read_page(source.name, query).entries}
                vectors = self._vectors_of(source, identity, entries)
                for seq, entry in entries.items():
                    at = entry.line.get("when") or entry.line["created"]
                    ref = self._citation(source.name, entry.line) if prefix else entry.id
                    if ref and entry.state != "superseded" and since <= at <= now:
                        scope, text = entry.line.get("scope", ALL), entry.line["content"]
                        lines[Sighting(ref, device.zone.day_of(at), scope, text)] = vectors.get(seq)
        return lines

    def _vectors_of(self, source: Device, identity: Identity, entries: Mapping[int, ReadEntry]) -> dict[int, Vector]:
        copy = source.name, _RECORDS, source.logs[_RECORDS].epoch
        rows = self.vectors.vectors_at(identity, {copy: [*entries]}).get(copy)
        return dict(zip(rows.seqs.tolist(), rows.vectors, strict=True)) if rows else {}

    def _citation(self, folder: str, line: Mapping[str, Any]) -> str:
        """Return the line of a daily note that a passage is, "" for one of MEMORY.md."""
        name, _ = principal_of(line["path"])
        file = self.passages.file(folder, line["path"]) if name != MEMORY else None
        return next((f"{name}#{first}" for seq, first, _ in file.places if seq == line["seq"]), "") if file else ""

    def habits(self, device: str) -> list[dict[str, Any]]:
        """Return the latest lines of the habits that a board remembers."""
        return [
            each.line for each in self.browser.read_page(device, MemoryQuery(type="pattern", limit=MOST_HABITS)).entries
        ]
