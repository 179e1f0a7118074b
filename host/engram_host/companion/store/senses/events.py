"""Events of senses, as boards told them."""

import json
from collections.abc import Sequence
from typing import Any

from engram_host.companion.errors import Refused
from engram_host.companion.store.database import reads, writes
from engram_host.companion.store.line_quota import DayUse
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.replication_rules import admitted
from engram_host.companion.store.senses.copies import LIST_FIRST_SECONDS, held_readings, read_copy
from engram_host.companion.store.senses.table import SenseTable
from engram_host.companion.store.senses.types import Anomaly, HeldReadings, StoredEvent, ToldEvent
from engram_host.companion.types import LineQuota, Sender

MOST_EVENTS = 5000
"""Events of one board: beyond that the oldest go. A board's own file has some hundreds."""

_LIST_FIRST = "the board's senses are not known here: it lists them again."
_EVENT = "number, sense, kind, started, ended, line"
_PUT_EVENT = (
    "INSERT INTO sense_events (device, epoch, number, sense, kind, started, ended, line) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (device, epoch, number) DO UPDATE SET sense = excluded.sense, "
    "kind = excluded.kind, started = excluded.started, ended = excluded.ended, line = excluded.line"
)

ANOMALIES = ("unusual", "drift", "stuck", "silent")
"""Kinds of events that the companion finds itself: their numbers are below 0."""


class SenseTables(SenseTable):
    """Senses, their readings, and their events: what was unusual, beyond a limit, or silent."""

    @writes
    def put_events(
        self,
        rows: Rows,
        sender: Sender,
        device: str,
        epoch: int,
        events: Sequence[ToldEvent],
        now: int,
        quota: LineQuota,
    ) -> HeldReadings:
        """Keep events as their board has them now; what there is then. Refused, also by the `quota` of lines, and Stale."""
        admitted(rows, sender, device, "records", epoch)
        copy = read_copy(rows, device)
        if copy is None or copy.epoch != epoch:
            raise Refused(_LIST_FIRST, LIST_FIRST_SECONDS)
        lines = [json.dumps(event.fields) for event in events]
        _count_lines(rows, device, lines, now, quota)
        keys = dict(rows.run("SELECT number, key FROM senses WHERE device = ? AND replaced = 0", (device,)))
        known = [
            (event, keys[event.sense], line) for event, line in zip(events, lines, strict=True) if event.sense in keys
        ]
        rows.run_many(
            _PUT_EVENT,
            [(device, epoch, each.number, key, each.kind, each.started, each.ended, line) for each, key, line in known],
        )
        sql = "SELECT number FROM sense_events WHERE device = ? AND epoch = ? ORDER BY number DESC LIMIT 1 OFFSET ?"
        for (number,) in rows.run(sql, (device, epoch, MOST_EVENTS)):
            rows.run("DELETE FROM sense_events WHERE device = ? AND epoch = ? AND number <= ?", (device, epoch, number))
        return held_readings(rows, device)

    @writes
    def put_anomalies(self, rows: Rows, device: str, sense: int, found: Sequence[Anomaly], newest: int) -> None:
        """Keep what was found in a sense's readings up to a minute; what lasted before and is not found again has ended."""
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
        """The events that have not ended, oldest first, by the board."""
        found: dict[str, list[StoredEvent]] = {}
        sql = f"SELECT device, {_EVENT} FROM sense_events WHERE ended = 0 ORDER BY device, number"
        for device, *row, line in rows.run(sql):
            found.setdefault(device, []).append(_event(row, line))
        return found

    @reads
    def sense_events(
        self, rows: Rows, device: str, sense: int = 0, since: int = 0, until: int = 1 << 40, limit: int = 100
    ) -> list[StoredEvent]:
        """Events of a board's present senses, or of one of them, that lasted between two moments, newest first."""
        where = "AND sense = ?" if sense else "AND sense IN (SELECT key FROM senses WHERE device = ? AND replaced = 0)"
        sql = (
            f"SELECT {_EVENT} FROM sense_events WHERE device = ? AND started < ? AND (ended = 0 OR ended >= ?) {where} "
            "ORDER BY started DESC, number DESC LIMIT ?"
        )
        found = rows.run(sql, (device, until, since, sense or device, limit))
        return [_event(row, line) for *row, line in found]


def _count_lines(rows: Rows, device: str, lines: Sequence[str], now: int, quota: LineQuota) -> None:
    use = DayUse(rows, [device], now)
    if problem := use.line_refusal(device, quota):
        raise problem
    use.add(device, size=sum(map(len, lines)))
    use.save()


def _event(row: Sequence[Any], line: str) -> StoredEvent:
    number, sense, kind, started, ended = row
    return StoredEvent(number, sense, kind, started, ended, json.loads(line))
