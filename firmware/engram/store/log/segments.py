"""An append-only log of JSON lines, in segments.

    NAME.jsonl         the live segment: lines are appended to it
    NAME.0001.jsonl    sealed segments, by number: they change only when they are compacted
    NAME.bad           bytes that were set aside because a line failed its crc

Each line has its crc (see log_line.py); a segment's first line is its header (see header.py). All other lines begin with
their seq, which counts up: so a line is found by its seq with a few small reads, without an index.

Promises: an append is on flash, whole, when `append` returns, and all lines of one append stand or fall together but
for a power cut on a file system that is not atomic. A line that was damaged is set aside and reported, and what follows
it is read.
"""

import random

from engram import diag, files, log_line
from engram.errors import StoreError
from engram.store.log import header, seq_seek
from engram.store.log.repair import Repair

SMALLEST_SEGMENT = 16384
"""Bytes of a segment in a small log."""

SEGMENTS = 8
"""Segments of a full log, about: opening each takes reads and heap."""

_LARGEST_SEGMENT = const(1 << 20)  # offsets in the index have 24 bits
_NEXT = const(".next")
_MOST_MENDS = const(8)  # of a segment until the log is opened again: what does not help is not to wear the flash out
_OPEN_FILES = const(8)  # sealed segments whose files stay open: each takes 350 bytes of heap


class Log:
    """The log NAME in a folder, of about `cap` bytes at most."""

    def __init__(self, folder: str, name: str, cap: int = 0, segment_bytes: int = 0):
        self.base = folder + "/" + name
        self._live_path = self.base + ".jsonl"
        self.folder = folder
        self.name = name
        self.segment_bytes = segment_bytes or max(SMALLEST_SEGMENT, min(cap // SEGMENTS, _LARGEST_SEGMENT))
        self.may_mend = True  # while it is compacted, damage is passed over: both rewrite segments
        self.repair = Repair(self.base)
        self._file = None  # the live segment, for appending and reading
        self._files = {}  # sealed segments that are open: number -> file
        self._unsure = False
        self._is_unnamed = False  # the live segment has a file, but not its name yet
        self.moves = 0  # counts what may move lines within their files
        self.reset()

    def reset(self) -> None:
        self.is_recovered = False  # whether the live segment was lost and replaced
        self._sound = set()  # numbers of segments that were looked through for damage
        self._mends = {}  # how often each was to be mended
        self.sealed = []  # [number, first seq, bytes] of the sealed segments, ascending
        self.was_missing = False  # whether the header names oldest segments that had no file when it was opened
        self.live = 1  # number of the live segment
        self.size = 0  # bytes of the live segment
        self.first = 1  # seq of the live segment's first line
        self.start = 0  # where the live segment's first line begins
        self.epoch = 0
        self.rewrites = 0  # how often lines were taken out by a compaction; random where that is not known any more
        self.moves += 1
        self.next_seq = 1
        self.state = None  # what the live segment's header has from the owner, until the opener has taken it

    @property
    def bytes(self) -> int:
        return sum(segment[2] for segment in self.sealed) + self.size

    @property
    def oldest(self) -> int:
        """Return the first seq that the log may have."""
        return self.sealed[0][1] if self.sealed else self.first

    # --- opening

    def open(self, owner=None) -> None:
        """Find the segments for scan(); without the newest header, `owner` observes the lines."""
        self.close()
        self.reset()
        self._unsure = self._is_unnamed = False
        try:
            self._reopen()
        except StoreError:
            files.make_folder(self.folder)
            self._reopen()
        self.size = self._file.seek(0, 2)
        if not header.read(self, self._file):
            self.close_live()
            header.recover(self, owner)
            self.is_recovered = True
        # The oldest segments leave; a header names them until the next one is written.
        while self.sealed and files.size(self.sealed_path(self.sealed[0][0])) < 0:
            self.sealed.pop(0)
            self.was_missing = True

    def begin(self, state) -> None:
        """Begin or rewrite the live segment; `state` is the owner's dict or None."""
        if not self.epoch:
            self.epoch = random.getrandbits(30) | 1
        line = header.line(self, state)
        self.close_live()
        files.write(self._live_path, line)
        self._began(len(line))

    def _began(self, size: int) -> None:
        self.first = self.next_seq
        self.size = self.start = size
        self._reopen()

    def close(self) -> None:
        """Close the files; appended lines are on flash already."""
        for file in self._files.values():
            file.close()
        self._files = {}
        self.close_live()

    # --- writing

    def append(self, lines) -> list:
        """Append lists of pairs in one flush, all or none; StoreFull, StoreError, ArgumentError."""
        self.settle()
        encoded = [log_line.encode([("seq", self.next_seq + at)] + list(fields)) for at, fields in enumerate(lines)]
        if self._file is None:
            self._reopen()
        # Unsure until the flush is through: an error or an interrupt may leave a part of the lines in the file.
        self._unsure = True
        try:
            # littlefs fills a gap with zeros: a look beyond the end would have the lines begin behind it.
            self._file.seek(0, 2)
            for line in encoded:
                self._file.write(line)
            self._file.flush()
        except OSError as error:
            # After a failed flush littlefs reads absent data through the file, or fails again.
            self.close_live()
            raise files.failure(error, self._live_path) from None
        self._unsure = False
        placed = []
        for line, fields in zip(encoded, lines):
            values = dict(fields)
            values["seq"] = self.next_seq
            placed.append((self.live, self.size, len(line), values))
            self.size += len(line)
            self.next_seq += 1
        return placed

    @property
    def has_room(self) -> bool:
        return self.size < self.segment_bytes

    def refresh(self) -> None:
        """Reopen the live file: littlefs erases more after thousands of flushes."""
        self.settle()
        self._reopen()

    def settle(self) -> None:
        """Remove the part of a failed append that may have reached the flash."""
        if not self._unsure:
            return
        self._reopen()
        if files.size(self._live_path) > self.size:
            self.close_live()
            self.repair.cut(self._live_path, self.size)
            self._reopen()
        self._unsure = False

    def seal(self, state) -> None:
        """Begin a new live segment; StoreFull or StoreError leave at most a pending rename."""
        segment = [self.live, self.first, self.size]
        self.sealed.append(segment)
        self.live += 1
        line = header.line(self, state)
        try:
            # First what needs room: on a full flash nothing has happened then.
            files.write(self._live_path + _NEXT, line)
            self.close_live()
            files.rename(self._live_path, self.sealed_path(segment[0]))
        except StoreError:
            self.sealed.remove(segment)
            self.live -= 1
            raise
        self._is_unnamed = True
        self._began(len(line))

    def drop_oldest(self) -> bool:
        if not self.sealed:
            return False
        number = self.sealed[0][0]
        self.close_sealed(number)
        files.remove(self.path(number))
        self.sealed.pop(0)
        return True

    # --- reading

    def read(self, seq: int, offset: int = -1):
        """Return a line as a dict near `offset`, None if it is missing or damaged."""
        if not 0 < seq < self.next_seq:
            return None
        while True:
            try:
                file, number, bounds = self.open_at(seq)
                line = seq_seek.find(file, seq, offset, bounds)
                if line is not None or not self._mend(number):
                    return line
            except OSError as error:
                raise files.failure(error, self.base) from None

    def _mend(self, number: int) -> bool:
        """Mend a segment that misses a line, once; True if there was damage."""
        if not self.may_mend or number in self._sound:
            return False
        self._sound.add(number)
        return not self.repair.is_sound(self.path(number)) and self.set_damage_aside(number)

    def segment_of(self, seq: int):
        """Return (number, offset of lines, first seq, bytes, next seq) of a seq's segment, or the oldest."""
        place = self.live, self.start, self.first, self.size, self.next_seq
        for number, first, size in reversed(self.sealed):
            if place[2] <= seq:
                break
            place = number, 0, first, size, place[2]
        return place

    def open_at(self, seq: int) -> tuple:
        """Return (file, number, (offset of lines, first seq, bytes, next seq)) of a seq's segment."""
        while True:
            number = self.segment_of(seq)[0]
            file = self.file_of(number)
            # A file that is missing has left the list: then another segment has the line, or none.
            if file is not None:
                # Its end is certain, as it is open.
                return file, number, self.segment_of(seq)[1:]

    def scan(self, number: int, offset: int, to_seq: int = 0, last: int = 0):
        """Yield (segment, offset, size, values) from an offset on, setting damage aside."""
        is_damaged = is_mended = False
        if number != self.live and self.file_of(number) is None:
            return
        with open(self.path(number), "rb") as file:
            for at, line, ended in log_line.lines(file, offset):
                if log_line.is_whole(line, ended):
                    values = log_line.decode(line)  # pyright: ignore
                    # A repeated line counts once.
                    if values.get("seq", 0) > last:
                        last = values["seq"]
                        if to_seq and last > to_seq:
                            return
                        if number == self.live:
                            self.next_seq = max(self.next_seq, last + 1)
                        yield number, at, len(line), values  # pyright: ignore
                elif not is_damaged:
                    is_damaged = True
                    is_mended = self.set_damage_aside(number)
                    if is_mended:
                        break
        if is_mended:
            # Later lines have moved.
            yield from self.scan(number, 0, to_seq, last)

    def set_damage_aside(self, number: int) -> bool:
        """Remove a segment's damage; False if the flash is full or it did not help."""
        if not self.may_mend:
            return False
        self.moves += 1
        self._mends[number] = self._mends.get(number, 0) + 1
        if number == self.live:
            self.close_live()
        else:
            self.close_sealed(number)
        mended = self._mends[number] <= _MOST_MENDS
        try:
            if mended:
                self.repair.mend(self.path(number))
        except StoreError as error:
            diag.error("store", "%s: damage in segment %d was passed over: %s" % (self.name, number, error))
            mended = False
        if number == self.live:
            # The next append has to end a line that is still unfinished first.
            self._unsure = self._unsure or not mended
            self._reopen()
            self.size = files.size(self._live_path)
        else:
            self.note_size(number, files.size(self.path(number)))
        return mended

    def scan_from(self, seq: int, to_seq: int):
        """Yield (segment, offset, size, values) of all lines from one seq to another, inclusive."""
        to_seq = min(to_seq, self.next_seq - 1)
        while seq <= to_seq:
            file, number, bounds = self.open_at(seq)
            offset = seq_seek.place(file, seq, *bounds)[0]
            before = seq - 1
            seq = max(seq, bounds[3])
            yield from self.scan(number, offset, min(to_seq, seq - 1), before)

    # --- files

    def path(self, number: int) -> str:
        return self._live_path if number == self.live else self.sealed_path(number)

    def sealed_path(self, number: int) -> str:
        return "%s.%04d.jsonl" % (self.base, number)

    def file_of(self, number: int):
        if number == self.live:
            if self._file is None:
                self._reopen()
            return self._file
        file = self._files.get(number)
        if file is None:
            if len(self._files) >= _OPEN_FILES:
                self.close_sealed(next(iter(self._files)))
            try:
                file = self._files[number] = open(self.sealed_path(number), "rb")
            except OSError as error:
                if error.errno != files.ENOENT:
                    raise
                # It has left, or a compaction that was cut has put its lines into another one.
                self.sealed = [segment for segment in self.sealed if segment[0] != number]
                return None
            self.note_size(number, file.seek(0, 2))
        return file

    def note_size(self, number: int, size: int) -> None:
        for segment in self.sealed:
            if segment[0] == number:
                segment[2] = size

    def close_sealed(self, number: int) -> None:
        file = self._files.pop(number, None)
        if file:
            file.close()

    def _reopen(self) -> None:
        self.close_live()
        if self._is_unnamed:
            files.rename(self._live_path + _NEXT, self._live_path)
            self._is_unnamed = False
        try:
            self._file = open(self._live_path, "a+b")
        except OSError as error:
            raise files.failure(error, self._live_path) from None

    def close_live(self) -> None:
        if self._file:
            try:
                self._file.close()
            except OSError:
                # Unflushed data is lost anyway; the append has already raised.
                pass
            self._file = None
