"""Rings of blocks on flash: files to which blocks are only appended; the oldest file is removed at the cap.

    NAME.0001, NAME.0002 ...     the highest number is the file that grows

Nothing is rewritten in place, so a power cut leaves each block whole or absent. A block:

    magic (1 byte), 0 (1), number of rows (2), until (4), crc32 of all other bytes (4); then the rows, see rows.py

`until` is the last file of the next finer ring that was folded into this one, so that the result alone says what
has been folded. All is a multiple of 12 bytes: after damage, reading goes on at the next whole block.
"""

from binascii import crc32
from collections import namedtuple
from struct import calcsize, pack, pack_into, unpack_from

from engram import files
from engram.senses.values import add_to, aggregate_of

SIZE = const(12)
_ROW = const("<BBHhhhh")
_BASE_ROW = const("<BBHII")
_BASE = const(255)
_FAR = const(255)  # slots from a base
_SINGLES = const(4091)  # the largest count: an hour has 3,600 seconds
_COUNT_BITS = const(12)
_LOWEST, _HIGHEST = -32768, 32767

assert calcsize(_ROW) == calcsize(_BASE_ROW) == SIZE


class RowBuffer:
    """A buffer of a fixed size for rows in insertion order."""

    def __init__(self, most_bytes: int):
        self._data = bytearray(most_bytes)
        self.clear()

    def clear(self) -> None:
        self.end = 0
        self._base = -1
        self._singles = {}

    def bytes(self):
        """Return all rows, valid until the next change."""
        return memoryview(self._data)[: self.end]

    @property
    def is_nearly_full(self) -> bool:
        return self.end >= 3 * len(self._data) // 4

    @property
    def first_slot(self) -> int:
        return unpack_from("<I", self._data, 4)[0]

    def add(self, number: int, slot: int, aggregate: tuple) -> bool:
        """Add a sense's aggregate; False if it is full."""
        count, low, high, mean, last = aggregate
        shift = 0
        while low >> shift < _LOWEST or high >> shift > _HIGHEST:
            shift += 1
        if count == 1 and self._join(number, slot, last >> shift, shift):
            return True
        if self.end + 2 * SIZE > len(self._data):
            return False
        if self._base < 0 or not 0 <= slot - self._base <= _FAR:
            pack_into(_BASE_ROW, self._data, self.end, _BASE, 0, 0, slot, 0)
            self._base = slot
            self.end += SIZE
        if count == 1:
            self._singles[number] = self.end, slot + 1
            count = _SINGLES + 1
        else:
            count = min(_SINGLES, count)
        values = low >> shift, high >> shift, mean >> shift, last >> shift
        pack_into(_ROW, self._data, self.end, number, slot - self._base, count | shift << _COUNT_BITS, *values)
        self.end += SIZE
        return True

    def _join(self, number: int, slot: int, value: int, shift: int) -> bool:
        at, following = self._singles.get(number, (0, -1))
        if slot != following:
            return False
        (coded,) = unpack_from("<H", self._data, at + 2)
        place = (coded & 0xFFF) - _SINGLES
        if place == 4 or coded >> _COUNT_BITS != shift:
            return False
        pack_into("<H", self._data, at + 2, coded + 1)
        pack_into("<h", self._data, at + 4 + 2 * place, value)
        self._singles[number] = at, slot + 1
        return True


def rows_in(data, number: int = -1):
    base = 0
    for at in range(0, len(data) - SIZE + 1, SIZE):
        if data[at] == _BASE:
            (base,) = unpack_from("<I", data, at + 4)
            continue
        if number >= 0 and data[at] != number:
            continue
        which, slot, coded, low, high, mean, last = unpack_from(_ROW, data, at)
        slot, count, shift = slot + base, coded & 0xFFF, coded >> _COUNT_BITS
        if count > _SINGLES:
            for value in (low, high, mean, last)[: count - _SINGLES]:
                value <<= shift
                yield which, slot, (1, value, value, value, value)
                slot += 1
            continue
        yield which, slot, (count, low << shift, high << shift, mean << shift, last << shift)


def bases_in(data):
    """Yield the rows' bases, from which slots are at most `REACH` away."""
    for at in range(0, len(data), SIZE):
        if data[at] == _BASE:
            yield unpack_from("<I", data, at + 4)[0]


REACH = _FAR + 3


_MAGIC = const(0xB6)
_HEAD = const("<BBHII")
_LARGEST_FILE = const(262144)  # bytes; a file is read whole
_POINTERS = const(64)  # bytes of a file's blocks that littlefs needs


class Block(namedtuple("Block", "seq check until data")):
    """A block's bytes; `seq` is file number << 16 plus the row at which it ends."""

    @property
    def rows(self):
        return self.data[SIZE:]

    @property
    def size(self) -> int:
        return len(self.data)

    def pieces(self):
        yield self.data


def block_at(data, at: int = 0, number: int = 0):
    """Return the whole Block at an offset, or None."""
    if at + SIZE > len(data) or data[at] != _MAGIC:
        return None
    _, _, count, until, check = unpack_from(_HEAD, data, at)
    end = at + SIZE + count * SIZE
    view = memoryview(data)
    if end > len(data) or crc32(view[at + SIZE : end], crc32(view[at : at + 8])) != check:
        return None
    return Block(number << 16 | end // SIZE, check, until, view[at:end])


class Ring:
    """A ring of at most `most_files` files of `file_bytes` each."""

    def __init__(self, folder: str, name: str, most_files: int, file_bytes: int):
        self._base = folder + "/" + name + "."
        self._folder = folder
        self._prefix = name + "."
        self.most_files = most_files
        self._file_bytes = file_bytes - _POINTERS
        self.sizes = {}
        self._spans = {}
        self.newest = 0
        """Number of the growing file, or of the next one."""
        self.until = self.check = 0
        self._is_sound = False

    def open(self) -> None:
        self.sizes, self._spans = {}, {}
        for name in files.names(self._folder):
            if name.startswith(self._prefix) and name[len(self._prefix) :].isdigit():
                number = int(name[len(self._prefix) :])
                self.sizes[number] = files.size(self._path(number))
        self.newest = max(self.sizes) if self.sizes else self.newest
        self.until = self.check = 0
        self._is_sound = False
        for number in sorted(self.sizes, reverse=True):
            block = None
            for block in self.blocks(number):  # noqa: B007
                pass
            if block:
                self.until, self.check = block.until, block.check
                self._is_sound = number == self.newest and (block.seq & 0xFFFF) * SIZE == self.sizes[number]
                return

    def leaving(self, size: int) -> int:
        """Return the number of the file to remove before rows of a size fit, or 0."""
        return 0 if self._has_room(size) or len(self.sizes) < self.most_files else min(self.sizes)

    def _has_room(self, size: int) -> bool:
        return self._is_sound and self.sizes.get(self.newest, 0) + SIZE + size <= self._file_bytes

    def remove(self, number: int) -> None:
        files.remove(self._path(number))
        del self.sizes[number]
        self._spans.pop(number, None)
        self._is_sound = self._is_sound and number != self.newest

    def append(self, rows, until: int = 0) -> None:
        """Append a block of rows; StoreFull or StoreError leave none of it."""
        head = pack("<BBHI", _MAGIC, 0, len(rows) // SIZE, until)
        check = crc32(rows, crc32(head))
        if not self._has_room(len(rows)):
            self.newest += 1
            self.sizes[self.newest] = 0
            self._is_sound = True
        path = self._path(self.newest)
        try:
            with open(path, "ab") as file:
                file.write(head + pack("<I", check))
                file.write(rows)
        except OSError as error:
            self.open()  # a part of the block may be there, or even all of it
            if self.check != check:
                raise files.failure(error, path) from None
            return
        self.sizes[self.newest] += SIZE + len(rows)
        self._spans.pop(self.newest, None)
        self.until, self.check = until, check

    def blocks(self, number: int):
        """Yield the whole blocks of a file."""
        data = files.read(self._path(number), _LARGEST_FILE) or b""
        at = 0
        while at < len(data):
            block = block_at(data, at, number)
            at += block.size if block else SIZE
            if block:
                yield block

    def rows(self, first: int = 0, last: int = 1 << 32):
        """Yield the rows of each block that may have slots from `first` to `last`, oldest first."""
        for number in sorted(self.sizes):
            low, high = self.span(number)
            if low <= last and high >= first:
                for block in self.blocks(number):
                    yield block.rows

    def span(self, number: int) -> tuple:
        """Return a file's lowest slot, and its highest possible one."""
        found = self._spans.get(number)
        if found is None:
            bases = [base for block in self.blocks(number) for base in bases_in(block.rows)]
            found = self._spans[number] = (min(bases), max(bases) + REACH) if bases else (1 << 32, 0)
        return found

    def next_block(self, seq: int, check: int):
        """Return the block after (seq, check) or None; the oldest one if the flash went back."""
        is_known = not self.sizes or seq >> 16 < min(self.sizes)
        for number in sorted(self.sizes):
            for block in self.blocks(number) if number >= seq >> 16 else ():
                if is_known and block.seq > seq:
                    return block
                is_known = is_known or (block.seq, block.check) == (seq, check)
        return None if is_known else self.next_block(0, 0)

    def _path(self, number: int) -> str:
        return self._base + "%04d" % number


MINUTE_LEVEL, HOUR_LEVEL = 0, 1
_SLOT_MINUTES = (1, 60)  # of a slot of each level

_FEWEST_FILES = const(64)
_SLICE = const(128)  # minutes that are added up at once: more would keep others waiting
_SMALLEST_FILE = const(4096)  # bytes, a block of the flash
_LARGEST_OF_RING = const(16384)


class History:
    def __init__(self, folder: str, most_bytes: int):
        size = most_bytes // _FEWEST_FILES // _SMALLEST_FILE * _SMALLEST_FILE
        self.file_bytes = max(_SMALLEST_FILE, min(_LARGEST_OF_RING, size))
        count = most_bytes // self.file_bytes
        minutes = max(3, count // 3)
        self.minutes = Ring(folder, "minutes", minutes, self.file_bytes)
        self.hours = Ring(folder, "hours", count - minutes, self.file_bytes)
        self.rings = self.minutes, self.hours
        self._folding = None

    def open(self) -> None:
        for ring in self.rings:
            ring.open()
        for number in sorted(self.minutes.sizes):
            if number <= self.hours.until:
                self.minutes.remove(number)
        self.minutes.newest = max(self.minutes.newest, self.hours.until)

    def append(self, rows) -> None:
        """Append minutes; StoreFull or StoreError."""
        while self.minutes.leaving(rows.end):
            self.fold()
        self.minutes.append(rows.bytes())

    def fold(self) -> bool:
        """Turn a slice of the oldest minutes into hours if no file is left; True if there is more."""
        if len(self.minutes.sizes) < self.minutes.most_files:
            return False
        self._folding = self._folding or self._fold(min(self.minutes.sizes))
        return next(self._folding, False)

    def _fold(self, number: int):
        """Yield True after each slice; at the end the hours are on flash in place of the minutes."""
        try:
            found = yield from self._hours_of(MINUTE_LEVEL, number)
            rows = RowBuffer(2 * SIZE * (len(found) + 1))
            for hour, sense in sorted(found):
                rows.add(sense, hour, aggregate_of(found[hour, sense]))
            leaving = self.hours.leaving(rows.end)
            if leaving:
                self.hours.remove(leaving)
            self.hours.append(rows.bytes(), number)
            self.minutes.remove(number)
        finally:
            self._folding = None

    def range(self, sense: int, first: int, last: int, level: int, pending) -> dict:
        """Return a sense's sums by slot of a level; `pending` are unwritten minutes."""
        found = {}
        for source in range(level, -1, -1):  # older first
            size = _SLOT_MINUTES[level] // _SLOT_MINUTES[source]
            for rows in self.rings[source].rows(first * size, last * size + size - 1):
                _collect(found, rows, sense, size, first, last)
        _collect(found, pending, sense, _SLOT_MINUTES[level], first, last)
        return found

    def past_hours(self):
        """Yield (sense, hour, mean) of all hours, oldest first, and True between slices."""
        for level in (HOUR_LEVEL, MINUTE_LEVEL):
            for number in sorted(self.rings[level].sizes):
                found = yield from self._hours_of(level, number)
                for hour, sense in sorted(found):
                    yield sense, hour, aggregate_of(found[hour, sense])[3]

    def _hours_of(self, level: int, number: int):
        """Yield True after each slice of a file's rows; return their sums by (hour, sense)."""
        found, left = {}, _SLICE
        for block in self.rings[level].blocks(number):
            for sense, slot, aggregate in rows_in(block.rows):
                add_to(found, (slot * _SLOT_MINUTES[level] // 60, sense), aggregate)
                left -= 1
                if not left:
                    left = _SLICE
                    yield True
        yield True
        return found

    def has_minute(self, slot: int) -> bool:
        """True if all minutes since a slot are still there."""
        return not self.hours.sizes or any(self.minutes.span(number)[0] <= slot for number in self.minutes.sizes)


def _collect(found: dict, rows, sense: int, size: int, first: int, last: int) -> None:
    for _, slot, aggregate in rows_in(rows, sense):
        if first <= slot // size <= last:
            add_to(found, slot // size, aggregate)
