"""Keeps the companion's copy of the notes like the board's files: MEMORY.md and the days' notes of all principals.

    notes      all files of a span of names, with their digests, or why some are gone    noted: which of them it lacks
    note       a file                                                                    noted

A span says which files there are and no others, so what was cleared while there was no link goes at the companion too. Each
message says all of what it is about, so one that comes twice, or a link that breaks anywhere, does no harm.
"""

from binascii import crc32

from engram import files
from engram.compat import sleep_ms
from engram.link.messages import GONE, LEFT, NOTE_BYTES, NOTES_AT_ONCE, shown
from engram.link.rpc import Body
from engram.memory import principal_files
from engram.memory.texts.notes import MEMORY, is_note


class NoteCopy:
    """A copier of `notes`; files up to `_cursor` were compared, all if it is None."""

    def __init__(self, sync, notes, retention):
        self._sync = sync
        self._notes = notes
        self._retention = retention
        self._cursor = None
        self._state = None  # what the companion has, None before the first greeting
        notes.uncopied = set()

    def greeted(self, state: str) -> None:
        """Handle the companion's state; compare all notes if it is new or lost some."""
        if self._state != state:
            self._cursor, self._state = "", state

    async def step(self) -> bool:
        """Send one message on the notes and handle its answer; True if one was due. NetError, StoreError."""
        if self._state is None:
            return False
        if self._cursor is not None:
            await self._list_next(self._cursor)
        elif self._notes.uncopied:
            await self._tell_one()
        else:
            return False
        return True

    async def _list_next(self, after: str) -> None:
        notes = self._notes
        left = self._retention.left()
        there = files.names(notes.folder)
        names = [file for file in set(there + left) if file > after and _is_copied(file)]
        names.sort()
        is_end = len(names) <= NOTES_AT_ONCE
        names = names[:NOTES_AT_ONCE]
        entries = []
        for file in names:
            entries.append(self._entry(file, left))
            await sleep_ms(0)  # all of them are read: others run in between
        to = "" if is_end else names[-1]
        answer = await self._ask_span(after, to, entries)
        notes.uncopied.update([names[place] for place in answer["lacks"] if place < len(names) and entries[place][1]])
        self._retention.note_told(names)
        self._cursor, self._state = None if is_end else to, answer["state"]

    async def _tell_one(self) -> None:
        notes = self._notes
        file = next(iter(notes.uncopied))
        version = notes.version
        data = self._content(file)
        if data:
            body = Body(len(data), lambda: (data,))
            answer = await self._sync.ask("note", body, epoch=self._sync.epoch, file=file, digest=shown(crc32(data)))
        else:
            # Between a name and itself there is no other file.
            answer = await self._ask_span(file, file, [self._entry(file, self._retention.left())])
            self._retention.note_told([file])
        if notes.version == version:  # else this file may have become another one meanwhile
            notes.uncopied.discard(file)
        self._state = answer["state"]

    async def _ask_span(self, after: str, to: str, entries: list) -> dict:
        return await self._sync.ask("notes", epoch=self._sync.epoch, after=after, to=to, files=entries)

    def _content(self, file: str) -> bytes:
        """Return a note's bytes, b"" without one or if it is too long to be copied."""
        path = self._notes.folder + "/" + file
        return files.read(path, NOTE_BYTES) or b"" if 0 < files.size(path) <= NOTE_BYTES else b""

    def _entry(self, file: str, left: list) -> list:
        data = self._content(file)
        if data:
            return [file, len(data), shown(crc32(data))]
        is_gone = file not in left or files.size(self._notes.folder + "/" + file) >= 0
        return [file, 0, GONE if is_gone else LEFT]


def _is_copied(file: str) -> bool:
    name, _ = principal_files.principal_of(file)
    return name == MEMORY or is_note(name)
