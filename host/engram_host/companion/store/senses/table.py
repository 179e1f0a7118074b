"""Senses of boards and their readings: a board's list, the blocks of its rings, and the stored parts.

A block counts once by its level, seq and check, so repeats do no harm, nor does an older state of a flash or of this database.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from engram.link import messages
from engram_host.companion.errors import Refused
from engram_host.companion.store.boards.line_quota import DayUse
from engram_host.companion.store.boards.replication_rules import admitted
from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.rows import Rows, columns_of, row_values
from engram_host.companion.store.senses.types import (
    FOLDED,
    MINUTES,
    SPANS,
    Anomaly,
    HeldReadings,
    Listed,
    ReadingBlock,
    Row,
    SenseList,
    StoredEvent,
    StoredSense,
    add_rows,
    decode_part,
    encode_part,
    fold,
)
from engram_host.companion.types import LineQuota, Sender

MOST_SENSES = 500

LIST_FIRST_SECONDS = 5

CLOCK_SECONDS = 600
"""Seconds that a board's clock may be ahead; later readings come from a wrong clock."""

PART_BYTES = 128
"""Least quota bytes of a written part, as its row takes about as much."""

_LIST_FIRST = "the board's senses are not known here: it lists them again."
_SENSE = columns_of(StoredSense)
_EVENT = "number, sense, kind, started, ended, line"

ANOMALIES = ("unusual", "drift", "stuck", "silent")
"""Kinds of anomalies; their events have numbers below 0."""


class SenseTable(DatabaseTable):
    # --- from boards

    @writes
    def put_senses(self, rows: Rows, sender: Sender, device: str, said: SenseList, now: int) -> HeldReadings:
        admitted(rows, sender, device, "records", said.epoch)
        copy = read_copy(rows, device)
        if copy is None or copy.epoch != said.epoch:
            rows.run(
                "UPDATE senses SET replaced = ? WHERE device = ? AND replaced = 0 AND epoch <> ?",
                (now, device, said.epoch),
            )
            copy = SenseCopy(said.epoch, 0)
        _take_list(rows, device, said, said.next < copy.next or not said.whole, now)
        save_copy(rows, device, SenseCopy(said.epoch, said.next, copy.newest))
        return held_readings(rows, device)

    @writes
    def put_readings(
        self, rows: Rows, sender: Sender, device: str, block: ReadingBlock, now: int, quota: LineQuota
    ) -> HeldReadings:
        admitted(rows, sender, device, "records", block.epoch)
        copy = read_copy(rows, device)
        if copy is None or copy.epoch != block.epoch:
            raise Refused(_LIST_FIRST, LIST_FIRST_SECONDS)
        if rows.count(
            "INSERT INTO sense_blocks (device, epoch, level, seq, block_check) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (device, block.epoch, block.level, block.seq, block.check),
        ):
            use = DayUse(rows, [device], now)
            if problem := use.refusal(device, quota):
                raise problem
            parts = 0
            for key, number in _present(rows, device):
                if found := block.rows.get(number):
                    parts += _keep(rows, device, key, block.level, found)
                    if block.level == MINUTES:
                        _note_latest(rows, device, key, found, now)
            use.add(device, size=max(block.size, parts * PART_BYTES))
            use.save()
        newest = list(copy.newest)
        newest[block.level] = block.seq, block.check
        save_copy(rows, device, SenseCopy(copy.epoch, copy.next, tuple(newest)))
        return held_readings(rows, device)

    # --- for people

    @reads
    def senses_of(self, rows: Rows, device: str) -> list[StoredSense]:
        found = rows.run(f"SELECT {_SENSE} FROM senses WHERE device = ? AND replaced = 0 ORDER BY number", (device,))
        return [StoredSense(*each) for each in found]

    @reads
    def senses_of_boards(self, rows: Rows) -> dict[str, list[StoredSense]]:
        found: dict[str, list[StoredSense]] = {}
        sql = f"SELECT device, {_SENSE} FROM senses WHERE replaced = 0 ORDER BY device, number"
        for device, *each in rows.run(sql):
            found.setdefault(device, []).append(StoredSense(*each))
        return found

    @reads
    def reading_rows(self, rows: Rows, device: str, sense: int, level: int, first: int, last: int) -> list[Row]:
        span = SPANS[level]
        sql = "SELECT content FROM sense_parts WHERE device = ? AND sense = ? AND level = ? AND part BETWEEN ? AND ?"
        found = rows.run(f"{sql} ORDER BY part", (device, sense, level, first // span, last // span))
        kept = (row for (content,) in found for row in decode_part(bytes(content)).values())
        return [row for row in kept if first <= row.slot <= last]

    @reads
    def slots_known(self, rows: Rows, device: str, sense: int) -> dict[int, tuple[int, int]]:
        sql = "SELECT level, min(part), max(part) FROM sense_parts WHERE device = ? AND sense = ? GROUP BY level"
        found = rows.run(sql, (device, sense))
        return {level: (first * SPANS[level], (last + 1) * SPANS[level] - 1) for level, first, last in found}

    # --- anomalies

    @writes
    def put_anomalies(self, rows: Rows, device: str, sense: int, found: Sequence[Anomaly], newest: int) -> None:
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
            key = {"device": device, "epoch": copy.epoch, "number": number}
            times = {"started": each.start * 60, "ended": each.end * 60}
            event = {**key, **times, "sense": sense, "kind": each.kind, "line": line}
            rows.upsert("sense_events", "device, epoch, number", event)

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


# --- the list


def _take_list(rows: Rows, device: str, said: SenseList, has_lost: bool, now: int) -> None:
    sql = "SELECT key, number, name, made, unit, decimals, shared, replaced FROM senses WHERE device = ? AND epoch = ?"
    known = {(number, name, made): (key, unit, decimals, shared, replaced)
             for key, number, name, made, unit, decimals, shared, replaced in rows.run(sql, (device, said.epoch))}  # fmt: skip
    listed = {(each.number, each.name, each.made): each for each in said.senses}
    reused = {each.number for each in said.senses}
    for which, (key, *_, replaced) in known.items():
        if which not in listed and not replaced:
            if has_lost or which[0] in reused:
                rows.run("UPDATE senses SET replaced = ? WHERE device = ? AND key = ?", (now, device, key))
            else:
                drop_senses(rows, device, [key])
    ((top,),) = rows.run("SELECT coalesce(max(key), 0) FROM senses WHERE device = ?", (device,))
    for which, each in listed.items():
        if which not in known:
            top += 1
            _insert(rows, device, top, said.epoch, each)
        elif known[which][1:] != (each.unit, each.decimals, int(each.is_shared), 0):
            rows.run(
                "UPDATE senses SET unit = ?, decimals = ?, shared = ?, replaced = 0 WHERE device = ? AND key = ?",
                (each.unit, each.decimals, int(each.is_shared), device, known[which][0]),
            )
    sql = "SELECT key FROM senses WHERE device = ? ORDER BY replaced = 0 DESC, key DESC"
    drop_senses(rows, device, [key for (key,) in rows.run(sql, (device,))[MOST_SENSES:]])


def _insert(rows: Rows, device: str, key: int, epoch: int, sense: Listed) -> None:
    values = row_values(sense)
    shared = values.pop("is_shared")
    known = {"device": device, "key": key, "epoch": epoch, "shared": shared, "replaced": 0, "at": 0, "value": 0}
    rows.insert("senses", values | known)


def drop_senses(rows: Rows, device: str, keys: Iterable[int]) -> None:
    for key in keys:
        for table, column in (("senses", "key"), ("sense_parts", "sense"), ("sense_events", "sense")):
            rows.run(f"DELETE FROM {table} WHERE device = ? AND {column} = ?", (device, key))
        rows.let_go = True
    known = "SELECT epoch FROM senses WHERE device = ? UNION SELECT epoch FROM sense_copies WHERE device = ?"
    rows.run(f"DELETE FROM sense_blocks WHERE device = ? AND epoch NOT IN ({known})", (device,) * 3)


def _present(rows: Rows, device: str) -> Sequence[tuple[int, int]]:
    return rows.run("SELECT key, number FROM senses WHERE device = ? AND replaced = 0", (device,))  # pyright: ignore


# --- readings


def _keep(rows: Rows, device: str, key: int, level: int, found: Sequence[Row]) -> int:
    by_part: dict[int, list[Row]] = {}
    for row in found:
        by_part.setdefault(row.slot // SPANS[level], []).append(row)
    for part, new in by_part.items():
        merged = add_rows(_part(rows, device, key, level, part).values(), new)
        _put_part(rows, device, key, level, part, merged)
        if level == MINUTES:
            _put_part(rows, device, key, FOLDED, part, fold(merged.values()))
    return len(by_part)


def _note_latest(rows: Rows, device: str, key: int, found: Sequence[Row], now: int) -> None:
    latest = now + CLOCK_SECONDS
    newest = max([row for row in found if row.slot * 60 <= latest] or found)
    rows.run(
        "UPDATE senses SET at = ?, value = ? WHERE device = ? AND key = ? AND (at < ? OR at > ?)",
        (newest.slot * 60, newest.last, device, key, newest.slot * 60, latest),
    )


def _part(rows: Rows, device: str, key: int, level: int, part: int) -> dict[int, Row]:
    sql = "SELECT content FROM sense_parts WHERE device = ? AND sense = ? AND level = ? AND part = ?"
    for (content,) in rows.run(sql, (device, key, level, part)):
        return decode_part(bytes(content))
    return {}


def _put_part(rows: Rows, device: str, key: int, level: int, part: int, found: dict[int, Row]) -> None:
    content = encode_part(found)
    place = {"device": device, "sense": key, "level": level, "part": part}
    rows.upsert("sense_parts", ", ".join(place), {**place, "size": len(content), "content": content})


# --- progress of the copy


_COLUMNS = ("epoch", "next", "minute_seq", "minute_check", "hour_seq", "hour_check")
_NOTHING = ((0, ""), (0, ""))


@dataclass(frozen=True)
class SenseCopy:
    """A board's epoch, its next sense number, and (seq, check) of each level's newest block."""

    epoch: int
    next: int
    newest: Sequence[tuple[int, str]] = _NOTHING


def read_copy(rows: Rows, device: str) -> SenseCopy | None:
    sql = f"SELECT {', '.join(_COLUMNS)} FROM sense_copies WHERE device = ?"
    for epoch, following, *newest in rows.run(sql, (device,)):
        return SenseCopy(epoch, following, tuple(zip(newest[::2], newest[1::2], strict=True)))
    return None


def save_copy(rows: Rows, device: str, copy: SenseCopy) -> None:
    values = (copy.epoch, copy.next, *(value for pair in copy.newest for value in pair))
    rows.upsert("sense_copies", "device", {"device": device, **dict(zip(_COLUMNS, values, strict=True))})


def held_readings(rows: Rows, device: str) -> HeldReadings:
    copy = read_copy(rows, device) or SenseCopy(0, 0)
    sql = "SELECT number, name, unit, decimals, made FROM senses WHERE device = ? AND replaced = 0 ORDER BY number"
    listed = [tuple(each) for each in rows.run(sql, (device,))]
    check = crc32(repr((copy.epoch, copy.next, tuple(copy.newest), listed)).encode())
    return HeldReadings(tuple(copy.newest), messages.shown(check))


def sense_state(rows: Rows, device: str, epoch: int) -> str:
    copy = read_copy(rows, device)
    return held_readings(rows, device).state if copy and copy.epoch == epoch else messages.shown(0)


# --- anomalies


def _event(row: Sequence[Any], line: str) -> StoredEvent:
    number, sense, kind, started, ended = row
    return StoredEvent(number, sense, kind, started, ended, json.loads(line))
