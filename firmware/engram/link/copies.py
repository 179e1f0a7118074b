"""Copies the notes and the senses to the companion, one piece at a time."""

from binascii import crc32

from engram import files
from engram.compat import sleep_ms
from engram.errors import NetError
from engram.link.messages import GONE, LEFT, NOTE_BYTES, NOTES_AT_ONCE, is_row, shown
from engram.link.rpc import Body
from engram.memory import principal_files
from engram.memory.texts.notes import MEMORY, is_note


class SenseCopy:
    """A copier of the senses of find_senses(), None without any."""

    def __init__(self, sync, find_senses):
        self._sync = sync
        self._find_senses = find_senses
        self._state = None  # what the companion has, None before the first greeting
        self._version = None  # of the senses that it was told of
        self._have = None  # (seq, check) of its newest block of each level, None before it was asked, () if it has all

    def greeted(self, state: str) -> None:
        """Handle the companion's state; compare all senses if it is new or lost some."""
        if self._state != state:
            self._state = state
            self._have = None

    async def step(self) -> bool:
        """Send one message on the senses and handle its answer; True if one was due. NetError, StoreError."""
        senses = self._find_senses()
        if senses is None or self._state is None:
            return False
        if self._have is None or self._version != senses.version:
            self._version = senses.version
            await self._list(senses)
        elif not self._have:
            return False
        elif not await self._send_block(senses):
            self._have = ()
        return True

    async def _list(self, senses) -> None:
        self._have = None  # until this list is answered
        listed = senses.all()
        items = [[sense.number, sense.name, sense.unit, sense.decimals, sense.made] for sense in listed]
        fields = {"next": senses.table.next, "whole": not senses.table.damaged, "items": items}
        fields["shared"] = [sense.number for sense in listed] if senses.is_shared else []
        self._take(await self._sync.ask("senses", epoch=self._sync.epoch, **fields))

    async def _send_block(self, senses) -> bool:
        """Send the next missing block; True if there was one."""
        for level, newest in enumerate(self._have or ()):
            block = senses.history.rings[level].next_block(newest[0], _check_of(newest[1]))
            if block is not None:
                answer = await self._sync.ask("readings", block, epoch=self._sync.epoch, level=level, seq=block.seq)
                if list(self._take(answer)[level]) != [block.seq, shown(block.check)]:
                    raise NetError("the companion acknowledged other readings than it was sent")
                return True
            await sleep_ms(0)  # a file was read: others run in between
        return False

    def _take(self, answer: dict):
        have = answer["have"]
        if not all(is_row(row, int, str) and _check_of(row[1]) >= 0 for row in have):
            raise NetError("the companion says in another form than this board knows what it has of the senses")
        self._have, self._state = have, answer["state"]
        return have


def _check_of(digits: str) -> int:
    try:
        return int(digits or "0", 16)
    except ValueError:
        return -1


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
