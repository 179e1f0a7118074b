"""Lines that the database gives back damaged: passed over, counted, and asked for again from their board.

Each line ends with its own check, so whoever reads one sees what a failing disk, or a foreign hand, made of it. What is found
is marked by an empty `crc`. A hello is then answered as if both sides had to be compared, and the board sends the line again.

Rows of tokens and of the audit log end with a crc32 of their values too: a token may not give more than it was made for, and
an entry of the audit log may not say what nobody did.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from engram_host.companion.store.boards.copy_events import EVENTS
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.row_types import DAMAGED_ASIDE, LogRow, is_intact, line_bytes
from engram_host.companion.store.sql.statements import OF_COPY
from engram_host.companion.types import FOLDER, LogName
from engram_host.wording import counted

MARKED = "lines.crc = '' AND lines.line IS NOT NULL"
"""The condition that a line was found damaged: that of its index."""

_AT_ONCE = 500
"""Seqs in one statement."""

Found = tuple[str, LogName, int, int]
"""A damaged line: (board, log, epoch, seq)."""


@dataclass(frozen=True)
class DamagedLines:
    """The damaged lines of a board's log: `lost` are those that the board cannot send again, `former` those of them that
    stand in copies of former epochs. `if_lost` is what a person does about them.
    """

    device: str
    log: LogName
    count: int
    lost: int
    former: int = 0
    if_lost: str = Rows.if_lost

    @property
    def sentence(self) -> str:
        """Their sentence for a person."""
        lines = counted(self.count, "line", "lines")
        start = f"{self.device}: {lines} of its {self.log} in the database {'is' if self.count == 1 else 'are'} damaged"
        if self.former:
            start += f" ({self.former} in copies of former epochs)"
        if not self.lost:
            return f"{start} and passed over; the board is asked to send what it still has."
        lost = f"{self.lost} of these the board has no more" if self.lost < self.count else "the board has no more"
        what = "it" if self.count == 1 else "them"
        if self.lost == self.count:
            lost = f"the board does not have {what} any more"
        return f"{start} and passed over; {lost}: {self.if_lost}"


def mark_damaged(rows: Rows, found: Iterable[Found], now: int) -> list[str]:
    """Mark lines that were found damaged and still are; a sentence for each log with a line marked."""
    by_copy: dict[tuple[str, LogName, int], list[int]] = defaultdict(list)
    for device, log, epoch, seq in found:
        by_copy[device, log, epoch].append(seq)
    sentences: list[str] = []
    for key, seqs in sorted(by_copy.items()):
        device, log, _ = key
        rows.lock([device])
        marked = [seq for start in range(0, len(seqs), _AT_ONCE) for seq in _mark(rows, key, seqs[start:][:_AT_ONCE])]
        if not marked:
            continue
        if device.startswith(FOLDER):
            # Its files are read again, which writes the passages again.
            rows.run("UPDATE files SET stamp = '' WHERE folder = ?", (device,))
        sentence = EVENTS.say("found_damaged", log=log, first=min(marked), n=len(marked))
        rows.add_event(device, now, sentence)
        sentences.append(f"{device}: {sentence}")
    return sentences


def _mark(rows: Rows, key: tuple[str, LogName, int], seqs: Sequence[int]) -> list[int]:
    condition, values = rows.condition_in("seq", seqs)
    where = f"{OF_COPY} AND {condition} AND line IS NOT NULL AND crc <> ''"
    found = rows.run(f"SELECT seq, crc, line FROM lines WHERE {where}", (*key, *values))
    marked = [seq for seq, crc, line in found if not is_intact(seq, crc, line_bytes(line))]
    rows.run_many(f"UPDATE lines SET crc = '' WHERE {OF_COPY} AND seq = ?", [(*key, seq) for seq in marked])
    return marked


def has_damaged(rows: Rows, copy: LogRow) -> bool:
    """Whether a line of a copy is damaged that the board may still have."""
    return bool(_damaged(rows, copy, max(copy.oldest - 1, 0), copy.have, 1))


def damaged_seqs(rows: Rows, copy: LogRow, after: int, to: int) -> set[int]:
    """The seqs of damaged lines of a span that the board may still have."""
    return set(_damaged(rows, copy, max(after, copy.oldest - 1), to, 1 << 30))


def _damaged(rows: Rows, copy: LogRow, after: int, to: int, limit: int) -> list[int]:
    rows.flush()
    # The sum of texts keeps SQLite from going through all lines of the copy by the primary key.
    where = f"{MARKED} AND device || log = ? AND epoch = ? AND seq > ? AND seq <= ? AND NOT beyond"
    values = (copy.device + copy.log, copy.epoch, after, to, limit)
    return [seq for (seq,) in rows.run(f"SELECT seq FROM lines WHERE {where} LIMIT ?", values)]


IS_LOST = "CASE WHEN logs.is_present AND lines.seq >= logs.oldest AND NOT lines.beyond THEN 0 ELSE 1 END"
"""1 for a line that no board can send again."""

_WITH_LOGS = (
    "lines JOIN logs ON logs.device = lines.device AND logs.log = lines.log AND logs.epoch = lines.epoch "
    f"WHERE {MARKED}"
)

COUNTS = (
    f"SELECT lines.device, lines.log, count(*), sum({IS_LOST}), sum(CASE WHEN logs.is_present THEN 0 ELSE 1 END) "
    f"FROM {_WITH_LOGS} GROUP BY lines.device, lines.log ORDER BY lines.device, lines.log"
)
"""The statement that counts the lines which were found damaged, by board and log; its rows begin a DamagedLines."""


def count_damaged(rows: Rows) -> list[DamagedLines]:
    """The lines that were found damaged, by board and log; a line is here until its board has sent it again."""
    return [
        DamagedLines(device, log, count, int(lost), int(former), rows.if_lost)
        for device, log, count, lost, former in rows.run(COUNTS)
    ]


def set_lost_aside(rows: Rows, now: int) -> int:
    """Set aside the damaged lines that no board can send again; return their number."""
    columns = "lines.device, lines.log, lines.epoch, lines.seq, lines.line"
    found = rows.run(f"SELECT {columns} FROM {_WITH_LOGS} AND {IS_LOST} = 1")
    for name, log, epoch, seq, line in found:
        device, copy = rows.lock_or_make(name), LogRow(name, log, epoch)
        rows.set_aside(copy, [(seq, line_bytes(line))], DAMAGED_ASIDE, now)
        rows.remove_lines(device, copy, [seq], now)
        rows.save_devices([device])
    return len(found)


# --- rows of tokens and of the audit log


@dataclass(frozen=True)
class CheckedTable:
    """The columns that a check is made of, and the key; what a row of the table is called, and what a person does about a
    damaged one.
    """

    columns: str
    key: str
    one: str
    many: str
    remedy: str


CHECKED = {
    "device_tokens": CheckedTable(
        "device, digest, mosquitto, made",
        "device",
        "board's token",
        "boards' tokens",
        "it is refused: give the board a new one with `engram device rotate NAME`",
    ),
    "former_tokens": CheckedTable(
        "device, digest, ends",
        "device",
        "board's former token",
        "boards' former tokens",
        "it is refused, as it would be soon anyway",
    ),
    "operator_tokens": CheckedTable(
        "name, digest, is_read_only, made, ends",
        "name",
        "operator's token",
        "operators' tokens",
        "it is refused: remove it and add another with `engram token`",
    ),
    "people": CheckedTable(
        "principal, name, is_blocked",
        "principal",
        "person",
        "people",
        "they are not answered: approve them again with `engram people`",
    ),
    "people_ids": CheckedTable(
        "ref, principal",
        "ref",
        "network account of a person",
        "network accounts of people",
        "it is a stranger's: approve it again with `engram people`",
    ),
    "chat_groups": CheckedTable(
        "ref, is_always",
        "ref",
        "group of a network",
        "groups of networks",
        "it is closed: open it again with `engram people group`",
    ),
    "audit": CheckedTable(
        "at, who, action, outcome, address, number",
        "number",
        "entry of the audit log",
        "entries of the audit log",
        "a backup may still have it whole",
    ),
}
"""The tables whose rows have a check, in their column `crc`."""


def row_check(values: Sequence[Any]) -> int:
    """The check of a row's values, numbers, texts or bytes: a crc32."""
    crc = 0
    for value in values:
        data = bytes(value) if isinstance(value, bytes | memoryview) else str(value).encode()
        crc = crc32(data, crc32(b"%d:" % len(data), crc))
    return crc


def is_sound(row: Sequence[Any]) -> bool:
    """Whether a row is as it was written; its last value is its check."""
    return row[-1] == row_check(row[:-1])


def damaged_rows(rows: Rows) -> list[str]:
    """A sentence for each table with damaged rows."""
    found: list[str] = []
    rows.read_by_index()
    for name, table in CHECKED.items():
        sql = f"SELECT {table.columns}, crc FROM {name} ORDER BY {table.key}"
        count = sum(not is_sound(row) for row in rows.run(sql))
        if count:
            verb = "is" if count == 1 else "are"
            found.append(f"{counted(count, table.one, table.many)} in the database {verb} damaged: {table.remedy}.")
    return found
