"""Expiry of readings: old minutes, lost senses, and the oldest beyond a board's quota."""

from engram_host.companion.store.queries import Rows
from engram_host.companion.store.senses.copies import read_copy
from engram_host.companion.store.senses.table import drop_senses
from engram_host.companion.store.senses.types import FOLDED, MINUTES

MOST_BLOCKS = 20_000

OLD_MINUTES = f"level = {MINUTES} AND part < ?"


def drop_lost_sense(rows: Rows, before: int) -> bool:
    """Delete a sense lost before a time, with its data; False if there is none."""
    found = rows.run("SELECT device, key FROM senses WHERE replaced > 0 AND replaced < ? LIMIT 1", (before,))
    for device, key in found:
        drop_senses(rows, device, [key])
    return bool(found)


def drop_much_read(rows: Rows, device: str, most_bytes: int, most_rows: int) -> int:
    """Delete some excess parts beyond `most_bytes` (0: no limit) and old blocks; return the rows."""
    count = _drop_parts_beyond(rows, device, most_bytes, most_rows) if most_bytes else 0
    count += _drop_former_blocks(rows, device, most_rows)
    for level in range(FOLDED):
        beyond = "SELECT seq FROM sense_blocks WHERE device = ? AND level = ? ORDER BY seq DESC LIMIT 1 OFFSET ?"
        for (seq,) in rows.run(beyond, (device, level, MOST_BLOCKS)):
            where = "device = ? AND level = ? AND seq <= ?"
            count += rows.delete_some("sense_blocks", _BLOCK, where, (device, level, seq), most_rows, "seq")
    return count


_BLOCK = "device, epoch, level, seq, block_check"


def _drop_former_blocks(rows: Rows, device: str, most_rows: int) -> int:
    copy = read_copy(rows, device)
    if copy is None:
        return 0
    epochs = {copy.epoch} | {epoch for (epoch,) in rows.run("SELECT epoch FROM senses WHERE device = ?", (device,))}
    count = 0
    for (epoch,) in rows.run("SELECT DISTINCT epoch FROM sense_blocks WHERE device = ?", (device,)):
        if epoch not in epochs:
            count += rows.delete_some(
                "sense_blocks", _BLOCK, "device = ? AND epoch = ?", (device, epoch), most_rows, "seq"
            )
    return count


def _drop_parts_beyond(rows: Rows, device: str, most: int, most_rows: int) -> int:
    ((size,),) = rows.run("SELECT coalesce(sum(size), 0) FROM sense_parts WHERE device = ?", (device,))
    if size <= most:
        return 0
    order = f"CASE level WHEN {MINUTES} THEN 0 ELSE 1 END DESC, part DESC"
    sizes = f"SELECT sense, level, part, sum(size) OVER (ORDER BY {order}, sense) AS total FROM sense_parts WHERE device = ?"
    beyond = rows.run(
        f"SELECT sense, level, part FROM ({sizes}) AS sized WHERE total > ? LIMIT ?", (device, most, most_rows)
    )
    sql = "DELETE FROM sense_parts WHERE device = ? AND sense = ? AND level = ? AND part = ?"
    rows.run_many(sql, [(device, *each) for each in beyond])
    rows.let_go |= bool(beyond)
    return len(beyond)
