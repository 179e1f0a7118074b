"""An append-only log of JSON lines, in segments.

    NAME.jsonl         the live segment: lines are appended to it
    NAME.0001.jsonl    sealed segments, by number: they change only when they are compacted
    NAME.bad           bytes that were set aside because a line failed its crc

Each line has its crc (see wire.py). A segment's first line is its header:
    {"format":1,"log":NAME,"epoch":EPOCH,"segment":NUMBER,"first":SEQ,"sealed":[[number, first seq, bytes], ...],
     "state":{...},"crc":...}
where EPOCH is a random number, new after a reset or a restore because seqs are then used again, FIRST is the seq of the
segment's first line, `sealed` are the segments before it and `state` is given by the log's owner. All other lines begin
with their seq, which counts up: so a line is found by its seq with a few small reads, without an index.

Promises: an append is on flash, whole, when `append` returns, and all lines of one append stand or fall together but
for a power cut on a file system that is not atomic. A line that was damaged is set aside and reported, and what follows
it is read.
"""

import os
import random

from engram import files, log, wire
from engram.compat import const
from engram.errors import StoreError
from engram.store.repair import Repair

SMALLEST_SEGMENT = 16384
"""Bytes of a segment of a small log."""

SEGMENTS = 8
"""About how many segments a log of its largest size has: few files, since opening one takes reads and heap."""

_LARGEST_SEGMENT = const(1 << 20)  # offsets in the index have 24 bits
_FORMAT = const(1)
_BUFFER = const(512)
_LINE = const(384)  # bytes that hold most lines
_BACKWARDS = const(2048)  # bytes read at once when lines are read backwards
_OPEN_FILES = const(8)  # sealed segments whose files stay open: each takes 350 bytes of heap
_LIVE = const(0)  # stands for the live segment's number where a file is named
_PROBES = const(20)  # of the search for a seq: by then what is left is read through


class Log:
    """The log NAME in a folder, of about `cap` bytes at most; `state` gives a dict for a new segment's header."""

    def __init__(self, folder: str, name: str, state=None, cap: int = 0, segment_bytes: int = 0):
        self.base = folder + "/" + name
        self._folder = folder
        self._name = name
        self._state = state
        self._segment_bytes = segment_bytes or max(SMALLEST_SEGMENT, min(cap // SEGMENTS, _LARGEST_SEGMENT))
        self._repair = Repair(self.base, self._lines)
        self._file = None  # the live segment, for appending and reading
        self._files = {}  # sealed segments that are open: number -> file
        self._unsure = False
        self._reset()

    def _reset(self) -> None:
        self.sealed = []  # [number, first seq, bytes] of the sealed segments, ascending
        self.live = 1  # number of the live segment
        self.size = 0  # bytes of the live segment
        self.first = 1  # seq of the live segment's first line
        self.start = 0  # where the live segment's first line begins
        self.epoch = 0
        self.next_seq = 1
        self.state = None  # what the live segment's header has from the owner

    @property
    def damaged(self) -> int:
        """Lines that were set aside since the log was opened."""
        return self._repair.damaged

    @property
    def bytes(self) -> int:
        """Bytes of all segments."""
        return sum(segment[2] for segment in self.sealed) + self.size

    @property
    def oldest(self) -> int:
        """The first seq that the log may have."""
        return self.sealed[0][1] if self.sealed else self.first

    # --- opening

    def open(self) -> None:
        """Find the segments; `scan` then reads lines."""
        self.close()
        self._reset()
        self._unsure = False
        try:
            self._reopen()
        except StoreError:
            files.make_folder(self._folder)
            self._reopen()
        if not self._read_header():
            self._close_live()
            self._find_segments()
            self._open_live()

    def _read_header(self) -> bool:
        """Take what the live segment's header says; False if there is none that can be read."""
        self.size = self._file.seek(0, 2)
        for _, line, ended in self._lines(self._file, 0):
            return is_good(line, ended) and self._take_header(wire.decode(line), len(line))  # pyright: ignore
        return False

    def _take_header(self, header: dict, length: int) -> bool:
        if header.get("format") != _FORMAT or "first" not in header:
            return False
        self.epoch = header["epoch"]
        self.live = header["segment"]
        self.sealed = header["sealed"]
        self.first = self.next_seq = header["first"]
        self.state = header.get("state")
        self.start = length
        return True

    def _find_segments(self) -> None:
        """Find the segments by their files: the live one is missing, or its header is damaged."""
        self._reset()
        prefix = self._name + "."
        for name in os.listdir(self._folder):
            digits = name[len(prefix) : -6]
            if name.startswith(prefix) and name.endswith(".jsonl") and digits.isdigit():
                self.sealed.append([int(digits), 0, 0])
        self.sealed.sort()
        for segment in self.sealed:
            path = self._sealed_path(segment[0])
            self._repair.mend(path)
            segment[2] = files.size(path)
            segment[1] = self._first_seq(path)
        self.sealed = [segment for segment in self.sealed if segment[1]]
        self.live = self.sealed[-1][0] + 1 if self.sealed else 1
        if self.sealed:
            self._find_end()
        self.first = self.next_seq
        if files.size(self._base_path()) > 0:
            self._adopt_live()

    def _first_seq(self, path: str) -> int:
        """The seq of a segment's first line by its header or, without one, by the line itself; 0 if there is none."""
        with open(path, "rb") as file:
            for _, line, ended in self._lines(file, 0):
                if is_good(line, ended):
                    values = wire.decode(line)  # pyright: ignore
                    self.epoch = values.get("epoch", self.epoch)
                    self.state = values.get("state", self.state)
                    return values.get("first") or values.get("seq", 0)
        return 0

    def _find_end(self) -> None:
        """Set next_seq behind the last line of the last sealed segment."""
        self.next_seq = self.sealed[-1][1]
        for _, _, _, values in self.scan(self.sealed[-1][0], 0):
            self.next_seq = values["seq"] + 1

    def _adopt_live(self) -> None:
        """Give a live segment without a good header a new one, by sealing it under the next number."""
        path = self._base_path()
        self._repair.mend(path)
        first = self._first_seq(path)
        target = self._sealed_path(self.live)
        os.rename(path, target)
        if first:
            self.sealed.append([self.live, first, files.size(target)])
            self.live += 1
            self._find_end()
            self.first = self.next_seq
        else:
            files.discard(target)

    def _open_live(self) -> None:
        """Begin a live segment."""
        if not self.epoch:
            self.epoch = random.getrandbits(30) | 1
        header = wire.encode(self._header_fields())
        files.write(self._base_path(), header)
        self.first = self.next_seq
        self.size = self.start = len(header)
        self._reopen()

    def _header_fields(self):
        yield "format", _FORMAT
        yield "log", self._name
        yield "epoch", self.epoch
        yield "segment", self.live
        yield "first", self.next_seq
        yield "sealed", self.sealed
        if self._state:
            yield "state", self._state()

    def close(self) -> None:
        """Close the files; what was appended is on flash already."""
        for file in self._files.values():
            file.close()
        self._files = {}
        self._close_live()

    # --- writing

    def append(self, lines) -> list:
        """Append lines, each a list of (key, value) pairs, with one flush: [(segment, offset, size, values), ...].

        StoreFull or StoreError when the flash refuses: then none of them counts. ArgumentError for a value that is no
        JSON. The caller seals: `has_room` tells whether it must.
        """
        self.settle()
        encoded = [wire.encode(_with_seq(self.next_seq + at, fields)) for at, fields in enumerate(lines)]
        if self._file is None:
            self._reopen()
        self._write(encoded)
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
        """Whether the live segment may grow further."""
        return self.size < self._segment_bytes

    def _write(self, encoded) -> None:
        # Unsure until the flush is through: an error or an interrupt may leave a part of the lines in the file.
        self._unsure = True
        try:
            for line in encoded:
                self._file.write(line)
            self._file.flush()
        except OSError as error:
            raise files.failure(error, self._base_path()) from None
        self._unsure = False

    def refresh(self) -> None:
        """Open the live segment's file anew: after thousands of flushes littlefs erases more with each."""
        self.settle()
        self._reopen()

    def settle(self) -> None:
        """After an append that failed: take back what of it may have reached the flash, since it was refused."""
        if not self._unsure:
            return
        self._reopen()
        path = self._base_path()
        if files.size(path) > self.size:
            self._close_live()
            self._repair.cut(path, self.size)
            self._reopen()
        self._unsure = False

    def seal(self) -> None:
        """End the live segment and begin a new one."""
        self._close_live()
        try:
            os.rename(self._base_path(), self._sealed_path(self.live))
        except OSError as error:
            raise files.failure(error, self.base) from None
        self.sealed.append([self.live, self.first, self.size])
        self.live += 1
        self._open_live()

    def drop_oldest(self) -> bool:
        """Remove the oldest sealed segment; whether there was one."""
        if not self.sealed:
            return False
        number = self.sealed[0][0]
        self._close_sealed(number)
        files.remove(self.path(number))
        self.sealed.pop(0)
        return True

    def compact(self, decide):
        """Rewrite all lines; decide(line) gives True to keep, False to drop, or pairs that take its place.

        A generator that pauses after each segment, which is replaced in one step. Lines that stay keep their seqs.
        """
        self.settle()
        if self.next_seq > self.first:
            self.seal()
        for segment in list(self.sealed):
            number = segment[0]
            self._close_sealed(number)
            if self._compact_file(self.path(number), decide):
                segment[2] = files.size(self.path(number))
            else:
                self.sealed.remove(segment)
            yield
        if self.next_seq == self.first:
            # Nothing was appended meanwhile: a new header tells the sizes as they are now.
            self._close_live()
            self._open_live()

    def _compact_file(self, path: str, decide) -> bool:
        """Rewrite one sealed segment; whether a line is left (else the file has gone)."""
        draft = path + ".new"
        left = False
        try:
            with open(draft, "wb") as target, open(path, "rb") as source:
                for _, line, ended in self._lines(source, 0):
                    if not is_good(line, ended):
                        continue
                    line = bytes(line)
                    values = wire.decode(line)
                    verdict = decide(values) if "seq" in values else True
                    if verdict is True:
                        target.write(line)
                    elif verdict:
                        target.write(wire.encode(verdict))
                    left = left or (bool(verdict) and "seq" in values)
            if left:
                os.rename(draft, path)
            else:
                os.remove(draft)
                os.remove(path)
        except OSError as error:
            files.discard(draft)
            raise files.failure(error, path) from None
        return left

    # --- reading

    def read(self, seq: int, offset: int = -1):
        """The line with a seq as a dict, None if there is none or it is damaged; `offset` is where it should be."""
        number = self._segment_of(seq)
        if number < 0 or not 0 < seq < self.next_seq:
            return None
        try:
            if offset >= 0:
                line = self._line_at(self._file_of(number), offset)
                if line is not None and line["seq"] == seq:
                    return line
            return self._find(number, seq)
        except OSError as error:
            raise files.failure(error, self.path(number)) from None

    def _segment_of(self, seq: int) -> int:
        """The number of the segment that a seq falls into, -1 if it has left."""
        if seq >= self.first:
            return self.live
        found = -1
        for number, first, _ in self.sealed:
            if first > seq:
                break
            found = number
        return found

    def _line_at(self, file, offset: int):
        """The line that begins at an offset as a dict, None if none does."""
        if file is None:
            return None
        file.seek(offset)
        data = file.read(_LINE)
        end = data.find(b"\n")
        while end < 0 and data and len(data) < wire.MAX_LINE:
            more = file.read(_BUFFER)
            if not more:
                return None
            end = more.find(b"\n")
            end = end + len(data) if end >= 0 else -1
            data += more
        try:
            values = wire.decode(data[: end + 1])
        except ValueError:
            return None
        return values if "seq" in values else None

    def _find(self, number: int, seq: int):
        """Look a line up by its seq: seqs grow with the offset, and about evenly."""
        file = self._file_of(number)
        if file is None:
            return None
        low, low_seq, high, high_seq = self._bounds(number)
        for probe in range(_PROBES):
            if high - low <= _BUFFER:
                break
            span = max(1, high_seq - low_seq)
            guess = low + (high - low) * (seq - low_seq) // span - (_BUFFER >> 1)
            if probe & 1 and probe > 3:
                guess = (low + high) >> 1  # seqs are uneven here: halves are sure
            guess = max(low, min(guess, high - 1))
            found = self._probe(file, guess, low, high, seq)
            if isinstance(found, dict):
                return found
            kind, at, at_seq = found
            if kind < 0:
                low, low_seq = at, at_seq
            elif kind > 0:
                high, high_seq = at, at_seq
            else:
                break
        return self._walk(file, low, high, seq)

    def _bounds(self, number: int) -> tuple:
        if number == self.live:
            return self.start, self.first, self.size, self.next_seq
        for at, (own, first, size) in enumerate(self.sealed):
            if own == number:
                last = self.sealed[at + 1][1] if at + 1 < len(self.sealed) else self.first
                return 0, first, size, last
        raise StoreError("a segment is missing; try again.")

    def _probe(self, file, guess: int, low: int, high: int, seq: int):
        """Look at the lines in one buffer: the line itself, or (-1, 1 or 0; an offset that is a new bound; its seq)."""
        file.seek(guess)
        data = file.read(_BUFFER)
        at = 0 if guess == low else data.find(b"\n") + 1
        if guess != low and not at:
            return 0, 0, 0
        last = None
        while at < len(data):
            end = data.find(b"\n", at) + 1
            here = _seq_of(data, at)
            if here == seq:
                line = self._line_at(file, guess + at)
                return line if line is not None else (0, 0, 0)
            if here > seq:
                return (1, guess + at, here) if last is None else (0, 0, 0)
            if here >= 0:
                last = (-1, guess + at, here)
            if not end:
                break
            at = end
        return last if last is not None and last[1] > low else (0, 0, 0)

    def _walk(self, file, low: int, high: int, seq: int):
        for offset, line, ended in self._lines(file, low):
            if offset >= high:
                return None
            if is_good(line, ended):
                values = wire.decode(line)  # pyright: ignore
                if values.get("seq", 0) >= seq:
                    return values if values["seq"] == seq else None
        return None

    def scan(self, number: int, offset: int, to_seq: int = 0):
        """Yield (segment, offset, size, values) of a segment's lines from an offset on, up to a seq if it is given.

        Damage is set aside; on a full flash it is passed over.
        """
        path = self.path(number)
        damage = -1
        if number != self.live and self._file_of(number) is None:
            return
        with open(path, "rb") as file:
            for at, line, ended in self._lines(file, offset):
                if is_good(line, ended):
                    values = wire.decode(line)  # pyright: ignore
                    if "seq" in values:
                        if to_seq and values["seq"] > to_seq:
                            return
                        if number == self.live:
                            self.next_seq = max(self.next_seq, values["seq"] + 1)
                        yield number, at, len(line), values  # pyright: ignore
                elif damage < 0:
                    damage = at
                    if self._set_aside(number, damage):
                        break
                    damage = -1
        if damage >= 0:
            yield from self.scan(number, damage, to_seq)

    def _set_aside(self, number: int, damage: int) -> bool:
        """Take damage out of a segment; False on a full flash: then what is good is read on from the file as it is."""
        if number == self.live:
            self._close_live()
        else:
            self._close_sealed(number)
        try:
            self._repair.mend(self.path(number), damage)
            mended = True
        except StoreError as error:
            log.error("store", "%s: damage in segment %d was passed over: %s" % (self._name, number, error))
            mended = False
            # The next append has to end an unfinished line first.
            self._unsure = self._unsure or number == self.live
        if number == self.live:
            self._reopen()
            self.size = files.size(self._base_path())
        else:
            for segment in self.sealed:
                if segment[0] == number:
                    segment[2] = files.size(self.path(number))
        return mended

    def scan_from(self, seq: int, to_seq: int):
        """Yield (segment, offset, size, values) of all lines from one seq to another, both included."""
        for number, first, _ in list(self.sealed) + [[self.live, self.first, 0]]:
            if first > to_seq:
                return
            for place in self.scan(number, 0, to_seq):
                if place[3]["seq"] >= seq:
                    yield place

    def backwards(self):
        """Yield all lines, newest first, as dicts."""
        for number, _, size in [[self.live, self.first, self.size]] + self.sealed[::-1]:
            end = size
            span = _BACKWARDS
            while end > 0:
                start = max(0, end - span)
                lines = self._lines_between(number, start, end)
                for _, values in lines[::-1]:
                    if "seq" in values:
                        yield values
                if lines:
                    end, span = lines[0][0], _BACKWARDS
                elif span > wire.MAX_LINE:
                    end, span = start, _BACKWARDS  # nothing but damage
                else:
                    span *= 2
                    end = end if start else 0

    def _lines_between(self, number: int, start: int, end: int) -> list:
        found = []
        with open(self.path(number), "rb") as file:
            for at, line, ended in self._lines(file, start):
                if at >= end:
                    break
                if is_good(line, ended):
                    found.append((at, wire.decode(line)))  # pyright: ignore
        return found

    # --- files

    def path(self, number: int) -> str:
        """The path of a segment."""
        return self._base_path() if number == self.live else self._sealed_path(number)

    def _base_path(self) -> str:
        return self.base + ".jsonl"

    def _sealed_path(self, number: int) -> str:
        return "%s.%04d.jsonl" % (self.base, number)

    def _file_of(self, number: int):
        if number == self.live:
            if self._file is None:
                self._reopen()
            return self._file
        file = self._files.get(number)
        if file is None:
            if len(self._files) >= _OPEN_FILES:
                self._close_sealed(next(iter(self._files)))
            try:
                file = self._files[number] = open(self._sealed_path(number), "rb")
            except OSError as error:
                if error.errno != files.ENOENT:
                    raise
                # The oldest segments leave; a header names them until the next one is written.
                self.sealed = [segment for segment in self.sealed if segment[0] != number]
        return file

    def _close_sealed(self, number: int) -> None:
        file = self._files.pop(number, None)
        if file:
            file.close()

    def _reopen(self) -> None:
        self._close_live()
        try:
            self._file = open(self._base_path(), "a+b")
        except OSError as error:
            raise files.failure(error, self._base_path()) from None

    def _close_live(self) -> None:
        if self._file:
            try:
                self._file.close()
            except OSError:
                # What the last flush did not take is lost anyway; the append has already said so.
                pass
            self._file = None

    def _lines(self, file, offset: int):
        """Yield as wire.lines does, but with lines that are longer than the buffer whole as well."""
        buffer = bytearray(_BUFFER)
        is_through = False
        while not is_through:
            is_through = True
            for at, line, ended in wire.lines(file, buffer, offset):
                if ended is None and line <= wire.MAX_LINE:  # pyright: ignore
                    file.seek(at)
                    offset = at + line  # pyright: ignore
                    line = file.read(line)
                    yield at, line, line.endswith(b"\n")
                    is_through = False
                    break
                yield at, line, ended


def is_good(line, ended) -> bool:
    """Whether what wire.lines gave is a whole line."""
    return ended is True and wire.check(line)


def _with_seq(seq: int, fields):
    yield "seq", seq
    yield from fields


def _seq_of(data: bytes, at: int) -> int:
    """The seq with which a line begins, -1 if it does not or is cut."""
    if data[at : at + 7] != b'{"seq":':
        return -1
    seq = 0
    at += 7
    while at < len(data):
        digit = data[at] - 48
        if not 0 <= digit <= 9:
            return seq
        seq = seq * 10 + digit
        at += 1
    return -1
