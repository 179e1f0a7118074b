"""Copies of the boards' logs; calls that concern one board see all earlier ones."""

from binascii import crc32
from collections.abc import Iterable, Iterator, Sequence

from engram.link import messages
from engram_host.companion.errors import Refused, Stale, UnknownDevice
from engram_host.companion.store import retention
from engram_host.companion.store.board_notes import NoteFileTable, note_state
from engram_host.companion.store.boards.copy_events import EVENTS
from engram_host.companion.store.boards.status_table import BoardStatusTable
from engram_host.companion.store.damage import DamagedLines, count_damaged, set_lost_aside
from engram_host.companion.store.database import DatabaseTable, reads, reads_once, writes
from engram_host.companion.store.line_quota import DayUse
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.replication_rules import (
    MISSING,
    BatchWriter,
    admitted,
    forget_beyond_board,
    sync_copies,
)
from engram_host.companion.store.row_types import DeviceRow, LogRow, line_bytes
from engram_host.companion.store.senses.copies import sense_state
from engram_host.companion.store.senses.events import SenseTables
from engram_host.companion.store.sql.statements import OF_COPY, PRESENT
from engram_host.companion.types import (
    FOLDER,
    LOGS,
    Change,
    Device,
    Hello,
    LineBatch,
    LineQuota,
    LogName,
    LogState,
    Sender,
    SeqRange,
    SetAsideLine,
    Welcome,
)

MOST_NUMBER = (1 << 63) - 1

NO_QUOTA = LineQuota()

_LINES_AT_ONCE = 500
"""Lines per read of lines(): bounds memory, and no transaction stays open in between."""


class ReplicaReader(DatabaseTable):
    """Boards and their lines; a Markdown folder is stored like a board, its passages as records."""

    @reads
    def sources(self, rows: Rows) -> list[Device]:
        return _devices(rows)

    @reads
    def count_devices(self, rows: Rows) -> int:
        sql = f"SELECT count(*) FROM devices WHERE substr(name, 1, {len(FOLDER)}) <> ?"
        return rows.run(sql, (FOLDER,))[0][0]

    def devices(self) -> list[Device]:
        return [device for device in self.sources() if not device.name.startswith(FOLDER)]

    @reads
    def heard_times(self, rows: Rows) -> dict[str, int]:
        found = rows.run("SELECT name, heard FROM devices ORDER BY name")
        return {name: heard for name, heard in found if not name.startswith(FOLDER)}

    @reads
    def devices_after(self, rows: Rows, name: str, limit: int) -> list[Device]:
        return _with_copies(rows, rows.devices_after(name, limit))

    @reads
    def device(self, rows: Rows, name: str) -> Device:
        found = _devices(rows, name) if name else []
        if not found:
            raise UnknownDevice(name)
        return found[0]

    @reads_once
    def changes(self, rows: Rows, device: str, after: int, limit: int = 2000) -> list[Change]:
        """Return up to `limit` changes since a version; a damaged line comes as a removed one."""
        # Lines that were promised, then dropped and never archived stay hidden.
        line = "CASE WHEN lines.beyond AND lines.archive < 0 THEN NULL ELSE lines.line END"
        columns = f"lines.version, lines.log, lines.epoch, lines.seq, lines.crc, {line}"
        sql = f"SELECT {columns} FROM lines {PRESENT.format('lines')} ORDER BY lines.version LIMIT ?"
        return [_change(rows, device, *row) for row in rows.run(sql, (device, after, limit))]

    def lines(self, span: SeqRange, archived: bool = False) -> Iterator[tuple[int, bytes]]:
        """Yield undamaged lines of a span, with `archived` also those that the board no longer has."""
        after = span.after
        while after < span.to:
            part, after = self._lines(span, after, archived)
            yield from part

    @reads
    def _lines(self, rows: Rows, span: SeqRange, after: int, archived: bool) -> tuple[list[tuple[int, bytes]], int]:
        copy = LogRow(span.device, span.log, span.epoch)
        found = rows.checks_between(copy, after, span.to, _LINES_AT_ONCE, archived=archived)
        return rows.intact(copy, found), found[-1][0] if len(found) == _LINES_AT_ONCE else span.to

    @reads_once
    def lines_at(
        self, rows: Rows, device: str, log: LogName, epoch: int, seqs: Sequence[int], archived: bool = False
    ) -> dict[int, bytes]:
        copy = LogRow(device, log, epoch)
        found: dict[int, bytes] = {}
        for start in range(0, len(seqs), _LINES_AT_ONCE):
            found.update(rows.lines_at(copy, seqs[start : start + _LINES_AT_ONCE], archived))
        return found

    @reads
    def archived(self, rows: Rows, device: str, after: int = 0, limit: int = 100) -> list[tuple[int, bytes]]:
        """Return (seq, line) of the latest versions of archived records, by seq."""
        copy = rows.present_copies([device]).get((device, "records"))
        return rows.archived(copy, after, limit) if copy else []

    @reads
    def archived_seqs(self, rows: Rows, device: str) -> list[int]:
        copy = rows.present_copies([device]).get((device, "records"))
        # The second condition is that of the index.
        sql = f"SELECT seq FROM lines WHERE {OF_COPY} AND archive > 0 AND archive <> 0 AND line IS NOT NULL"
        return [seq for (seq,) in rows.run(sql, copy.key)] if copy else []

    @reads
    def count_archived(self, rows: Rows) -> int:
        # Former epochs add nothing: their archived records are void, or in the present copy as well.
        condition = "is_present AND archive > 0 AND archive <> 0 AND line IS NOT NULL"
        found = f"SELECT DISTINCT device, archive FROM lines JOIN logs USING (device, log, epoch) WHERE {condition}"
        return rows.run(f"SELECT count(*) FROM ({found}) AS found")[0][0]

    @reads
    def damaged(self, rows: Rows) -> list[DamagedLines]:
        """Return known damaged lines by board and log; only reads find new ones."""
        return count_damaged(rows)

    @writes
    def set_lost_aside(self, rows: Rows, now: int) -> int:
        return set_lost_aside(rows, now)

    @reads
    def events(self, rows: Rows, device: str, limit: int = 100) -> list[tuple[int, str]]:
        """Return [(Unix seconds, sentence), ...], newest first."""
        return rows.events(device, limit)

    @reads
    def set_aside_lines(
        self, rows: Rows, device: str, limit: int = 100, before: int = MOST_NUMBER
    ) -> list[SetAsideLine]:
        sql = "SELECT log, epoch, seq, at, why, line, number FROM aside WHERE device = ? AND number < ?"
        found = rows.run(f"{sql} ORDER BY number DESC LIMIT ?", (device, before, limit))
        return [
            SetAsideLine(log, epoch, seq, at, why, line_bytes(line), number)
            for log, epoch, seq, at, why, line, number in found
        ]


def _change(
    rows: Rows, device: str, version: int, log: LogName, epoch: int, seq: int, crc: str, line: bytes | None
) -> Change:
    data = None if line is None else line_bytes(line)
    is_whole = data is not None and rows.is_intact((device, log, epoch), seq, crc, data)
    return Change(version, log, seq, data if is_whole else None)


def _devices(rows: Rows, name: str = "") -> list[Device]:
    return _with_copies(rows, rows.devices(name))


def _with_copies(rows: Rows, devices: Sequence[DeviceRow]) -> list[Device]:
    copies = rows.present_copies(row.name for row in devices)
    return [_device(row, [copies[row.name, log] for log in LOGS if (row.name, log) in copies]) for row in devices]


def _device(row: DeviceRow, copies: Sequence[LogRow]) -> Device:
    logs: dict[LogName, LogState] = {
        copy.log: LogState(copy.epoch, copy.oldest, copy.next, copy.rewrites) for copy in copies
    }
    have: dict[LogName, int] = {copy.log: copy.have for copy in copies}
    return Device(row.name, row.board, row.heard, row.zone, row.version, logs, have, row.generation)


SILENCE_SECONDS = 150
"""Seconds of silence before another board may use the name."""


class ReplicaWriter(NoteFileTable, BoardStatusTable, SenseTables):
    """Applies messages of boards by replication_rules; Refused or Stale rejects one."""

    def greet(self, hello: Hello, now: int) -> Welcome:
        """Open a connection; a new epoch starts a new copy, and lines beyond the board's are set aside."""
        if any(state.oldest > state.next for state in hello.logs.values()):
            raise Refused("the hello names a log whose oldest line comes after its newest one.")
        if not hello.sender.board.isprintable():
            # PostgreSQL takes no zero byte in a text; ids of real boards are printable.
            raise Refused("the board's id has signs that cannot be shown: the board's firmware is at fault.")
        outcome = self._greet(hello, now)
        # Raised after the transaction, so that its event of the refusal stays.
        if not isinstance(outcome, Welcome):
            raise outcome
        return outcome

    @writes
    def _greet(self, rows: Rows, hello: Hello, now: int) -> Welcome | Refused | Stale:
        device = rows.lock_or_make(hello.device)
        copies = rows.copies_of_board(hello.device)
        resets = _count_resets(copies, hello)
        use = DayUse(rows, [device.name] if resets else [], now)
        problem = _unwelcome(device, hello.sender, now) or use.epoch_refusal(device.name, resets)
        if isinstance(problem, Refused):
            rows.add_event(device.name, now, str(problem))
        if problem:
            return problem
        events = _who_came(device, hello.sender)
        # Any line of another board may differ, whatever rewrites the former one agreed on.
        is_other = bool(device.board) and bool(events)
        device.board, device.link, device.n = hello.sender.board, hello.sender.link, hello.sender.n
        device.heard, device.standard, device.rule = now, hello.zone, hello.rule
        held, present = sync_copies(rows, device, hello, copies, events, is_other, now)
        rows.save_devices([device])
        if resets:
            use.add(device.name, epochs=resets)
            use.save()
        for sentence in events:
            rows.add_event(device.name, now, sentence)
        records = present.get("records")
        if records is None:
            return Welcome(held, tuple(events))
        states = note_state(rows, device.name, records.epoch), sense_state(rows, device.name, records.epoch)
        return Welcome(held, tuple(events), rows.count_archived(records), retention.is_doubted(rows, records), *states)

    @writes
    def store_batches(
        self, rows: Rows, batches: Sequence[LineBatch], now: int, quota: LineQuota = NO_QUOTA
    ) -> list[int | Refused | Stale]:
        """Store batches in order in one transaction; return each one's `have`, or its refusal."""
        return BatchWriter(rows, {batch.span.device for batch in batches}, quota, now).write_batches(batches)

    @writes
    def is_same(self, rows: Rows, sender: Sender, span: SeqRange, count: int, crc: str) -> bool:
        """True if a span has `count` lines of digest `crc` (engram.link.messages); Refused, Stale."""
        copy = admitted(rows, sender, span.device, span.log, span.epoch)
        crcs = rows.crcs_between(copy, span.after, span.to)
        return len(crcs) == count and (not count or _digest(crcs) == crc)

    @writes
    def mark_agreed(self, rows: Rows, sender: Sender, device: str, log: LogName, epoch: int, rewrites: int) -> None:
        """Note that both sides agree after `rewrites`, and apply pending deletions; Refused, Stale."""
        copy = admitted(rows, sender, device, log, epoch)
        if rewrites != copy.agreed:
            row = rows.lock([device])[device]
            forget_beyond_board(rows, row, copy, row.heard)
            rows.save_devices([row])
        if rewrites > copy.rewrites and rows.drop_aside(copy, MISSING):
            # A compaction during the connection: its lines were forgotten, not lost.
            rows.let_go = True
        copy.rewrites = copy.agreed = rewrites
        rows.save_logs([copy])

    @writes
    def promise_lines(
        self, rows: Rows, sender: Sender, device: str, log: LogName, epoch: int, seqs: Sequence[int], crc: str
    ) -> int:
        """Keep lines for the archive if `crc` matches; return how many, 0 if not. Refused, Stale."""
        copy = admitted(rows, sender, device, log, epoch)
        if not seqs or _digest(each for seq in seqs for each in rows.crcs_between(copy, seq - 1, seq)) != crc:
            return 0
        rows.mark_promised(copy, seqs)
        return len(seqs)

    @writes
    def resolve_archive(self, rows: Rows, sender: Sender, device: str, epoch: int, held: range, now: int) -> int:
        """Restore the archive from the board's list; return its size. Refused, Stale."""
        copy = admitted(rows, sender, device, "records", epoch)
        if copy.agreed == copy.rewrites:
            row = rows.lock([device])[device]
            count = retention.resolve_archive(rows, row, copy, held, now)
            rows.flush()
            rows.save_devices([row])
            if count:
                rows.add_event(device, now, EVENTS.say("archived_again", n=count))
        return rows.count_archived(copy)


def _count_resets(copies: Sequence[LogRow], hello: Hello) -> int:
    epochs = {copy.log: copy.epoch for copy in copies if copy.is_present}
    return sum(epochs.get(log, state.epoch) != state.epoch for log, state in hello.logs.items())


def _unwelcome(device: DeviceRow, sender: Sender, now: int) -> Refused | Stale | None:
    if not device.board:
        return None
    # Another process may have heard it a little after this one read its clock. A time far in the future is from a wrong
    # clock, and must not keep a board away.
    silence = min(abs(now - device.heard), SILENCE_SECONDS)
    if device.board != sender.board:
        if silence < SILENCE_SECONDS:
            sentence = EVENTS.say("two_boards", board=device.name, known=device.board, other=sender.board)
            return Refused(sentence, SILENCE_SECONDS - silence)
        return None
    # After a silence it is not late: the board has an older state of its flash.
    return Stale("the hello came late.") if device.is_ahead_of(sender) and silence < SILENCE_SECONDS else None


def _who_came(device: DeviceRow, sender: Sender) -> list[str]:
    if not device.board:
        return [EVENTS.say("first_time", board=device.name)]
    if device.board != sender.board:
        return [EVENTS.say("another_board", board=device.name, known=device.board, other=sender.board)]
    if device.is_ahead_of(sender):
        return [EVENTS.say("older_flash", known=device.link, link=sender.link)]
    return []


def _digest(crcs: Iterable[str]) -> str:
    check = 0
    for crc in crcs:
        check = crc32(crc.encode(), check)
    return messages.shown(check)
