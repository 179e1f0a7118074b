"""Retention of lines that a board dropped: archived ones stay, forgotten ones leave the store.

A board first asks for a promise, then it writes an `archive` line, which archives the promised line. A promise without one is
void once the copy has caught up with the hello: the board has forgotten or trashed the line.

If the database is older than the confirmations to the board, `archive` lines may be missing. Then all dropped lines are in
doubt, and hidden from searches, until the board has listed its archive; a former epoch may have the rest of it.

A compaction removes forgotten texts and the lines that forgot them. A text that had left the board before is only here, so it
has to be deleted when the line that forgot it goes.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from engram import log_line
from engram_host.companion.store.rows import (
    OF_COPY,
    DeviceRow,
    LogRow,
    NewLine,
    Rows,
    chunks,
    fields_of,
    in_list,
    line_bytes,
)

PROMISED = -1
DOUBTED = -2

Line = tuple[int, bytes]


def apply_archive_lines(
    rows: Rows, device: DeviceRow, copy: LogRow, come: Iterable[Line], archived: set[int], now: int
) -> None:
    for seq, line in come:
        if b'"op":"archive"' in line:
            archived.add(_archive(rows, device, copy, seq, fields_of(line)))
        elif b'"op":"forget"' in line:
            _forget(rows, device, copy, fields_of(line), now)
        elif b'"op":"leave"' in line and b'"back":' in line:
            _unarchive_record(rows, device, copy, _number(fields_of(line)), 0, now)
        elif archived and b'"op":' not in line:
            # A version newer than the archived one is live: a compaction may have taken the line that restored it.
            number = _number(fields_of(line))
            if number in archived and all(marked < seq for marked, _, _, _ in _marked(rows, copy, number)):
                _unarchive_record(rows, device, copy, number, seq, now)


def split_retained(rows: Rows, copy: LogRow, lines: Sequence[Line], promises: bool) -> tuple[list[Line], list[Line]]:
    marks = {seq: mark for seq, mark, _, _ in _marked(rows, copy)} if lines and copy.log == "records" else {}
    staying = (DOUBTED, PROMISED) if promises else (DOUBTED,)
    stay = [pair for pair in lines if marks.get(pair[0], 0) > 0 or marks.get(pair[0]) in staying]
    stays = {seq for seq, _ in stay}
    return stay, [pair for pair in lines if pair[0] not in stays]


def put_beyond(rows: Rows, device: DeviceRow, copy: LogRow, lines: Sequence[Line]) -> None:
    if not lines:
        return  # without a flush: lines of many boards are written together
    rows.flush()
    rows.run_many(
        f"UPDATE lines SET beyond = (1 = 1), version = ? WHERE {OF_COPY} AND seq = ?",
        [(device.next_version(), *copy.key, seq) for seq, _ in lines],
    )


def drop_unarchived_promises(rows: Rows, device: DeviceRow, copy: LogRow, now: int) -> None:
    """Remove promised lines that the board dropped without archiving; both sides must be in step."""
    if copy.log != "records" or copy.have + 1 < copy.next or copy.agreed != copy.rewrites:
        return
    void = [(seq, line) for seq, _, is_beyond, line in _marked(rows, copy, PROMISED) if is_beyond]
    _purge(rows, device, copy, void, now)


# --- after a restored backup, or a reset of the log


def mark_doubted(rows: Rows, copy: LogRow) -> None:
    """Treat no line as forgotten until the board has listed its archive."""
    rows.flush()
    where = f"{OF_COPY} AND archive IN (0, ?) AND line IS NOT NULL"
    rows.run(f"UPDATE lines SET archive = ? WHERE {where}", (DOUBTED, *copy.key, PROMISED))


def is_doubted(rows: Rows, copy: LogRow) -> bool:
    """True if the board must list its archive."""
    rows.flush()
    sql = f"SELECT 1 FROM lines WHERE {OF_COPY} AND archive = ? AND archive <> 0 AND line IS NOT NULL LIMIT 1"
    return bool(rows.run(sql, (*copy.key, DOUBTED)))


def resolve_archive(rows: Rows, device: DeviceRow, copy: LogRow, held: range, now: int) -> int:
    """Apply the board's list of its archive; return the restored memories. Requires a compared log."""
    count = _end_doubt(rows, device, copy, held, now) if is_doubted(rows, copy) else 0
    return count + _inherit_archive(rows, device, copy, held, now)


def _end_doubt(rows: Rows, device: DeviceRow, copy: LogRow, held: range, now: int) -> int:
    marked = _marked(rows, copy)
    latest = _latest(rows.lines_between(copy, 0, copy.next, archived=True))
    free = _free_seqs(copy, _present_seqs(rows, copy))
    count = 0
    gone: list[Line] = []
    # The newest line has the fewest free seqs for its `archive` line, so it goes first.
    for seq, mark, is_beyond, line in reversed(marked):
        fields = fields_of(line)
        if not fields:
            continue  # damaged; only a backup has its text
        number = _number(fields)
        is_archived = "content" in fields and number in held
        if mark > 0 and is_beyond and not is_archived and "content" in fields:
            # It was forgotten or restored after the backup.
            gone.extend((one[0], one[3]) for one in marked if one[1] == mark and one[2])
        elif mark == DOUBTED and is_beyond and is_archived and latest.get(number) == seq:
            _archive_record(rows, device, copy, (seq, number), free, now)
            count += 1
        elif mark == DOUBTED and is_beyond:
            gone.append((seq, line))
    rows.flush()
    where = f"{OF_COPY} AND archive = ? AND line IS NOT NULL AND NOT beyond"
    rows.run(f"UPDATE lines SET archive = 0 WHERE {where}", (*copy.key, DOUBTED))
    _purge(rows, device, copy, gone, now)
    return count


def _inherit_archive(rows: Rows, device: DeviceRow, copy: LogRow, held: range, now: int) -> int:
    """Take over the archive of a former epoch that this log continues after a restored backup."""
    count = 0
    for former in rows.copies(copy.device, copy.log):
        if former.epoch == copy.epoch or not _shares_lines(rows, copy, former):
            continue
        known = {_number(fields_of(line)) for _, line in rows.lines_between(copy, 0, copy.next, archived=True)}
        taken = _present_seqs(rows, copy)
        archived = archived_lines(rows, former, 0, 1 << 30)
        free = _free_seqs(copy, taken | {seq for seq, _ in archived})
        for seq, line in reversed(archived):
            fields = fields_of(line)
            number = _number(fields)
            is_free = seq not in taken and seq < copy.next and number not in known
            if is_free and number in held:
                rows.put_lines(copy, [NewLine(seq, device.next_version(), line)], now)
                put_beyond(rows, device, copy, [(seq, line)])
                _archive_record(rows, device, copy, (seq, number), free, now)
                known.add(number)
                count += 1
    return count


def _free_seqs(copy: LogRow, taken: set[int]) -> list[int]:
    return [seq for seq in range(1, copy.next) if seq not in taken]


def _archive_record(
    rows: Rows, device: DeviceRow, copy: LogRow, record: tuple[int, int], free: list[int], now: int
) -> None:
    seq, number = record
    _set_archive(rows, copy, seq, number, device.next_version())
    if free and free[-1] > seq:
        place = free.pop()
        fields = [("seq", place), ("op", "archive"), ("id", f"m{number}"), ("at", now), ("was", seq)]
        line = log_line.encode(fields)
        rows.put_lines(copy, [NewLine(place, device.next_version(), line)], now)
        put_beyond(rows, device, copy, [(place, line)])
        _set_archive(rows, copy, place, number, device.next_version())


def _latest(lines: Iterable[Line]) -> dict[int, int]:
    latest: dict[int, int] = {}
    scopes: dict[int, str] = {}
    gone: set[int] = set()
    for seq, line in lines:
        fields = fields_of(line)
        number = _number(fields)
        older = {_number({"id": ref}) for ref in (fields.get("with") or [fields.get("supersedes")])}
        if "content" in fields:
            latest[number], scopes[number] = seq, fields.get("scope", "all")
            gone = (gone | older) - {number}
            gone |= {number} if fields.get("past") else set()
        elif fields.get("op") == "archive":
            gone |= older
        elif number and scopes.get(number) in fields.get("scopes", (scopes.get(number),)):
            gone = (gone | older | {number}) - {_number({"id": fields.get("restores")})}
    return {number: seq for number, seq in latest.items() if number not in gone}


# --- following the board


def _archive(rows: Rows, device: DeviceRow, copy: LogRow, seq: int, fields: dict[str, Any]) -> int:
    number, was = _number(fields), fields.get("was")
    if number and isinstance(was, int):
        _set_archive(rows, copy, was, number, device.next_version())
        _set_archive(rows, copy, seq, number, device.next_version())
    return number


def _forget(rows: Rows, device: DeviceRow, copy: LogRow, fields: dict[str, Any], now: int) -> None:
    number = _number(fields)
    found = [fields_of(line) for _, _, _, line in _marked(rows, copy, number)] if number else []
    scopes = fields.get("scopes")
    if isinstance(scopes, list) and not any(one.get("scope", "all") in scopes for one in found if "content" in one):
        return
    _unarchive_record(rows, device, copy, number, 0, now, is_forgotten=True)


def _unarchive_record(
    rows: Rows, device: DeviceRow, copy: LogRow, number: int, newest: int, now: int, is_forgotten: bool = False
) -> None:
    found = [one for one in _marked(rows, copy, number) if one[0] != newest] if number else []
    for seq, _, is_beyond, _ in found:
        if not is_beyond:
            _set_archive(rows, copy, seq, 0, device.next_version())
    gone = [(seq, line) for seq, _, is_beyond, line in found if is_beyond]
    _purge(rows, device, copy, gone, now, is_forgotten)


def _purge(
    rows: Rows, device: DeviceRow, copy: LogRow, lines: Sequence[Line], now: int, is_forgotten: bool = True
) -> None:
    if not lines:
        return
    rows.remove_lines(device, copy, [seq for seq, _ in lines], now)
    if is_forgotten:
        rows.forget_equals(copy, lines)
    rows.let_go = True


def _number(fields: dict[str, Any]) -> int:
    ref = fields.get("id")
    return int(ref[1:]) if isinstance(ref, str) and ref[:1] == "m" and ref[1:].isdecimal() else 0


# --- forgetting


_AT_ONCE = 1000


def is_redaction(line: bytes, old: bytes) -> bool:
    """True if compaction left `line` of `old`: its text is gone, or it adds nothing."""
    new, was = fields_of(line), fields_of(old)
    if new.get("gone") is True:
        return True
    return bool(new) and all(key in was and was[key] == value for key, value in new.items())


def redacted(rows: Rows, copy: LogRow, taken_out: Iterable[Line]) -> list[Line]:
    """Return departed turns that removed lines had redacted; `taken_out` must ascend."""
    turns: dict[int, int] = {}
    for seq, line in taken_out:
        if b'"op":"' in line:
            _note_redaction(turns, seq, fields_of(line), copy.oldest)
    if not turns:
        return []
    for _, line in _containing(rows, copy, min(turns.values()), copy.have, b'"op":"show"'):
        turns.pop(fields_of(line).get("turn", 0), None)
    return [line for turn in sorted(turns) for line in rows.lines_between(copy, turn - 1, turn)]


def _note_redaction(turns: dict[int, int], seq: int, fields: dict, oldest: int) -> None:
    turn = fields.get("turn", 0)
    if fields.get("op") == "redact" and turn < oldest:
        turns[turn] = seq
    elif fields.get("op") == "show":
        turns.pop(turn, None)


def forgotten_beyond_board(rows: Rows, copy: LogRow) -> list[Line]:
    """Return forgotten lines older than the board's oldest; turns only if the copy says so."""
    if copy.log == "records":
        return rows.lines_between(copy, 0, copy.oldest - 1)
    operations = list(_containing(rows, copy, 0, copy.oldest - 1, b'"op":"'))
    lines = {**dict(redacted(rows, copy, operations)), **dict(_of_deleted_sessions(rows, copy))}
    return sorted(lines.items())


def _of_deleted_sessions(rows: Rows, copy: LogRow) -> Iterator[Line]:
    lines = _containing(rows, copy, 0, copy.have, b'"op":"drop"')
    said = [fields_of(line) for _, line in lines]
    sessions = {fields.get("sid") for fields in said if fields.get("op") == "drop"}
    if sessions:
        for seq, line in _containing(rows, copy, 0, copy.oldest - 1, b'"role":"'):
            if fields_of(line).get("sid") in sessions:
                yield seq, line


def _containing(rows: Rows, copy: LogRow, after: int, to: int, part: bytes) -> Iterator[Line]:
    while found := rows.lines_between(copy, after, to, _AT_ONCE, part):
        yield from found
        after = found[-1][0]


# --- marks of the archive in the table of lines


def mark_promised(rows: Rows, copy: LogRow, seqs: Iterable[int]) -> None:
    rows.flush()
    rows.run_many(
        f"UPDATE lines SET archive = -1 WHERE {OF_COPY} AND seq = ? AND line IS NOT NULL AND archive IN (0, -2)",
        [(*copy.key, seq) for seq in seqs],
    )


def _set_archive(rows: Rows, copy: LogRow, seq: int, number: int, version: int) -> None:
    rows.flush()
    sql = f"UPDATE lines SET archive = ?, version = ? WHERE {OF_COPY} AND seq = ? AND line IS NOT NULL"
    rows.run(sql, (number, version, *copy.key, seq))


def _present_seqs(rows: Rows, copy: LogRow) -> set[int]:
    rows.flush()
    return {seq for (seq,) in rows.run(f"SELECT seq FROM lines WHERE {OF_COPY} AND line IS NOT NULL", copy.key)}


def _shares_lines(rows: Rows, copy: LogRow, other: LogRow) -> bool:
    """True if both copies have a record in the same line, so that one continues the other."""
    rows.flush()
    sql = (
        f"SELECT 1 FROM lines WHERE {OF_COPY} AND {rows.contains} AND EXISTS (SELECT 1 FROM lines AS others WHERE "
        "others.device = lines.device AND others.log = lines.log AND others.epoch = ? AND others.seq = lines.seq AND "
        "others.line = lines.line) LIMIT 1"
    )
    return bool(rows.run(sql, (*copy.key, b'"content":', other.epoch)))


def _marked(rows: Rows, copy: LogRow, number: int | None = None) -> list[tuple[int, int, bool, bytes]]:
    """Return (seq, archive, beyond, line) of a record's lines (-1: promised), or of all marked ones."""
    rows.flush()
    which, values = ("archive = ?", (number,)) if number is not None else ("archive <> 0", ())
    sql = f"SELECT seq, archive, beyond, line FROM lines WHERE {OF_COPY} AND {which} AND archive <> 0"
    found = rows.run(f"{sql} AND line IS NOT NULL ORDER BY seq", (*copy.key, *values))
    return [(seq, archive, bool(beyond), line_bytes(line)) for seq, archive, beyond, line in found]


def archived_lines(rows: Rows, copy: LogRow, after: int, limit: int) -> list[Line]:
    rows.flush()
    sql = f"SELECT seq, crc, line FROM lines WHERE {_of_archive(rows)} AND seq > ? ORDER BY seq LIMIT ?"
    found: list[Line] = []
    wanted = limit
    while wanted:
        part = rows.run(sql, (*copy.key, _OP, after, wanted))
        found += rows.intact(copy, ((seq, crc, line_bytes(line)) for seq, crc, line in part))
        is_end = len(part) < wanted
        after, wanted = (0, 0) if is_end else (part[-1][0], limit - len(found))
    return found


def count_archived(rows: Rows, copy: LogRow) -> int:
    rows.flush()
    sql = f"SELECT count(DISTINCT archive) FROM lines WHERE {_of_archive(rows)}"
    return rows.run(sql, (*copy.key, _OP))[0][0]


_OP = b'"op":"archive"'


def _of_archive(rows: Rows) -> str:
    return f"{OF_COPY} AND archive > 0 AND archive <> 0 AND line IS NOT NULL AND NOT {rows.contains}"


def archived_numbers(rows: Rows, copies: Iterable[LogRow]) -> dict[str, set[int]]:
    rows.flush()
    epochs = {copy.device: copy.epoch for copy in copies}
    found: dict[str, set[int]] = {}
    for part in chunks(sorted(epochs)):
        some, values = in_list(part)
        # The last condition is that of the index.
        where = f"device {some} AND log = 'records' AND archive > 0 AND archive <> 0"
        sql = f"SELECT DISTINCT device, epoch, archive FROM lines WHERE {where}"
        for device, epoch, number in rows.run(sql, values):
            if epochs[device] == epoch:
                found.setdefault(device, set()).add(number)
    return found
