"""An append-only log of JSON lines, in segments.

    NAME.jsonl         the live segment: lines are appended to it
    NAME.0001.jsonl    sealed segments, by number: they change only when they are compacted
    NAME.bad           bytes that were set aside because a line failed its crc

Each line has its crc (see wire.py). A segment's first line is its header:
    {"format":1,"log":NAME,"epoch":EPOCH,"segment":NUMBER,"first":SEQ, ... ,"crc":...}
where EPOCH is a random number, new after a reset or a restore because seqs are then used again, FIRST is the seq of
the segment's first line, and what follows is given by the log's owner. All other lines begin with their seq.

Promises: an append is on flash, whole, when `append` returns, and all lines of one append stand or fall together but
for a power cut on a file system that is not atomic. A line that was damaged is set aside and reported, and
what follows it is read.
"""

import os
import random

from engram import files, log, wire
from engram.compat import const
from engram.errors import StoreError
from engram.store.repair import Repair

SEGMENT_BYTES = 16384
"""A live segment is sealed before it grows over this: bounds what is read at the start and rewritten at once."""

_FORMAT = const(1)
_BUFFER = const(512)
_LIVE = const(0)  # stands for the live segment's number where a file is named


class Log:
    """The log NAME in a folder; `header` is called for more (key, value) pairs of a new segment's header."""

    def __init__(self, folder: str, name: str, header=None, segment_bytes: int = SEGMENT_BYTES):
        self._base = folder + "/" + name
        self._folder = folder
        self._name = name
        self._header = header
        self._segment_bytes = segment_bytes
        self._buffer = bytearray(_BUFFER)
        self._visit = None
        self._file = None  # the live segment, for appending and reading
        self._sealed_file = None  # the sealed segment that was read last
        self._sealed_number = 0
        self._unsure = False
        self._repaired = False
        self.sealed = []  # numbers of the sealed segments, ascending
        self.live = 1  # number of the live segment
        self.size = 0  # bytes of the live segment
        self.sealed_bytes = 0
        self.epoch = 0
        self.next_seq = 1
        self._repair = Repair(self._base, self._lines)
        self._first = 1  # seq of the live segment's first line

    @property
    def damaged(self) -> int:
        """Lines that were set aside since the log was opened."""
        return self._repair.damaged

    @property
    def bytes(self) -> int:
        """Bytes of all segments."""
        return self.sealed_bytes + self.size

    def open(self, visit) -> None:
        """Find the segments and call visit(segment, offset, length, line) for each line, oldest first.

        A header is visited as well: it has no "seq". Lines that are appended later are visited too. Damage is set aside;
        on a full flash it is passed over.
        """
        self._visit = visit
        self._unsure = False
        files.make_folder(self._folder)
        self._find_segments()
        for number in self.sealed:
            self._scan(number, 0)
            self.sealed_bytes += files.size(self._path(number))
        if files.size(self._path(_LIVE)) > 0:
            self._scan(self.live, 0)
        self._open_live()

    def close(self) -> None:
        """Close the files; what was appended is on flash already."""
        self._close_sealed()
        if self._file:
            self._file.close()
            self._file = None

    def append(self, *lines) -> int:
        """Append lines, each a list of (key, value) pairs, with one flush, and visit them; the first one's seq.

        StoreFull or StoreError when the flash refuses: then none of them counts. ArgumentError for a value that is no JSON.
        """
        encoded = []
        total = 0
        for fields in lines:
            encoded.append(wire.encode(_with_seq(self.next_seq + len(encoded), fields)))
            total += len(encoded[-1])
        self.settle()
        if self._file is None:
            self._open_live()
        if self.size + total > self._segment_bytes and self.next_seq > self._first:
            self.seal()
        first = self.next_seq
        self._write(encoded)
        for line, fields in zip(encoded, lines):
            values = dict(fields)
            values["seq"] = self.next_seq
            offset = self.size
            self.size += len(line)
            self.next_seq += 1
            self._visit(self.live, offset, len(line), values)
        return first

    def settle(self) -> None:
        """After an append that failed: take back what of it may have reached the flash, since it was refused."""
        if not self._unsure:
            return
        self._reopen()
        if files.size(self._path(_LIVE)) > self.size:
            self._repair.cut(self._path(_LIVE), self.size)
            self._reopen()
        self._unsure = False

    def read(self, segment: int, offset: int, length: int):
        """The line at a position as a dict, None (and a warning) if it is damaged."""
        try:
            file = self._file if segment == self.live else self._open_sealed(segment)
            if file is None:
                return None
            file.seek(offset)
            return wire.decode(file.read(length))
        except OSError as error:
            raise files.failure(error, self._path(segment)) from None
        except ValueError:
            log.warning("store", self._name + ": a line in segment " + str(segment) + " is damaged and was left out")
            return None

    def seal(self) -> None:
        """End the live segment and begin a new one."""
        self._close_live()
        try:
            os.rename(self._path(_LIVE), self._sealed_path(self.live))
        except OSError as error:
            raise files.failure(error, self._base) from None
        self.sealed.append(self.live)
        self.sealed_bytes += self.size
        self.size = 0
        self.live += 1
        self._open_live()

    def drop_oldest(self) -> bool:
        """Remove the oldest sealed segment; whether there was one."""
        if not self.sealed:
            return False
        number = self.sealed[0]
        self._close_sealed()
        self.sealed_bytes -= max(0, files.size(self._path(number)))
        files.remove(self._path(number))
        self.sealed.pop(0)
        return True

    def compact(self, decide) -> int:
        """Rewrite all segments; decide(line) gives True to keep, False to drop, or pairs that take its place.

        None drops a line too, but is no reason to rewrite; where there is none, nothing is written.

        A segment's header, which has no "seq", is asked for as well; it may be replaced, not dropped.

        The number of bytes that it saved. Each segment is replaced in one step; positions are others afterwards.
        """
        before = self.bytes
        self.settle()
        if not self._has_work(decide):
            return 0
        if self.next_seq > self._first:
            # The live segment's header keeps the next seq: it must not go back when the last lines leave.
            self.seal()
        self._close_sealed()
        kept = []
        self.sealed_bytes = 0
        for number in self.sealed:
            if self._compact_file(number, decide):
                kept.append(number)
                self.sealed_bytes += files.size(self._path(number))
        self.sealed = kept
        return before - self.bytes

    def _has_work(self, decide) -> bool:
        for number in self.sealed + [self.live]:
            with open(self._path(number), "rb") as file:
                for _, line, ended in self._lines(file, 0):
                    if _is_good(line, ended) and decide(wire.decode(line)) not in (True, None):  # pyright: ignore
                        return True
        return False

    # --- segments

    def _path(self, number: int) -> str:
        if number == _LIVE or (number == self.live and number not in self.sealed):
            return self._base + ".jsonl"
        return self._sealed_path(number)

    def _sealed_path(self, number: int) -> str:
        return "%s.%04d.jsonl" % (self._base, number)

    def _find_segments(self) -> None:
        self.sealed = []
        self.sealed_bytes = 0
        prefix = self._name + "."
        for name in os.listdir(self._folder):
            if name.startswith(prefix) and name.endswith(".jsonl") and len(name) > len(prefix) + 5:
                digits = name[len(prefix) : -6]
                if digits.isdigit():
                    self.sealed.append(int(digits))
        self.sealed.sort()
        self.live = self.sealed[-1] + 1 if self.sealed else 1

    def _open_live(self) -> None:
        path = self._path(_LIVE)
        if files.size(path) <= 0:
            if not self.epoch:
                self.epoch = random.getrandbits(30) | 1
            files.write(path, wire.encode(self._header_fields()))
            self._first = self.next_seq
        self._reopen()
        self.size = files.size(path)

    def _header_fields(self):
        yield "format", _FORMAT
        yield "log", self._name
        yield "epoch", self.epoch
        yield "segment", self.live
        yield "first", self.next_seq
        if self._header:
            yield from self._header()

    def _reopen(self) -> None:
        self._close_live()
        try:
            self._file = open(self._path(_LIVE), "a+b")
        except OSError as error:
            raise files.failure(error, self._path(_LIVE)) from None

    def _close_live(self) -> None:
        if self._file:
            try:
                self._file.close()
            except OSError:
                # What the last flush did not take is lost anyway; the append has already said so.
                pass
            self._file = None

    def _open_sealed(self, number: int):
        if self._sealed_number != number:
            self._close_sealed()
            self._sealed_file = open(self._path(number), "rb")
            self._sealed_number = number
        return self._sealed_file

    def _close_sealed(self) -> None:
        if self._sealed_file:
            self._sealed_file.close()
        self._sealed_file = None
        self._sealed_number = 0

    def _write(self, encoded) -> None:
        # Unsure until the flush is through: an error or an interrupt may leave a part of the lines in the file.
        self._unsure = True
        try:
            for line in encoded:
                self._file.write(line)
            self._file.flush()
        except OSError as error:
            raise files.failure(error, self._path(_LIVE)) from None
        self._unsure = False

    # --- reading through and repair

    def _lines(self, file, offset: int):
        """Yield as wire.lines does, but with lines that are longer than the buffer whole as well."""
        is_through = False
        while not is_through:
            is_through = True
            for at, line, ended in wire.lines(file, self._buffer, offset):
                if ended is None and line <= wire.MAX_LINE:  # pyright: ignore
                    file.seek(at)
                    offset = at + line  # pyright: ignore
                    line = file.read(line)
                    yield at, line, line.endswith(b"\n")
                    is_through = False
                    break
                yield at, line, ended

    def _scan(self, number: int, offset: int) -> None:
        """Visit the lines of a segment from an offset on; damage is set aside and the rest read on."""
        path = self._path(number)
        damage = -1
        with open(path, "rb") as file:
            for at, line, ended in self._lines(file, offset):
                if _is_good(line, ended):
                    self._found(number, at, line)
                elif damage < 0:
                    damage = at
                    if self._can_repair(number, damage):
                        break
        if damage >= 0 and self._repaired:
            self._scan(number, damage)

    def _can_repair(self, number: int, damage: int) -> bool:
        """Set the damage aside; False on a full flash: then what is good is read on from the file as it is."""
        try:
            self._repair.mend(self._path(number), damage)
        except StoreError as error:
            where = "%s: damage in segment %d at byte %d" % (self._name, number, damage)
            log.error("store", where + " was passed over: " + str(error))
            # The next append has to end an unfinished line first.
            self._unsure = number == self.live
            self._repaired = False
        else:
            self._repaired = True
        return self._repaired

    def _found(self, number: int, at: int, line) -> None:
        values = wire.decode(line)
        if "seq" in values:
            self.next_seq = max(self.next_seq, values["seq"] + 1)
        elif "epoch" in values:
            self.epoch = values["epoch"]
            self.next_seq = max(self.next_seq, values["first"])
            self._first = values["first"]
        self._visit(number, at, len(line), values)

    def _compact_file(self, number: int, decide) -> bool:
        """Rewrite one sealed segment; whether a line is left (else the file has gone)."""
        path = self._path(number)
        draft = path + ".new"
        left = False
        try:
            with open(draft, "wb") as target, open(path, "rb") as source:
                for _, line, ended in self._lines(source, 0):
                    if not _is_good(line, ended):
                        continue
                    values = wire.decode(line)  # pyright: ignore
                    verdict = decide(values)
                    if verdict is True:
                        target.write(line)  # pyright: ignore
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


def _is_good(line, ended) -> bool:
    return ended is True and wire.check(line)


def _with_seq(seq: int, fields):
    yield "seq", seq
    yield from fields
