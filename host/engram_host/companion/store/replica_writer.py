"""What boards say of their logs, taken into the copies of these.

Of two calls that concern one device the later one sees all that the earlier one did.
"""

from binascii import crc32
from collections.abc import Iterable, Sequence

from engram.link import messages
from engram_host.companion.errors import Refused, Stale
from engram_host.companion.store import events_text, retention
from engram_host.companion.store.database import Table, writes
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.replication_rules import MISSING, BatchTaker, forget_beyond_board, meet_all, unfit
from engram_host.companion.store.retention import Line
from engram_host.companion.store.row_types import DeviceRow, LogRow
from engram_host.companion.types import ArchiveRange, Batch, Hello, LogName, Sender, Span, Welcome

SILENCE_SECONDS = 150
"""How long a board has to be silent before another one may take its name."""

MOST_LISTED = 64
"""Archived records that a board is told of at once: more do not fit in an answer."""


class ReplicaWriter(Table):
    """Takes a board's messages, by the rules of replication_rules. Refused or Stale says why one is not taken."""

    def greet(self, hello: Hello, now: int) -> Welcome:
        """Begin a connection of a board. Refused, Stale.

        A new epoch of a log begins a new copy; the one before it is kept, out of all searches. Where the board has fewer
        lines than the copy (it went back to an older state), the copy's later lines are set aside, and `told` says so.
        """
        if any(state.oldest > state.next for state in hello.logs.values()):
            raise Refused("the hello tells of a log whose oldest line comes after its newest one.")
        if not hello.sender.board.isprintable():
            # PostgreSQL takes no zero byte in a text; no board of ours has any such sign in its id.
            raise Refused("the board's id has signs that cannot be shown: the board's firmware is at fault.")
        outcome = self._greet(hello, now)
        # Raised only now that the transaction is over: what it noted of a refusal stays.
        if not isinstance(outcome, Welcome):
            raise outcome
        return outcome

    @writes
    def _greet(self, rows: Rows, hello: Hello, now: int) -> Welcome | Refused | Stale:
        device = rows.lock_or_make(hello.device)
        problem = _unwelcome(device, hello.sender, now)
        if isinstance(problem, Refused):
            rows.tell(device.name, now, str(problem))
        if problem:
            return problem
        told = _who_came(device, hello.sender)
        # What such a one has may differ in any line: rewrites that were agreed on with another say nothing of it.
        is_other = bool(device.board) and bool(told)
        device.board, device.link, device.n = hello.sender.board, hello.sender.link, hello.sender.n
        device.heard, device.zone = now, hello.zone
        held = meet_all(rows, device, hello, told, is_other, now)
        rows.save_devices([device])
        for sentence in told:
            rows.tell(device.name, now, sentence)
        present = rows.present([device.name]).get((device.name, "records"))
        if present is None:
            return Welcome(held, tuple(told))
        return Welcome(held, tuple(told), rows.count_archived(present), retention.is_doubted(rows, present))

    @writes
    def take(self, rows: Rows, batches: Sequence[Batch], now: int) -> list[int | Refused | Stale]:
        """Take lines in one transaction, in order; for each batch the seq up to which the log is whole now, or why not.

        A batch that begins beyond that seq is not taken: the answer tells where to go on. One that begins before it says
        what that part of the log is now: lines that are missing in it go, lines that differ take the place of the old
        ones. An old line is set aside if it differs from the new one, unless that one is what compaction left of it: then
        it was forgotten. A line that is missing was forgotten too if the board has compacted the log since both sides agreed;
        if not, its flash has lost it, and it is set aside. Lines below the board's `oldest` stay as they are.
        """
        return BatchTaker(rows, {batch.span.device for batch in batches}, now).take(batches)

    @writes
    def is_same(self, rows: Rows, sender: Sender, span: Span, count: int, crc: str) -> bool:
        """Whether the copy of a span has so many lines with that digest (see engram.link.messages). Refused, Stale."""
        copy = _admitted(rows, sender, span.device, span.log, span.epoch)
        crcs = rows.crcs(copy, span.after, span.to)
        return len(crcs) == count and (not count or _digest(crcs) == crc)

    @writes
    def agree(self, rows: Rows, sender: Sender, device: str, log: LogName, epoch: int, rewrites: int) -> None:
        """Note that the copy of a log is like the board's after so many rewrites. Refused, Stale.

        What was forgotten after it had left the board goes now, as far as the copy tells of it.
        """
        copy = _admitted(rows, sender, device, log, epoch)
        if rewrites != copy.agreed:
            row = rows.lock([device])[device]
            forget_beyond_board(rows, row, copy, row.heard)
            rows.save_devices([row])
        if rewrites > copy.rewrites and rows.drop_aside(copy, MISSING):
            # It was a compaction after all, during the connection: what it took out was forgotten, not lost.
            rows.let_go = True
        copy.rewrites = copy.agreed = rewrites
        rows.save_logs([copy])

    @writes
    def promise(
        self, rows: Rows, sender: Sender, device: str, log: LogName, epoch: int, seqs: Sequence[int], crc: str
    ) -> int:
        """Promise to keep lines once an `archive` line names them, whatever the board's log has then. Refused, Stale.

        `crc` is the digest over the lines with these seqs, in this order: how many were promised, 0 if it does not fit.
        """
        copy = _admitted(rows, sender, device, log, epoch)
        if not seqs or _digest(each for seq in seqs for each in rows.crcs(copy, seq - 1, seq)) != crc:
            return 0
        rows.promise(copy, seqs)
        return len(seqs)

    @writes
    def resolve(
        self, rows: Rows, sender: Sender, device: str, epoch: int, held: Sequence[ArchiveRange], now: int
    ) -> int:
        """Take what a board knows that its archive has, where the database is older than the board was told of, or the board's
        log is a backup that was put back: how many memories are archived now. Refused, Stale.
        """
        copy = _admitted(rows, sender, device, "records", epoch)
        if copy.agreed == copy.rewrites:
            row = rows.lock([device])[device]
            count = retention.resolve(rows, row, copy, held, now)
            rows.finish()
            rows.save_devices([row])
            if count:
                rows.tell(device, now, events_text.archived_again(count))
        return rows.count_archived(copy)

    @writes
    def listed(
        self, rows: Rows, sender: Sender, device: str, epoch: int, after: int, limit: int = MOST_LISTED
    ) -> list[Line]:
        """(seq, line) of archived records, for the board itself: as archived(). Refused, Stale."""
        copy = _admitted(rows, sender, device, "records", epoch)
        return rows.archived(copy, after, limit)


def _unwelcome(device: DeviceRow, sender: Sender, now: int) -> Refused | Stale | None:
    """Why a hello is not answered with a welcome."""
    if not device.board:
        return None
    # A moment to come was noted by a clock that was wrong: it does not keep a board away.
    silence = now - device.heard if now >= device.heard else SILENCE_SECONDS
    if device.board != sender.board:
        if silence < SILENCE_SECONDS:
            return Refused(events_text.two_boards(device.name, device.board, sender.board), SILENCE_SECONDS - silence)
        return None
    # After a silence it is no late message but a board whose flash is an older one.
    return Stale("the hello came late.") if device.is_ahead_of(sender) and silence < SILENCE_SECONDS else None


def _who_came(device: DeviceRow, sender: Sender) -> list[str]:
    if not device.board:
        return [events_text.first_time(device.name)]
    if device.board != sender.board:
        return [events_text.another_board(device.name, device.board, sender.board)]
    if device.is_ahead_of(sender):
        return [events_text.older_flash(device.link, sender.link)]
    return []


def _admitted(rows: Rows, sender: Sender, name: str, log: LogName, epoch: int) -> LogRow:
    """The copy that a message other than hello is about; Refused, Stale."""
    device = rows.lock([name]).get(name)
    problem = unfit(device, sender)
    if problem or device is None:
        raise problem or Refused(events_text.HELLO_FIRST, again=0)
    copy = rows.present([name]).get((name, log))
    if copy is None or copy.epoch != epoch:
        raise Refused(events_text.HELLO_FIRST, again=0)
    device.n = sender.n
    rows.save_devices([device])
    return copy


def _digest(crcs: Iterable[str]) -> str:
    """The digest over lines with these checks."""
    check = 0
    for crc in crcs:
        check = crc32(crc.encode(), check)
    return messages.shown(check)
