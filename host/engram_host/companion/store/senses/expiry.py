"""Which readings leave the store: old minutes, those of senses that their boards lost, and the oldest beyond a board's room."""

from engram_host.companion.store.line_quota import DAY_SECONDS
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.senses.table import drop_senses
from engram_host.companion.store.senses.types import MINUTES
from engram_host.companion.types import RetentionLimits

MOST_BLOCKS = 20_000
"""Blocks of a level of a board that are known to have come: its flash has some hundreds at most."""


def drop_old_readings(rows: Rows, limits: RetentionLimits, now: int) -> None:
    """Remove the readings that `limits` do not keep."""
    if limits.former_days:
        lost = "SELECT device, key FROM senses WHERE replaced > 0 AND replaced < ?"
        for device, key in rows.run(lost, (now - limits.former_days * DAY_SECONDS,)):
            drop_senses(rows, device, [key])
    if limits.reading_days:
        first = now // DAY_SECONDS - limits.reading_days
        rows.let_go |= bool(rows.count("DELETE FROM sense_parts WHERE level = ? AND part < ?", (MINUTES, first)))
    if limits.reading_bytes:
        for (device,) in rows.run(
            "SELECT device FROM sense_parts GROUP BY device HAVING sum(size) > ?", (limits.reading_bytes,)
        ):
            _drop_beyond(rows, device, limits.reading_bytes)
    rows.run(
        "DELETE FROM sense_blocks WHERE EXISTS (SELECT 1 FROM sense_copies WHERE sense_copies.device = sense_blocks.device AND "
        "sense_copies.epoch <> sense_blocks.epoch) AND NOT EXISTS (SELECT 1 FROM senses WHERE senses.device = "
        "sense_blocks.device AND senses.epoch = sense_blocks.epoch)"
    )
    rank = "row_number() OVER (PARTITION BY device, level ORDER BY seq DESC) AS place"
    ranked = f"SELECT device, level, seq, {rank} FROM sense_blocks"
    sql = f"SELECT device, level, max(seq) FROM ({ranked}) AS ranked WHERE place > ? GROUP BY device, level"
    for device, level, seq in rows.run(sql, (MOST_BLOCKS,)):
        rows.run("DELETE FROM sense_blocks WHERE device = ? AND level = ? AND seq <= ?", (device, level, seq))


def _drop_beyond(rows: Rows, device: str, most: int) -> None:
    """Remove a board's oldest parts that are too many bytes: minutes first, then hours, then days."""
    order = "CASE level WHEN 0 THEN 0 WHEN 2 THEN 2 ELSE 1 END DESC, part DESC"
    sizes = f"SELECT sense, level, part, sum(size) OVER (ORDER BY {order}, sense) AS total FROM sense_parts WHERE device = ?"
    beyond = rows.run(f"SELECT sense, level, part FROM ({sizes}) AS sized WHERE total > ?", (device, most))
    sql = "DELETE FROM sense_parts WHERE device = ? AND sense = ? AND level = ? AND part = ?"
    rows.run_many(sql, [(device, *each) for each in beyond])
    rows.let_go |= bool(beyond)
