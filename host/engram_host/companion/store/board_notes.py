"""The notes of boards: MEMORY.md and the daily notes of each principal, and their search index.

A board lists its notes and sends missing ones (see engram.link.copies); `note_files` has the copies. For searches, a board's
notes are stored like a Markdown folder, a passage per line in the scope of the principal. Notes that left the board are a
second folder, as the board searches the others itself.

Notes that were cleared on the board are deleted here, and expired ones stay. After a reset, the former notes are kept apart
and are not searched.
"""

from binascii import crc32
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engram import text
from engram.clock import MONTHS, civil, day_number
from engram.link import messages
from engram.memory import access, principal_files
from engram.memory.texts.notes import MEMORY, is_note
from engram_host.companion.errors import Refused
from engram_host.companion.store.boards.line_quota import DayUse
from engram_host.companion.store.boards.replication_rules import admitted
from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.markdown_files import drop_folder_rows, drop_kept_files, put_file, save_folder
from engram_host.companion.store.rows import DeviceRow, LogRow, Rows
from engram_host.companion.types import (
    LEFT_NOTES,
    NOTES,
    LineQuota,
    NewFile,
    NoteEntry,
    NoteSpan,
    Sender,
    StoredPassage,
)
from engram_host.wording import counted

MOST_FILES = 4000

MOST_LINES = 2000
"""Indexed lines per note: a board's own tool writes fewer, a hostile board could send 32,000."""

_LONGEST = 2000

_LONGEST_HEADING = 300

_FAULT = "{}: the board's firmware is at fault."
_HOUR = 3600


@dataclass(frozen=True, order=True)
class NoteName:
    name: str
    principal: str


def note_name(file: str) -> NoteName:
    name, principal = principal_files.principal_of(file)
    if name != MEMORY and not is_note(name):
        raise Refused(_FAULT.format("a message names a file that is no note"), _HOUR)
    return NoteName(name, principal)


def note_state(rows: Rows, device: str, epoch: int) -> str:
    """Return 8 hexadecimal digits that change if any present note of a board is missing or damaged."""
    sql = (
        "SELECT note_files.file, note_files.crc, files.stamp FROM note_files LEFT JOIN files ON files.folder = ? AND "
        "files.path = note_files.file WHERE device = ? AND epoch = ? AND NOT is_left AND replaced = 0"
    )
    found = rows.run(sql, (NOTES + device, device, epoch))
    check = 0
    for file, crc, stamp in sorted(found):
        check = crc32(f"{file} {crc} {stamp == messages.shown(crc)}\n".encode(), check)
    return messages.shown(check)


class NoteFileTable(DatabaseTable):
    @writes
    def compare_notes(self, rows: Rows, sender: Sender, span: NoteSpan, now: int) -> tuple[list[int], str]:
        """Apply a board's list; return (indexes of missing entries, note_state()) or raise Refused, Stale."""
        notes = _BoardNotes(rows, sender, span.device, span.epoch, now)
        lacking = notes.compare(span)
        notes.save()
        return lacking, note_state(rows, span.device, span.epoch)

    @writes
    def put_note(
        self, rows: Rows, sender: Sender, device: str, epoch: int, file: str, content: bytes, now: int, quota: LineQuota
    ) -> str:
        notes = _BoardNotes(rows, sender, device, epoch, now)
        notes.put(file, content, quota)
        notes.save()
        return note_state(rows, device, epoch)

    @reads
    def note_lines(self, rows: Rows, device: str, name: str, principal: str) -> list[str] | None:
        if name != MEMORY and not is_note(name):
            return None
        sql = "SELECT crc, content FROM note_files WHERE device = ? AND file = ? AND replaced = 0"
        for crc, content in rows.run(sql, (device, principal_files.file_name_of(name, principal))):
            if crc32(bytes(content)) == crc:
                return _lines(bytes(content))
        return None

    @reads
    def note_names(self, rows: Rows, device: str) -> list[NoteName]:
        sql = "SELECT file FROM note_files WHERE device = ? AND replaced = 0"
        return sorted(note_name(file) for (file,) in rows.run(sql, (device,)))

    def check_notes(self) -> str:
        """Check all notes, mark damaged ones as missing so that boards resend them, and describe them."""
        damaged = self._damaged()
        if not damaged:
            return ""
        self._mark_missing(damaged)
        notes = counted(len(damaged), "note of a board is", "notes of boards are")
        return f"{notes} damaged in the database: boards send again what they have, a backup may have the rest."

    @reads
    def _damaged(self, rows: Rows) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        # One board at a time: all notes together may not fit into memory.
        for (device,) in rows.run("SELECT DISTINCT device FROM note_files ORDER BY device"):
            texts = rows.run("SELECT file, crc, content FROM note_files WHERE device = ? ORDER BY file", (device,))
            found += [(device, file) for file, crc, content in texts if crc32(bytes(content)) != crc]
        return found

    @writes
    def _mark_missing(self, rows: Rows, notes: Sequence[tuple[str, str]]) -> None:
        rows.run_many(
            "UPDATE files SET stamp = '' WHERE folder = ? AND path = ?",
            [(NOTES + device, file) for device, file in notes],
        )


class _Folder:
    def __init__(self, rows: Rows, name: str, epoch: int, now: int):
        self._rows = rows
        self._now = now
        copy = rows.present_copies([name]).get((name, "records"))
        if copy is not None and copy.epoch != epoch:
            drop_folder_rows(rows, name)
            copy = None
        self._copy = copy or LogRow(name, "records", epoch)
        self._device: DeviceRow | None = None
        self.stamps: dict[str, str] = dict(rows.run("SELECT path, stamp FROM files WHERE folder = ?", (name,)))

    def put(self, file: NewFile) -> int:
        self.stamps[file.path] = file.stamp
        return put_file(self._rows, self._row(), self._copy, file, self._now)

    def drop(self, file: str) -> None:
        if self.stamps.pop(file, None) is not None:
            drop_kept_files(self._rows, self._row(), self._copy, [file], self._now)

    def _row(self) -> DeviceRow:
        self._device = self._device or self._rows.lock_or_make(self._copy.device)
        return self._device

    def save(self) -> None:
        if self._device:
            save_folder(self._rows, self._device, self._copy, self._now)


class _BoardNotes:
    """A board's notes in one transaction with its rows locked; may raise Refused or Stale."""

    def __init__(self, rows: Rows, sender: Sender, device: str, epoch: int, now: int):
        admitted(rows, sender, device, "records", epoch)
        self._rows = rows
        self._device = device
        self._epoch = epoch
        self._now = now
        self._zone = rows.devices(device)[0].zone
        rows.run(f"UPDATE note_files SET replaced = ? WHERE {_PRESENT} AND epoch <> ?", (now, device, epoch))
        rows.run("UPDATE note_files SET replaced = 0 WHERE device = ? AND epoch = ?", (device, epoch))
        found = rows.run(f"SELECT file, crc, is_left FROM note_files WHERE {_PRESENT}", (device,))
        self._known: dict[str, tuple[int, bool]] = {file: (crc, bool(is_left)) for file, crc, is_left in found}
        self._folders = tuple(_Folder(rows, prefix + device, epoch, now) for prefix in (NOTES, LEFT_NOTES))

    def save(self) -> None:
        for folder in self._folders:
            folder.save()

    def compare(self, span: NoteSpan) -> list[int]:
        named = {entry.file for entry in span.entries}
        for file, (_, is_left) in list(self._known.items()):
            is_of_span = span.after < file and (not span.to or file <= span.to)
            if is_of_span and not is_left and file not in named:
                self._remove(file)
        lacking = [place for place, entry in enumerate(span.entries) if not self._take(entry)]
        self._show_left()
        return lacking

    def _take(self, entry: NoteEntry) -> bool:
        note_name(entry.file)
        if entry.crc is not None:
            return self._has(entry.file, entry.crc)
        _, is_left = self._known.get(entry.file, (0, True))
        if not entry.is_left:
            self._remove(entry.file)
        elif not is_left:
            self._move(entry.file, is_left=True)
        return True

    def _has(self, file: str, crc: int) -> bool:
        known, is_left = self._known.get(file, (-1, False))
        if known != crc:
            return False
        if is_left or self._folders[False].stamps.get(file) != messages.shown(crc):
            return self._move(file, is_left=False)
        return True

    def _move(self, file: str, *, is_left: bool) -> bool:
        where = (self._device, self._epoch, file)
        (found,) = self._rows.run(f"SELECT content FROM note_files WHERE {_ONE}", where)
        content, crc = bytes(found[0]), self._known[file][0]
        if crc32(content) != crc:
            return False
        self._rows.run(f"UPDATE note_files SET is_left = ? WHERE {_ONE}", (is_left, *where))
        self._known[file] = (crc, is_left)
        self._folders[not is_left].drop(file)
        self._folders[is_left].put(self._new_file(file, content))
        return True

    def _show_left(self) -> None:
        for file, (_, is_left) in list(self._known.items()):
            if is_left and file not in self._folders[True].stamps:
                self._move(file, is_left=True)

    def put(self, file: str, content: bytes, quota: LineQuota) -> None:
        note_name(file)
        crc = crc32(content)
        if self._has(file, crc):
            return
        if len(content) > messages.NOTE_BYTES:
            raise Refused(_FAULT.format(f"a note has {len(content)} bytes"), _HOUR)
        if file not in self._known and sum(not is_left for _, is_left in self._known.values()) >= MOST_FILES:
            raise Refused(_FAULT.format(f"the board has more than {MOST_FILES} notes"), _HOUR)
        use = DayUse(self._rows, [self._device], self._now)
        if problem := use.refusal(self._device, quota):
            raise problem
        key = {"device": self._device, "epoch": self._epoch, "file": file}
        values = {**key, "crc": crc, "is_left": False, "replaced": 0, "content": content}
        self._rows.upsert("note_files", ", ".join(key), values)
        self._rows.let_go |= file in self._known
        self._known[file] = (crc, False)
        self._folders[True].drop(file)
        new = self._folders[False].put(self._new_file(file, content))
        use.add(self._device, lines=new, size=len(content))
        use.save()
        self._remove_oldest()

    def _remove_oldest(self) -> None:
        left = sorted(file for file, (_, is_left) in self._known.items() if is_left)
        for file in left[: max(0, len(self._known) - MOST_FILES)]:
            self._remove(file)

    def _remove(self, file: str) -> None:
        if self._known.pop(file, None) is not None:
            self._rows.run(f"DELETE FROM note_files WHERE {_ONE}", (self._device, self._epoch, file))
            self._rows.let_go = True
        for folder in self._folders:
            folder.drop(file)

    def _new_file(self, file: str, content: bytes) -> NewFile:
        note = note_name(file)
        stamp = messages.shown(crc32(content))
        at, day = self._now, ""
        if note.name != MEMORY:
            number = day_number(note.name[:-3])
            at = self._zone.start_of(number)
            year, month, of_month = civil(number)
            day = f"{of_month} {MONTHS[month - 1]} {year}"
        return NewFile(file, stamp, stamp, at, _scope_of(note.principal), tuple(_passages(_lines(content), day)))


_PRESENT = "device = ? AND replaced = 0"
_ONE = "device = ? AND epoch = ? AND file = ?"


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").split("\n")


def _passages(lines: Iterable[str], day: str) -> Iterator[StoredPassage]:
    headings: list[tuple[int, str]] = [(0, day)] if day else []
    count = 0
    for number, line in enumerate(lines, 1):
        said = text.cut(text.printable(line).strip(), _LONGEST)
        level = len(said) - len(said.lstrip("#"))
        if level and said[level : level + 1] == " ":
            headings = [one for one in headings if one[0] < level] + [(level, said[level:].strip())]
        elif said and count < MOST_LINES:
            count += 1
            heading = " > ".join(title for _, title in headings)
            yield StoredPassage(said, text.cut(heading, _LONGEST_HEADING), number, number)


def _scope_of(notebook: str) -> str:
    return notebook if notebook.startswith(access.WORKSPACE) else "user:" + notebook
