"""The daily log: the days' notes, how far they were distilled into memories, and when they leave.

A day's facts stand among the records; its file has the notes, a line each. Here is kept which lines were read:

    memory/daily.json    {"at": moment of the last distillation,
                          "read": {"2026-01-31~ann.md": [bytes, crc32 of these bytes], ...},
                          "seq": the seq of the newest line of the log of records that told such marks,
                          "left": [files that are gone since then; the companion does not know it]}

A file of which other bytes stand there than were read, since somebody has edited it, is read again: what is known by then is
recognised. What notes gave is in the log of records with the same marks, in one flush, so a cut in between does not have them
read again.
"""

from binascii import crc32
from collections import namedtuple

from engram import diag, files, log_line, text
from engram.compat import first_of
from engram.errors import StoreError
from engram.memory import principal_files
from engram.memory.texts.notes import is_note, turns_named

_FILE = const("/daily.json")
_BLOCK = const(4096)  # of the flash: a file takes whole ones
_LARGEST = const(65536)  # bytes of that file
_MOST_FILES = const(300)  # files with a mark; beyond that the oldest count as read
_MOST_LEFT = const(128)  # removed files to report; beyond that the oldest count as cleared
_ENTRY_CHARS = const(1000)  # of one note in a prompt

Batch = namedtuple("Batch", "principal entries marks")
"""Notes as (day, text), oldest first, and [file, bytes, crc32] of the read parts."""


class NoteRetention:
    """The daily notes of a board, at most `most_bytes` in all."""

    def __init__(self, notes, versions, most_bytes: int):
        self._folder = notes.folder
        self._notes = notes
        self._versions = versions
        self._clock = notes.clock
        self._most_bytes = most_bytes
        self._counted = None  # the notes' version when they were counted
        self._waiting = {}
        self._tidied = None  # the notes' version when it was looked whether they fit
        self._last = None  # moment of the last distillation, once that was read
        self._is_checked = False  # True once all files were compared with their marks

    # --- what waits

    def waiting(self) -> dict:
        """Return the number of undistilled notes by principal."""
        if self._counted != self._notes.version:
            version = self._notes.version
            read = self._read()["read"]
            counts = {}
            for _, file, principal in self._day_files():
                count = sum(1 for _ in self._unread(file, read.get(file)))
                if count:
                    counts[principal] = counts.get(principal, 0) + count
            self._waiting, self._counted = counts, version
            self._is_checked = True
        return self._waiting

    def batch(self, principal: str, most_chars: int, most_tokens: int):
        """Return a principal's oldest undistilled notes within the limits, at least one, or None."""
        read = self._read()["read"]
        entries, marks = [], []
        for day, file, whose in self._day_files():
            if whose != principal:
                continue
            mark = None
            unread = self._unread(file, read.get(file))
            for end, crc, line in unread:
                entry = text.cut(line, _ENTRY_CHARS)
                most_chars -= len(entry)
                most_tokens -= text.tokens(entry) + 8
                if entries and (most_chars < 0 or most_tokens < 0):
                    unread.close()
                    return Batch(principal, entries, marks + ([mark] if mark else []))
                entries.append((day, entry))
                mark = [file, end, crc]
            if mark:
                marks.append(mark)
        return Batch(principal, entries, marks) if entries else None

    def _day_files(self) -> list:
        """Return (day, file, principal) of recent daily notes, oldest first."""
        return self._all_files()[-_MOST_FILES:]

    def _all_files(self) -> list:
        found = []
        for file in files.names(self._folder):
            name, principal = principal_files.principal_of(file)
            if is_note(name):
                found.append((name[:-3], file, principal))
        found.sort()
        return found

    def _unread(self, file: str, mark):
        """Yield (end, crc32 up to there, text) of each note behind a mark."""
        # Appended lines make a file longer; rewritten parts are compared with the read ones.
        may_be_other = not self._is_checked or file in self._notes.rewritten
        if mark and not may_be_other and files.size(self._folder + "/" + file) == mark[0]:
            return
        start, crc = mark if mark and self._crc(file, mark[0]) == mark[1] else (0, 0)
        with open(self._folder + "/" + file, "rb") as opened:
            for at, line, _ in log_line.lines(opened, start):
                if isinstance(line, int):
                    # No tool writes a line of this length: who did has it in the file still.
                    crc = self._crc(file, at + line)
                    continue
                crc = crc32(line, crc)
                content = text.decode(bytes(line)).strip()
                if content and content[0] != "#" and not turns_named(content):
                    yield at + len(line), crc, content[2:] if content[:2] == "- " else content

    def _crc(self, file: str, length: int) -> int:
        with open(self._folder + "/" + file, "rb") as opened:
            return files.crc_of(opened, length)

    # --- how far it went

    def _read(self) -> dict:
        empty = {"at": 0, "read": {}, "seq": 0}
        state = files.read_json(self._folder + _FILE, _LARGEST, _state) or empty
        seq, marks = self._versions.distilled or (0, ())
        if seq > state["seq"]:
            # The power failed between that line and this file.
            state["seq"] = seq
            for file, size, crc in marks:
                state["read"][file] = [size, crc]
        return state

    def _write(self, state: dict) -> None:
        there = {file for _, file, _ in self._day_files()}
        read = {file: mark for file, mark in state["read"].items() if file in there}
        state["read"] = read
        files.write(self._folder + _FILE, text.dumps(state))

    def note_read(self, batch: Batch) -> None:
        state = self._read()
        for file, size, crc in batch.marks:
            state["read"][file] = [size, crc]
        self._write(state)
        self._counted = None

    def note_over(self) -> None:
        """Note the end of a distillation, from which the next pause counts."""
        state = self._read()
        self._last = state["at"] = self._clock.now()
        self._write(state)

    def since(self) -> int:
        """Return seconds since the last distillation; a clock that is set back restarts the count."""
        if self._last is None:
            self._last = self._read()["at"]
        now = self._clock.now()
        if not 0 < self._last <= now:
            self.note_over()
            return 0
        return now - self._last

    # --- leaving

    @property
    def is_due(self) -> bool:
        return self._tidied != self._notes.version

    def tidying(self):
        """Remove the oldest notes over the limit, read ones first; pause after each."""
        self._tidied = self._notes.version
        today, read = self._clock.day(self._clock.now()), self._read()["read"]
        kept, total = [], 0
        for day, file, _ in self._all_files():
            yield
            size = (files.size(self._folder + "/" + file) + _BLOCK - 1) // _BLOCK * _BLOCK
            total += size
            kept.append((day, file, size))
        for may_be_unread in (False, True):
            for day, file, size in kept:
                if total <= self._most_bytes:
                    return
                yield
                is_there = day != today and files.size(self._folder + "/" + file) >= 0
                if is_there and (may_be_unread or first_of(self._unread(file, read.get(file))) is None):
                    self._remove(file, diag.warning if may_be_unread else diag.info)
                    total -= size

    def _remove(self, file: str, report) -> None:
        if self._notes.uncopied is not None:
            self._write_left((self.left() + [file])[-_MOST_LEFT:])
        self._notes.drop(self._folder + "/" + file)
        report("daily", "the note %s left: all notes together take too much (notes.bytes)" % file)

    def left(self) -> list:
        """Return removed files that the companion does not know of."""
        return self._read().get("left", [])

    def note_told(self, files: list) -> None:
        """Note that the companion knows of these removed files only."""
        left = self.left()
        kept = [file for file in left if file not in files]
        if len(kept) < len(left):
            self._write_left(kept)

    def _write_left(self, left: list) -> None:
        state = self._read()
        state["left"] = left
        try:
            self._write(state)
        except StoreError as error:
            # On a full flash room is more needed than this.
            diag.warning("daily", "it is not kept which notes left: %s" % error)


def _state(found) -> dict:
    state: dict = {"at": int(found["at"]), "seq": int(found["seq"])}
    state["read"] = {file: [int(size), int(crc)] for file, (size, crc) in found["read"].items()}
    state["left"] = [str(file) for file in found.get("left", ())]
    return state
