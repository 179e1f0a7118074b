"""Events of senses: anomalies that the companion finds."""

import json
from collections.abc import Sequence
from typing import Any

from engram_host.companion.store.database import reads, writes
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.senses.copies import read_copy
from engram_host.companion.store.senses.table import SenseTable
from engram_host.companion.store.senses.types import Anomaly, StoredEvent

_EVENT = "number, sense, kind, started, ended, line"
_PUT_EVENT = (
    "INSERT INTO sense_events (device, epoch, number, sense, kind, started, ended, line) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (device, epoch, number) DO UPDATE SET sense = excluded.sense, "
    "kind = excluded.kind, started = excluded.started, ended = excluded.ended, line = excluded.line"
)

ANOMALIES = ("unusual", "drift", "stuck", "silent")
"""Kinds of anomalies; their events have numbers below 0."""


class SenseTables(SenseTable):
    """Senses, their readings, and anomalies."""

    @writes
    def put_anomalies(self, rows: Rows, device: str, sense: int, found: Sequence[Anomaly], newest: int) -> None:
        """Store anomalies up to minute `newest`; open ones that are not found again end."""
        copy = read_copy(rows, device)
        if copy is None:
            return
        rows.run(
            "UPDATE sense_events SET ended = ? WHERE device = ? AND sense = ? AND number < 0 AND ended = 0",
            (newest * 60, device, sense),
        )
        for each in found:
            number = -(each.start << 24 | sense << 2 | ANOMALIES.index(each.kind))
            line = json.dumps({"value": each.value, "usual": each.usual})
            event = (device, copy.epoch, number, sense, each.kind, each.start * 60, each.end * 60, line)
            rows.run(_PUT_EVENT, event)

    @reads
    def lasting_events(self, rows: Rows) -> dict[str, list[StoredEvent]]:
        found: dict[str, list[StoredEvent]] = {}
        sql = f"SELECT device, {_EVENT} FROM sense_events WHERE ended = 0 ORDER BY device, number"
        for device, *row, line in rows.run(sql):
            found.setdefault(device, []).append(_event(row, line))
        return found

    @reads
    def sense_events(
        self, rows: Rows, device: str, sense: int = 0, since: int = 0, until: int = 1 << 40, limit: int = 100
    ) -> list[StoredEvent]:
        """Return events of a board's present senses, or of one, that overlap a span, newest first."""
        where = "AND sense = ?" if sense else "AND sense IN (SELECT key FROM senses WHERE device = ? AND replaced = 0)"
        sql = (
            f"SELECT {_EVENT} FROM sense_events WHERE device = ? AND started < ? AND (ended = 0 OR ended >= ?) {where} "
            "ORDER BY started DESC, number DESC LIMIT ?"
        )
        found = rows.run(sql, (device, until, since, sense or device, limit))
        return [_event(row, line) for *row, line in found]


def _event(row: Sequence[Any], line: str) -> StoredEvent:
    number, sense, kind, started, ended = row
    return StoredEvent(number, sense, kind, started, ended, json.loads(line))
