"""Replication rules of boards' logs; functions that take `rows` run inside one transaction.

A batch replaces its span of the copy; one that begins after `have` is not applied, and the answer has that seq. A replaced
line is set aside unless a compaction redacted it, which forgets it. A missing line was forgotten if the board compacted the
log since both sides agreed; otherwise its flash lost it, and it is set aside. Lines below the board's `oldest` stay.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from engram_host.companion.errors import Refused, Stale
from engram_host.companion.store.boards import retention
from engram_host.companion.store.boards.line_quota import DayUse
from engram_host.companion.store.damage import damaged_seqs, has_damaged
from engram_host.companion.store.rows import EVENTS, OF_COPY, DeviceRow, LogRow, NewLine, Rows
from engram_host.companion.types import HeldLog, Hello, LineBatch, LineQuota, LogName, LogState, Sender

HELLO_FIRST = "say hello first."


# --- reasons why lines are set aside


WENT_BACK = "the board went back to an older state"
REPLACED = "the board has another line in its place"
MISSING = "the board lost it without saying that it was forgotten"

_UNSURE = -1


# --- hello


def sync_copies(
    rows: Rows, device: DeviceRow, hello: Hello, copies: Sequence[LogRow], events: list[str], is_other: bool, now: int
) -> tuple[dict[LogName, HeldLog], dict[LogName, LogRow]]:
    """Update the copies to a hello; return held states and present copies. `is_other`: new board."""
    held: dict[LogName, HeldLog] = {}
    present: dict[LogName, LogRow] = {}
    for log, state in hello.logs.items():
        of_log = {copy.epoch: copy for copy in copies if copy.log == log}
        copy, is_new = _present_copy(rows, device, log, state.epoch, of_log, events, now)
        present[log] = copy
        kept = None if is_new else replace(copy)
        if is_other:
            copy.agreed = _UNSURE
        if log == "records" and 0 < copy.have < hello.relied:
            events.append(EVENTS.say("older_database", have=copy.have, relied=hello.relied))
            retention.mark_doubted(rows, copy)
        held[log] = _sync_copy(rows, device, copy, state, events, now)
        if copy != kept:  # most hellos are keep-alives, and change nothing
            rows.save_logs([copy])
    return held, present


def _sync_copy(rows: Rows, device: DeviceRow, copy: LogRow, state: LogState, events: list[str], now: int) -> HeldLog:
    if lines := _lost_before(rows, copy, state):
        count = _set_lost_aside(rows, device, copy, lines, now)
        events.append(EVENTS.say("lost_before", log=copy.log, oldest=state.oldest, n=count))
    copy.oldest, copy.next, copy.rewrites = state.oldest, state.next, state.rewrites
    if state.next <= copy.have:
        events.append(_roll_back_copy(rows, device, copy, now))
    if copy.have < state.oldest - 1:
        events.append(EVENTS.say("left_before", log=copy.log, first=copy.have + 1, last=state.oldest - 1))
        copy.have = state.oldest - 1
    if copy.have < state.oldest:
        # The board has none of these lines any more, so there is nothing to compare.
        if copy.agreed != state.rewrites:
            forget_beyond_board(rows, device, copy, now)
        copy.agreed = state.rewrites
    retention.drop_unarchived_promises(rows, device, copy, now)
    if not copy.have:
        return HeldLog(0, "", copy.agreed)  # no line yet, as for each new board
    crcs = rows.crcs_between(copy, copy.have - 1, copy.have)
    # A full comparison resends damaged lines; the agreed rewrites stay valid.
    return HeldLog(copy.have, crcs[0] if crcs else "", _UNSURE if has_damaged(rows, copy) else copy.agreed)


def _present_copy(
    rows: Rows, device: DeviceRow, log: LogName, epoch: int, copies: Mapping[int, LogRow], events: list[str], now: int
) -> tuple[LogRow, bool]:
    former = next((copy for copy in copies.values() if copy.is_present), None)
    if former is not None and former.epoch == epoch:
        return former, False
    copy = copies.get(epoch)
    if copy is None:
        copy = LogRow(device.name, log, epoch)
        if former is not None:
            events.append(EVENTS.say("new_epoch", log=log, have=former.have))
    else:
        # Either side may have forgotten lines of it meanwhile.
        copy.is_present, copy.agreed, copy.replaced = True, _UNSURE, 0
        events.append(EVENTS.say("epoch_again", log=log, have=copy.have))
    if former is not None:
        former.is_present, former.replaced = False, now
        device.version += _show_copy(rows, copy, former, device.version, now)
        rows.save_logs([former, copy])
    return copy, former is None


def _show_copy(rows: Rows, copy: LogRow, former: LogRow, version: int, now: int) -> int:
    rows.flush()
    rows.run(
        "INSERT INTO lines (device, log, epoch, seq, version, received, crc, line) "
        "SELECT device, log, ?, seq, 0, ?, '', NULL FROM lines "
        f"WHERE {OF_COPY} ON CONFLICT (device, log, epoch, seq) DO NOTHING",
        (copy.epoch, now, *former.key),
    )
    _renumber(rows, "lines", copy, version)
    changes = rows.run(f"SELECT count(*) FROM lines WHERE {OF_COPY}", copy.key)[0][0]
    _renumber(rows, "vectors", copy, version + changes)
    return changes + rows.run(f"SELECT count(*) FROM vectors WHERE {OF_COPY}", copy.key)[0][0]


def _renumber(rows: Rows, table: str, copy: LogRow, version: int) -> None:
    identity = ", identity" if table == "vectors" else ""
    fits = f" AND {table}.identity = numbered.identity" if table == "vectors" else ""
    rows.run(
        f"UPDATE {table} SET version = numbered.place + ? FROM (SELECT seq{identity}, row_number() OVER "
        f"(ORDER BY seq{identity}) AS place FROM {table} WHERE {OF_COPY}) AS numbered "
        f"WHERE {table}.device = ? AND {table}.log = ? AND {table}.epoch = ? AND {table}.seq = numbered.seq{fits}",
        (version, *copy.key, *copy.key),
    )


def _lost_before(rows: Rows, copy: LogRow, state: LogState) -> list[tuple[int, bytes]]:
    """Return records lost from flash: gone from its beginning without any compaction."""
    if copy.log != "records" or state.oldest <= copy.oldest or copy.agreed != state.rewrites:
        return []
    return rows.lines_between(copy, copy.oldest - 1, state.oldest - 1)


def _roll_back_copy(rows: Rows, device: DeviceRow, copy: LogRow, now: int) -> str:
    later = rows.lines_between(copy, copy.next - 1, copy.have, archived=True)
    rows.set_aside(copy, later, WENT_BACK, now)
    rows.remove_lines(device, copy, [seq for seq, _ in later], now)
    copy.have, copy.agreed = copy.next - 1, _UNSURE
    return EVENTS.say("went_back", log=copy.log, last=copy.have, n=len(later))


# --- lines


def message_refusal(device: DeviceRow | None, sender: Sender) -> Refused | Stale | None:
    """Return the refusal of a message other than hello, None to accept it."""
    if device is None or device.board != sender.board or sender.link > device.link:
        return Refused(HELLO_FIRST, again=0)
    return Stale("the message came late.") if device.is_ahead_of(sender) else None


def admitted(rows: Rows, sender: Sender, name: str, log: LogName, epoch: int) -> LogRow:
    admit_sender(rows, sender, name)
    copy = rows.present_copies([name]).get((name, log))
    if copy is None or copy.epoch != epoch:
        raise Refused(HELLO_FIRST, again=0)
    return copy


def admit_sender(rows: Rows, sender: Sender, name: str) -> None:
    device = rows.lock([name]).get(name)
    problem = message_refusal(device, sender)
    if problem or device is None:
        raise problem or Refused(HELLO_FIRST, again=0)
    device.n = sender.n
    rows.save_devices([device])


class BatchWriter:
    """Writes batches of several boards, with all their rows locked."""

    def __init__(self, rows: Rows, names: set[str], quota: LineQuota, now: int):
        self._rows = rows
        self._quota = quota
        self._now = now
        self._devices = rows.lock(names)
        self._copies = rows.present_copies(self._devices)
        self._archived: dict[str, set[int]] = {}
        self._use = DayUse(rows, self._devices, now)

    def write_batches(self, batches: Sequence[LineBatch]) -> list[int | Refused | Stale]:
        records = {batch.span.device for batch in batches if batch.span.log == "records"}
        copies_of = [self._copies[name, "records"] for name in records if (name, "records") in self._copies]
        self._archived = retention.archived_numbers(self._rows, copies_of)
        devices: dict[str, DeviceRow] = {}
        copies: dict[tuple[str, LogName], LogRow] = {}
        outcomes: list[int | Refused | Stale] = []
        for batch in batches:
            found = self._locate_copy(batch)
            if not isinstance(found, tuple):
                outcomes.append(found)
                continue
            device, copy = found
            devices[device.name] = device
            copies[device.name, copy.log] = copy
            outcomes.append(self._write_batch(device, copy, batch))
        self._rows.save_devices(devices.values())
        self._rows.save_logs(copies.values())
        self._use.save()
        return outcomes

    def _locate_copy(self, batch: LineBatch) -> tuple[DeviceRow, LogRow] | Refused | Stale:
        span = batch.span
        device = self._devices.get(span.device)
        copy = self._copies.get((span.device, span.log))
        if problem := message_refusal(device, batch.sender) or _batch_refusal(batch):
            return problem
        if device is None or copy is None or copy.epoch != span.epoch:
            return Refused(HELLO_FIRST, again=0)
        return device, copy

    def _write_batch(self, device: DeviceRow, copy: LogRow, batch: LineBatch) -> int | Refused:
        span = batch.span
        device.n, device.heard = batch.sender.n, self._now
        if span.after <= copy.have:
            if span.after < copy.have:
                old = dict(self._rows.intact(copy, self._rows.checks_between(copy, span.after, span.to)))
                damaged = damaged_seqs(self._rows, copy, span.after, span.to)
            else:
                old, damaged = {}, set[int]()
            change = _difference(copy, old, batch, damaged)
            if refused := self._use.refusal(device.name, self._quota) if change.come else None:
                self._rows.add_event(device.name, self._now, refused.sentence)
                return refused
            self._use.add(device.name, len(change.come), sum(len(line) for _, line in change.come))
            archived = self._archived.setdefault(device.name, set())
            _replace(self._rows, device, copy, change, archived, self._now)
            copy.have = max(copy.have, span.to)
            copy.next = max(copy.next, span.to + 1)
        return copy.have


def _batch_refusal(batch: LineBatch) -> Refused | None:
    last = batch.span.after
    for seq, _ in batch.lines:
        if seq <= last or seq > batch.span.to:
            return Refused(f"line {seq} does not fit between {last} and {batch.span.to}; the lines of a message rise.")
        last = seq
    return Refused("the message's span ends before it begins.") if batch.span.to < batch.span.after else None


@dataclass
class _Difference:
    come: list[tuple[int, bytes]]
    differ: list[tuple[int, bytes]]
    forgotten: list[tuple[int, bytes]]
    missing: list[tuple[int, bytes]]
    damaged: list[int]


def _difference(copy: LogRow, old: dict[int, bytes], batch: LineBatch, damaged: set[int]) -> _Difference:
    come = [(seq, line) for seq, line in batch.lines if old.get(seq) != line]
    replaced = [(seq, old[seq], retention.is_redaction(line, old[seq])) for seq, line in come if seq in old]
    new = {seq for seq, _ in batch.lines}
    # Lines below the board's oldest left it for lack of room, not by a deletion.
    missing = [(seq, line) for seq, line in old.items() if seq not in new and seq >= copy.oldest]
    return _Difference(
        come,
        differ=[(seq, was) for seq, was, is_rest in replaced if not is_rest],
        forgotten=[(seq, was) for seq, was, is_rest in replaced if is_rest],
        missing=missing,
        damaged=sorted(damaged - new),
    )


def _replace(rows: Rows, device: DeviceRow, copy: LogRow, change: _Difference, archived: set[int], now: int) -> None:
    rows.put_lines(copy, [NewLine(seq, device.next_version(), line) for seq, line in change.come], now)
    if copy.log == "records":
        retention.apply_archive_lines(rows, device, copy, change.come, archived, now)
    _drop_damaged(rows, device, copy, change.damaged, now)
    if not (change.differ or change.forgotten or change.missing):
        return
    rows.let_go = True
    rows.set_aside(copy, change.differ, REPLACED, now)
    rows.drop_vectors_of(copy, [seq for seq, _ in [*change.differ, *change.forgotten]])
    rows.forget_equals(copy, change.forgotten)
    if copy.rewrites == copy.agreed:
        # No compaction since both sides were equal.
        _set_lost_aside(rows, device, copy, change.missing, now)
        return
    retained, missing = retention.split_retained(rows, copy, change.missing, promises=True)
    retention.put_beyond(rows, device, copy, retained)
    elsewhere = retention.redacted(rows, copy, missing) if copy.log == "journal" else []
    forgotten = [*missing, *elsewhere]
    rows.remove_lines(device, copy, [seq for seq, _ in forgotten], now)
    rows.forget_equals(copy, forgotten)


def _drop_damaged(rows: Rows, device: DeviceRow, copy: LogRow, seqs: Sequence[int], now: int) -> None:
    archived, lost = retention.split_retained(rows, copy, [(seq, b"") for seq in seqs], promises=True)
    retention.put_beyond(rows, device, copy, archived)
    rows.remove_lines(device, copy, [seq for seq, _ in lost], now)
    if lost:
        rows.let_go = True
        rows.add_event(device.name, now, EVENTS.say("damaged_and_gone", log=copy.log, first=lost[0][0], n=len(lost)))


def _set_lost_aside(rows: Rows, device: DeviceRow, copy: LogRow, lines: Sequence[tuple[int, bytes]], now: int) -> int:
    archived, lost = retention.split_retained(rows, copy, lines, promises=False)
    retention.put_beyond(rows, device, copy, archived)
    rows.set_aside(copy, lost, MISSING, now)
    rows.remove_lines(device, copy, [seq for seq, _ in lost], now)
    return len(lost)


def forget_beyond_board(rows: Rows, device: DeviceRow, copy: LogRow, now: int) -> None:
    archived, lines = retention.split_retained(rows, copy, retention.forgotten_beyond_board(rows, copy), promises=True)
    retention.put_beyond(rows, device, copy, archived)
    rows.remove_lines(device, copy, [seq for seq, _ in lines], now)
    rows.forget_equals(copy, lines)
    rows.let_go |= bool(lines)
