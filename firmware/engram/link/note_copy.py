"""Keeps the companion's copy of the notes like the board's files: MEMORY.md and the days' notes of all principals.

    notes      all files of a span of names, with their digests, or why some are gone    noted: which of them it lacks
    note       a file                                                                    noted

A span says which files there are and no others, so what was cleared while there was no link goes at the companion too. Each
message says all of what it is about, so one that comes twice, or a link that breaks anywhere, does no harm.
"""

from engram import files
from engram.compat import const, sleep_ms
from engram.errors import NetError
from engram.link.messages import GONE, LEFT, NOTE_BYTES, NOTES_AT_ONCE, shown
from engram.memory import principal_files
from engram.memory.texts.notes import MEMORY, is_note

_PIECE = const(512)  # bytes of a file that are read at once


class NoteProgress:
    """How far the companion's copy of the notes is: those up to the file `cursor` were compared, all of them if it is None;
    `state` is what the companion had when it last answered.
    """

    def __init__(self):
        self.cursor = None
        self.state = None

    def is_due(self, sync, notes) -> bool:
        """True if there is something to tell the companion."""
        state = sync.note_state
        if state is not None and self.state != state:
            # It has not heard of them since the start, or has lost some.
            self.take(sync, "", state)
        return state is not None and (self.cursor is not None or bool(notes.uncopied))

    def take(self, sync, cursor, state: str) -> None:
        """Note how far it is, and what the companion then has."""
        self.cursor = cursor
        self.state = sync.note_state = state


async def copy_next(sync, notes, retention, epoch: int, progress) -> None:
    """Send one message on the notes, and take its answer; NetError, StoreError.

    `epoch` is that of the records: a board that was reset has other notes.
    """
    if progress.cursor is None:
        await _tell_one(sync, notes, retention, epoch, progress)
    else:
        await _list_next(sync, notes, retention, epoch, progress)


async def _list_next(sync, notes, retention, epoch: int, progress) -> None:
    after = progress.cursor
    left = retention.left()
    there = files.names(notes.folder)
    names = [file for file in set(there + left) if file > after and _is_copied(file)]
    names.sort()
    is_end = len(names) <= NOTES_AT_ONCE
    names = names[:NOTES_AT_ONCE]
    entries = []
    for file in names:
        entries.append(_entry(notes, file, left))
        await sleep_ms(0)  # all of them are read: others run in between
    to = "" if is_end else names[-1]
    answer = await sync.ask("notes", epoch=epoch, after=after, to=to, files=entries)
    notes.uncopied.update([names[place] for place in answer["lacks"] if place < len(names) and entries[place][1]])
    retention.note_told(names)
    progress.take(sync, None if is_end else to, answer["state"])


async def _tell_one(sync, notes, retention, epoch: int, progress) -> None:
    file = next(iter(notes.uncopied))
    version = notes.version
    entry = _entry(notes, file, retention.left())
    if entry[1]:
        body = _Body(notes.folder + "/" + file, entry[1])
        answer = await sync.ask("note", body, epoch=epoch, file=file, digest=entry[2])
    else:
        # Between a name and itself there is no other file.
        answer = await sync.ask("notes", epoch=epoch, after=file, to=file, files=[entry])
        retention.note_told([file])
    if notes.version == version:  # else this file may have become another one meanwhile
        notes.uncopied.discard(file)
    progress.take(sync, None, answer["state"])


def _is_copied(file: str) -> bool:
    name, _ = principal_files.principal_of(file)
    return name == MEMORY or is_note(name)


def _entry(notes, file: str, left: list) -> list:
    """A file as a list has it: [name on flash, bytes, digest], or why there is none in place of the digest."""
    path = notes.folder + "/" + file
    size = files.size(path)
    if not 0 < size <= NOTE_BYTES:
        return [file, 0, LEFT if size < 0 and file in left else GONE]
    try:
        with open(path, "rb") as opened:
            return [file, size, shown(files.crc_of(opened, size))]
    except OSError as error:
        raise files.failure(error, path) from None


class _Body:
    """A file, as it is sent."""

    def __init__(self, path: str, size: int):
        self._path = path
        self.size = size

    def pieces(self):
        """Yield its bytes."""
        left = self.size
        try:
            with open(self._path, "rb") as opened:
                while left:
                    piece = opened.read(min(left, _PIECE))
                    if not piece:
                        raise NetError("a note became shorter while it was sent")
                    left -= len(piece)
                    yield piece
        except OSError:
            raise NetError("a note has gone while it was sent") from None
