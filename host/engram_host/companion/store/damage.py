"""Damaged lines of the database: skipped, counted, and requested again from their board.

Each line ends with its own check, so any read detects damage and marks the line by an empty `crc`. The next hello then asks
for a full comparison, and the board sends the line again.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engram_host.companion.store.rows import (
    DAMAGED_ASIDE,
    EVENTS,
    OF_COPY,
    LogRow,
    Rows,
    chunks,
    in_list,
    is_intact,
    line_bytes,
)
from engram_host.companion.types import FOLDER, LogName
from engram_host.wording import counted

MARKED = "lines.crc = '' AND lines.line IS NOT NULL"

Found = tuple[str, LogName, int, int]
"""A damaged line: (board, log, epoch, seq)."""


@dataclass(frozen=True)
class DamagedLines:
    """Damaged lines of a log: `lost` cannot be resent, and `former` of these are in former epochs."""

    device: str
    log: LogName
    count: int
    lost: int
    former: int = 0
    if_lost: str = Rows.if_lost

    @property
    def sentence(self) -> str:
        former = f" ({self.former} in copies of former epochs)" if self.former else ""
        lines = f"{counted(self.count, 'line', 'lines')} of its {self.log}{former}"
        found = f"{self.device}: {lines} found damaged in the database; the board sends again what it still has."
        return f"{found} It has {self.lost} of these no more: {self.if_lost}" if self.lost else found


def mark_damaged(rows: Rows, found: Iterable[Found], now: int) -> list[str]:
    by_copy: dict[tuple[str, LogName, int], list[int]] = defaultdict(list)
    for device, log, epoch, seq in found:
        by_copy[device, log, epoch].append(seq)
    sentences: list[str] = []
    for key, seqs in sorted(by_copy.items()):
        device, log, _ = key
        rows.lock([device])
        marked = [seq for part in chunks(seqs) for seq in _mark(rows, key, part)]
        if not marked:
            continue
        if device.startswith(FOLDER):
            # Reading its files again rewrites the passages.
            rows.run("UPDATE files SET stamp = '' WHERE folder = ?", (device,))
        sentence = EVENTS.say("found_damaged", log=log, first=min(marked), n=len(marked))
        rows.add_event(device, now, sentence)
        sentences.append(f"{device}: {sentence}")
    return sentences


def _mark(rows: Rows, key: tuple[str, LogName, int], seqs: Sequence[int]) -> list[int]:
    some, values = in_list(seqs)
    where = f"{OF_COPY} AND seq {some} AND line IS NOT NULL AND crc <> ''"
    found = rows.run(f"SELECT seq, crc, line FROM lines WHERE {where}", (*key, *values))
    marked = [seq for seq, crc, line in found if not is_intact(seq, crc, line_bytes(line))]
    rows.run_many(f"UPDATE lines SET crc = '' WHERE {OF_COPY} AND seq = ?", [(*key, seq) for seq in marked])
    return marked


def has_damaged(rows: Rows, copy: LogRow) -> bool:
    return bool(_damaged(rows, copy, max(copy.oldest - 1, 0), copy.have, 1))


def damaged_seqs(rows: Rows, copy: LogRow, after: int, to: int) -> set[int]:
    return set(_damaged(rows, copy, max(after, copy.oldest - 1), to, 1 << 30))


def _damaged(rows: Rows, copy: LogRow, after: int, to: int, limit: int) -> list[int]:
    rows.flush()
    # The concatenation keeps SQLite from scanning all lines of the copy by the primary key.
    where = f"{MARKED} AND device || log = ? AND epoch = ? AND seq > ? AND seq <= ? AND NOT beyond"
    values = (copy.device + copy.log, copy.epoch, after, to, limit)
    return [seq for (seq,) in rows.run(f"SELECT seq FROM lines WHERE {where} LIMIT ?", values)]


IS_LOST = "CASE WHEN logs.is_present AND lines.seq >= logs.oldest AND NOT lines.beyond THEN 0 ELSE 1 END"
"""SQL for 1 if no board can resend a line, else 0."""

_WITH_LOGS = (
    "lines JOIN logs ON logs.device = lines.device AND logs.log = lines.log AND logs.epoch = lines.epoch "
    f"WHERE {MARKED}"
)

COUNTS = (
    f"SELECT lines.device, lines.log, count(*), sum({IS_LOST}), sum(CASE WHEN logs.is_present THEN 0 ELSE 1 END) "
    f"FROM {_WITH_LOGS} GROUP BY lines.device, lines.log ORDER BY lines.device, lines.log"
)
"""Counts damaged lines by board and log, in the order of DamagedLines' fields."""


def count_damaged(rows: Rows) -> list[DamagedLines]:
    return [
        DamagedLines(device, log, count, int(lost), int(former), rows.if_lost)
        for device, log, count, lost, former in rows.run(COUNTS)
    ]


def set_lost_aside(rows: Rows, now: int) -> int:
    columns = "lines.device, lines.log, lines.epoch, lines.seq, lines.line"
    found = rows.run(f"SELECT {columns} FROM {_WITH_LOGS} AND {IS_LOST} = 1")
    for name, log, epoch, seq, line in found:
        device, copy = rows.lock_or_make(name), LogRow(name, log, epoch)
        rows.set_aside(copy, [(seq, line_bytes(line))], DAMAGED_ASIDE, now)
        rows.remove_lines(device, copy, [seq], now)
        rows.save_devices([device])
    return len(found)
