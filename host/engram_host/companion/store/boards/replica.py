"""Messages of boards, applied to the copies of their logs; calls that concern one board see all earlier ones."""

from binascii import crc32
from collections.abc import Iterable, Sequence

from engram.link import messages
from engram_host.companion.errors import Refused, Stale
from engram_host.companion.store.board_notes import note_state
from engram_host.companion.store.boards import retention
from engram_host.companion.store.boards.line_quota import RESET_LINES, DayUse
from engram_host.companion.store.boards.replication_rules import (
    MISSING,
    BatchWriter,
    admitted,
    forget_beyond_board,
    sync_copies,
)
from engram_host.companion.store.database import DatabaseTable, writes
from engram_host.companion.store.rows import EVENTS, DeviceRow, LogRow, Rows
from engram_host.companion.store.senses.table import sense_state
from engram_host.companion.types import Hello, LineBatch, LineQuota, LogName, Sender, SeqRange, Welcome

NO_QUOTA = LineQuota()

SILENCE_SECONDS = 150
"""Seconds of silence before another board may use the name."""


class ReplicationTable(DatabaseTable):
    """Applies messages of boards by replication_rules; Refused or Stale rejects one."""

    def greet(self, hello: Hello, now: int, quota: LineQuota = NO_QUOTA) -> Welcome:
        """Open a connection; a new epoch starts a new copy, and lines beyond the board's are set aside."""
        if any(state.oldest > state.next for state in hello.logs.values()):
            raise Refused("the hello names a log whose oldest line comes after its newest one.")
        if not hello.sender.board.isprintable():
            # PostgreSQL takes no zero byte in a text; ids of real boards are printable.
            raise Refused("the board's id has signs that cannot be shown: the board's firmware is at fault.")
        outcome = self._greet(hello, now, quota)
        # Raised after the transaction, so that its event of the refusal stays.
        if not isinstance(outcome, Welcome):
            raise outcome
        return outcome

    @writes
    def _greet(self, rows: Rows, hello: Hello, now: int, quota: LineQuota) -> Welcome | Refused | Stale:
        device = rows.lock_or_make(hello.device)
        copies = rows.copies(hello.device)
        resets = _count_resets(copies, hello)
        use = DayUse(rows, [device.name] if resets else [], now)
        problem = _unwelcome(device, hello.sender, now) or use.refusal(device.name, quota)
        if isinstance(problem, Refused):
            rows.add_event(device.name, now, problem.sentence)
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
            use.add(device.name, lines=resets * RESET_LINES)
            use.save()
        for sentence in events:
            rows.add_event(device.name, now, sentence)
        records = present.get("records")
        if records is None:
            return Welcome(held, tuple(events))
        states = note_state(rows, device.name, records.epoch), sense_state(rows, device.name, records.epoch)
        return Welcome(
            held, tuple(events), retention.count_archived(rows, records), retention.is_doubted(rows, records), *states
        )

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
        retention.mark_promised(rows, copy, seqs)
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
        return retention.count_archived(rows, copy)


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
