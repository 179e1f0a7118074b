"""A PostgreSQL database with many boards: one is filled through the store's own calls, the others are copies of its rows."""

from collections.abc import Iterator

import numpy as np
import psycopg

from engram import log_line
from engram_host.companion.store import CompanionStore, choose_store
from engram_host.companion.store.boards.line_quota import DAY_SECONDS, DayUse
from engram_host.companion.store.boards.replication_rules import WENT_BACK
from engram_host.companion.store.boards.status import BoardStatus
from engram_host.companion.store.conversations.table import Reply
from engram_host.companion.store.database import tables_with
from engram_host.companion.store.rows import LogRow, Rows
from engram_host.companion.store.senses.types import MINUTES, Anomaly, Listed, ReadingBlock, Row, SenseList
from engram_host.companion.store.vectors import Identity, StoredVector
from engram_host.companion.types import (
    NOTES,
    ConversationLimits,
    Hello,
    LineBatch,
    LineQuota,
    LogName,
    LogState,
    Said,
    Sender,
    SeqRange,
)

NOW = 1_800_000_000
"""When the boards were filled, in Unix seconds."""

DAYS = 40
"""Days before, of which there are figures."""

EPOCH = 1
TEMPLATE = "template"
"""The board that the others are copies of."""

IDENTITY = Identity("test", 4, 1)
BATCH_LINES = 20
"""Lines of a message: about 4 KB."""

_BOARD_ID = "filled"
_SAID = "we walked along the river until the old mill and talked about the green bike that needs a new chain"
_LARGEST_PASS = 1_000_000
"""Rows of one statement: bounds what the server sorts on its disk."""

_NO_QUOTA = LineQuota()
_LIMITS = ConversationLimits(board_messages=1000, person_messages=1000)
_LEFT_OUT = ("device_tokens", "former_tokens", "bridge_deliveries")
"""Tables whose rows have something that must not be there twice, or that a board alone has none of."""


def record_lines(count: int) -> Iterator[tuple[int, bytes]]:
    """Lines of a board's records."""
    for seq in range(1, count + 1):
        text = f"{_SAID} {seq}"
        fields = [("seq", seq), ("id", f"m{seq}"), ("content", text), ("scope", "user:owner"), ("created", NOW + seq)]
        yield seq, log_line.encode(fields)


def turn_lines(count: int) -> Iterator[tuple[int, bytes]]:
    """Lines of a board's journal."""
    for seq in range(1, count + 1):
        session = f"s{(seq - 1) // 25 * 25 + 1}"
        fields = [("seq", seq), ("sid", session), ("role", "user"), ("who", "owner"), ("text", f"{_SAID} {seq}")]
        yield seq, log_line.encode([*fields, ("at", NOW + 600 * seq), ("n", (seq - 1) % 25), ("scope", "user:owner")])


class FilledBoard:
    """A board that speaks to a store as boards do, with a number for each of its messages."""

    def __init__(self, store: CompanionStore, device: str, records: int, turns: int, sent: int = 0):
        """`sent` is the number of its newest message so far."""
        self.store = store
        self.device = device
        self.next: dict[LogName, int] = {"records": records + 1, "journal": turns + 1}
        self._sent = sent

    @property
    def sender(self) -> Sender:
        """The sender of its next message."""
        self._sent += 1
        return Sender(_BOARD_ID, 1, self._sent)

    def greet(self, rewrites: int = 0, epoch: int = EPOCH) -> None:
        """Say hello."""
        states: dict[LogName, LogState] = {log: LogState(epoch, 1, end, rewrites) for log, end in self.next.items()}
        self.store.replication.greet(
            Hello(self.device, self.sender, 3600, states, 0, "CET-1CEST,M3.5.0,M10.5.0/3"), NOW
        )

    def send(self, log: LogName, lines: list[tuple[int, bytes]]) -> None:
        """Send lines of a log, a message for each some of them."""
        for start in range(0, len(lines), BATCH_LINES):
            part = lines[start : start + BATCH_LINES]
            span = SeqRange(self.device, log, EPOCH, part[0][0] - 1, part[-1][0])
            (outcome,) = self.store.replication.store_batches([LineBatch(self.sender, span, part)], NOW, _NO_QUOTA)
            assert isinstance(outcome, int), outcome

    def put_vectors(self, seqs: range) -> None:
        """Keep a vector of each of some records."""
        chance = np.random.default_rng(1)
        made = [
            StoredVector("records", seq, b"%032d" % seq, chance.standard_normal(IDENTITY.dimensions, np.float32))
            for seq in seqs
        ]
        self.store.vectors.put_vectors(self.device, IDENTITY, made)

    def put_note(self, day: int, text: str) -> None:
        """Send a day's note."""
        said = f"2026-01-{day:02}.md", text.encode()
        self.store.notes.put_note(self.sender, self.device, EPOCH, *said, NOW, _NO_QUOTA)

    def put_senses(self, count: int, blocks: int) -> None:
        """List senses, and send blocks of readings by minute; each sense had anomalies, and one of one lasts."""
        listed = tuple(Listed(number, f"sense {number}", "C", 1, NOW) for number in range(1, count + 1))
        self.store.senses.put_senses(self.sender, self.device, SenseList(EPOCH, count + 1, True, listed), NOW)
        for block in range(blocks):
            rows = [Row(NOW // 60 - 2000 + 30 * block + at, 6, 200, 210, 205, 203) for at in range(30)]
            told = ReadingBlock(
                EPOCH, MINUTES, block + 1, f"{block:08x}", 512, dict.fromkeys(range(1, count + 1), rows)
            )
            self.store.senses.put_readings(self.sender, self.device, told, NOW, _NO_QUOTA)
        minute = NOW // 60
        over = [Anomaly("stuck", minute - 10 * at, 300, (1, 2), minute - 10 * at + 5) for at in range(1, 9)]
        for sense in self.store.senses.senses_of(self.device):
            lasts = [Anomaly("stuck", minute - 1, 300, (1, 2))] if sense.number == 1 else []
            self.store.senses.put_anomalies(self.device, sense.key, over + lasts, minute)

    def converse(self, mid: str) -> None:
        """Be asked something, and answer it."""
        self.store.conversations.add_conversation(
            self.device, Said(mid, "owner", "where is the bike?", "chat:1"), _LIMITS, NOW
        )
        found = self.store.conversations.next_message(self.sender, self.device, NOW)
        assert found, "a message that was said is offered"
        self.store.conversations.mark_taken(self.sender, self.device, mid, "t1", NOW)
        reply = Reply(found.offers, 1, [("text", _SAID)], is_end=True)
        self.store.conversations.add_reply(self.sender, self.device, mid, reply, _LIMITS, NOW)


def fill_template(store: CompanionStore, records: int, turns: int) -> None:
    """Fill the board that the others become copies of."""
    board = FilledBoard(store, TEMPLATE, records, turns)
    board.greet()
    board.send("records", list(record_lines(records)))
    board.send("journal", list(turn_lines(turns)))
    for log in ("records", "journal"):
        store.replication.mark_agreed(board.sender, TEMPLATE, log, EPOCH, 0)
    board.put_vectors(range(1, records + 1, 4))
    for day in range(1, 6):
        board.put_note(day, "# bike\n\nthe chain is new\nthe lamp is old\n")
    board.put_senses(4, 4)
    for day in range(DAYS, -1, -1):
        at = NOW - day * DAY_SECONDS
        store.status.put_status(board.sender, TEMPLATE, BoardStatus(run=1, flash=1 << 20, flash_size=1 << 24), at)
        store.database.write(lambda rows, at=at: _count_a_day(rows, at))
    for number in range(10):
        board.converse(f"said-{number}")
    store.database.write(_set_aside)
    # One that waits, beside many that are answered.
    store.conversations.add_conversation(TEMPLATE, Said("waits", "owner", "and the lamp?", "chat:1"), _LIMITS, NOW)


def _count_a_day(rows: Rows, at: int) -> None:
    use = DayUse(rows, [TEMPLATE], at)
    use.add(TEMPLATE, lines=1)
    use.save()


def _set_aside(rows: Rows) -> None:
    """Have some lines set aside, and some events."""
    rows.set_aside(LogRow(TEMPLATE, "records", EPOCH), list(record_lines(10)), WENT_BACK, NOW)
    for number in range(20):
        rows.add_event(TEMPLATE, NOW, f"something happened {number}")


def copy_boards(url: str, count: int, after: int = 0) -> None:
    """Add the boards after `board-AFTER` up to `board-COUNT` with all that the template has, and gather the planner's
    statistics.

    The lines of some hundred boards stand in the tables as if these had sent their messages in turn.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        rows = _count(connection, "lines")
        step = max(1, _LARGEST_PASS // max(rows, 1))
        for first in range(after + 1, count + 1, step):
            last = min(count, first + step - 1)
            for prefix in ("", NOTES):
                _copy_rows(connection, "devices", "name", prefix, first, last)
                for table in tables_with("device"):
                    if table not in _LEFT_OUT:
                        _copy_rows(connection, table, "device", prefix, first, last)
                _copy_rows(connection, "files", "folder", prefix, first, last)
        connection.execute("ANALYZE")


def _count(connection: "psycopg.Connection", table: str) -> int:
    return connection.execute(f"SELECT count(*) FROM {table} WHERE device = '{TEMPLATE}'".encode()).fetchone()[0]  # pyright: ignore


def _copy_rows(connection: "psycopg.Connection", table: str, owner: str, prefix: str, first: int, last: int) -> None:
    """Copy a table's rows of the template, whose name stands in a column, for each of some boards."""
    sql = (
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped "
        "AND attidentity = '' AND attname <> %s"
    )
    names = [name for (name,) in connection.execute(sql, (table, owner)).fetchall()]
    columns = ", ".join(f'"{name}"' for name in names)
    # Each board has said things of its own.
    values = columns.replace('"digest"', "digest || int4send(numbered.nth)") if table == "vectors" else columns
    order = f" ORDER BY seq / {BATCH_LINES}, numbered.nth, seq" if table in ("lines", "vectors") else ""
    connection.execute(
        f"INSERT INTO {table} ({owner}, {columns}) SELECT '{prefix}board-' || numbered.nth, {values} FROM {table}, "
        f"generate_series({first}, {last}) AS numbered (nth) WHERE {owner} = '{prefix}{TEMPLATE}'{order}".encode()
    )


def open_filled(url: str, boards: int, records: int, turns: int) -> CompanionStore:
    """An open store with boards of equal size."""
    store = choose_store(url)
    store.open()
    fill_template(store, records, turns)
    copy_boards(url, boards)
    return store
