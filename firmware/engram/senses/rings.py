"""Rings of blocks on flash: files to which blocks are only appended; the oldest is removed at the cap.

    NAME.0001, NAME.0002 ...     the highest number is the file that grows

Nothing is rewritten in place: an append costs one erase whatever the size of the ring, and a power cut leaves each block whole
or not there. A block:

    magic (1 byte), version (1), size of the block (2), seq (4), until (4), lowest slot (4), highest slot (4), crc32 of all
    other bytes (4); then of each sense its number (1), the size of its bits (1 or 2, the lower 7 bits first), its bits

`seq` counts a ring's blocks. `until` is the last block of the next finer ring that has gone into this one: so what has been
folded is known from the result alone. What is damaged is passed over: reading goes on at the next whole block.
"""

from binascii import crc32
from struct import calcsize, pack, unpack_from

from engram import files
from engram.compat import const

_MAGIC = const(0xB5)
_VERSION = const(1)
_HEAD = const("<BBHIIIII")
_HEAD_SIZE = calcsize("<BBHIIIII")
_CRC_AT = _HEAD_SIZE - 4
LARGEST_BLOCK = const(65000)  # bytes; its size has 16 bits
_LARGEST_FILE = const(131072)  # bytes; a file is read whole
_FLASH_BLOCK = const(4096)
_PER_BLOCK = const(256)  # one byte in 256, or a little less, is littlefs's own


def flash_bytes(size: int) -> int:
    """The bytes of the flash that a file of a size takes."""
    return (size + size // _PER_BLOCK + _FLASH_BLOCK - 1) // _FLASH_BLOCK * _FLASH_BLOCK


class Block:
    """A block of a ring: `parts` has the bits of each sense."""

    def __init__(self, head: tuple, parts):
        self._head = head
        self.seq = head[3]
        self.until = head[4]
        self.first = head[5]
        self.last = head[6]
        self.parts = parts

    def numbers(self) -> list:
        """The numbers of the senses that it has."""
        return [number for number, _ in _split(self.parts)]

    @property
    def check(self) -> int:
        """The crc32 at the end of its head: a block with the same seq and check is the same one."""
        return self._head[7]

    @property
    def size(self) -> int:
        """Its bytes on flash."""
        return self._head[2]

    def pieces(self):
        """Yield its bytes as they are on flash."""
        yield pack(_HEAD, *self._head)
        yield self.parts

    def bits_of(self, number: int):
        """The bits of a sense, None if it has none."""
        for other, bits in _split(self.parts):
            if other == number:
                return bits
        return None


def block_at(data, at: int = 0):
    """The whole block that begins at a byte of some data, None if there is none."""
    if at + _HEAD_SIZE > len(data):
        return None
    head = unpack_from(_HEAD, data, at)
    end = at + head[2]
    if head[0] != _MAGIC or head[1] != _VERSION or not at + _HEAD_SIZE <= end <= len(data):
        return None
    view = memoryview(data)
    if head[7] != crc32(view[at + _HEAD_SIZE : end], crc32(view[at : at + _CRC_AT])):
        return None
    return Block(head, view[at + _HEAD_SIZE : end])


def _split(parts):
    at = 0
    while at + 2 < len(parts):
        number, size = parts[at], parts[at + 1]
        at += 2
        if size & 0x80:
            size = (size & 0x7F) | parts[at] << 7
            at += 1
        yield number, parts[at : at + size]
        at += size


def part(number: int, bits: bytes) -> bytes:
    """A sense's part of a block; the sizes have 15 bits, and what a caller makes has less."""
    size = len(bits)
    return bytes((number, size) if size < 0x80 else (number, size & 0x7F | 0x80, size >> 7)) + bits


class Ring:
    """The ring NAME in a folder, of `cap` bytes at most in files of about `file_bytes`."""

    def __init__(self, folder: str, name: str, cap: int, file_bytes: int):
        self.name = name
        self._base = folder + "/" + name + "."
        self._folder = folder
        self.cap = cap
        self._file_bytes = file_bytes - file_bytes // _PER_BLOCK  # littlefs needs a few bytes of each of its blocks
        self._most_bytes = min(2 * file_bytes, cap // 2)  # of a file that has grown beyond its size
        self.files = []
        """[number, bytes, first seq, last seq, lowest slot, highest slot] of each file; the figures are None until they are
        asked for."""
        self.next_seq = 1
        self.until = 0
        self._is_sound = True  # whether the newest file ends with a whole block

    @property
    def size(self) -> int:
        """Bytes of the flash that all files take."""
        return sum([flash_bytes(entry[1]) for entry in self.files])

    def open(self, names=None) -> None:
        """Find the files and the newest block; `names` are those of the folder, if they are known."""
        prefix = self.name + "."
        numbers = []
        for name in files.names(self._folder) if names is None else names:
            if name.startswith(prefix) and name[len(prefix) :].isdigit():
                numbers.append(int(name[len(prefix) :]))
        numbers.sort()
        self.files = [[number, files.size(self._path(number)), None, None, None, None] for number in numbers]
        self.next_seq, self.until, self._is_sound = 1, 0, True
        for entry in reversed(self.files):
            block, end = None, 0
            for block, end in self._read(entry):  # noqa: B007
                pass
            if entry is self.files[-1]:
                self._is_sound = end == entry[1]
            if block is not None:
                self.next_seq, self.until = block.seq + 1, block.until
                break

    def append(self, parts: bytes, until: int, first: int, last: int) -> None:
        """Append a block; StoreFull or StoreError when the flash refuses: then it is not there."""
        head = pack("<BBHIIII", _MAGIC, _VERSION, _HEAD_SIZE + len(parts), self.next_seq, until, first, last)
        data = head + pack("<I", crc32(parts, crc32(head))) + parts
        has_room = self._has_room(len(data))
        for leaving in self._leaving(len(data)):
            files.remove(self._path(leaving[0]))
            self.files.remove(leaving)
        if not has_room:
            self._is_sound = True
            self.files.append([self.files[-1][0] + 1 if self.files else 1, 0, 0, 0, 0, 0])
        entry, seq = self.files[-1], self.next_seq
        self._look(entry)
        try:
            with open(self._path(entry[0]), "ab") as file:
                file.write(data)
        except OSError as error:
            # A part of the block may be there, or even all of it.
            self.open()
            if self.next_seq == seq:
                raise files.failure(error, self._path(entry[0])) from None
            return
        entry[1] += len(data)
        _note(entry, seq, first, last)
        self.until = until
        self.next_seq = seq + 1

    def _has_room(self, size: int) -> bool:
        """Whether the newest file takes a block of a size: also a full one, if much of its last flash block is free."""
        if not self.files or not self._is_sound:
            return False
        used = self.files[-1][1]
        if used + size <= self._file_bytes:
            return True
        return used * 10 < flash_bytes(used) * 9 and flash_bytes(used + size) <= self._most_bytes

    def _leaving(self, size: int) -> list:
        """The files that a block of a size makes leave."""
        total, leaving = self.size + flash_bytes(size), []
        if self._has_room(size):
            used = self.files[-1][1]
            total = self.size + flash_bytes(used + size) - flash_bytes(used)
        for entry in self.files[:-1]:
            if total <= self.cap:
                break
            leaving.append(entry)
            total -= flash_bytes(entry[1])
        return leaving

    def leaving_seq(self, size: int) -> int:
        """The last seq of what a block with parts of a size makes leave, 0 if nothing."""
        for entry in reversed(self._leaving(_HEAD_SIZE + size)):
            self._look(entry)
            if entry[3]:
                return entry[3]
        return 0

    def blocks(self, after: int = 0, first: int = 0, last: int = 1 << 32):
        """Yield the blocks after a seq that may have slots from `first` to `last`, oldest first."""
        for entry in list(self.files):
            self._look(entry)
            if entry[3] and entry[3] > after and entry[4] <= last and entry[5] >= first:
                for block, _ in self._read(entry):
                    if block.seq > after and block.first <= last and block.last >= first:
                        yield block

    def next_block(self, seq: int, check: int):
        """The block after the one with a seq and a check, None if there is none.

        Where there is no such block since the ring went back to an older state, the oldest one.
        """
        start = 0
        for at in range(len(self.files) - 1, -1, -1):
            entry = self.files[at]
            self._look(entry)
            if entry[2] and entry[2] <= seq:
                start = at
                break
        for entry in self.files[start:] if seq < self.next_seq else ():
            for block, _ in self._read(entry):
                if block.seq > seq:
                    return block
                if block.seq == seq and block.check != check:
                    return self.next_block(0, 0)
        return self.next_block(0, 0) if seq >= self.next_seq and self.next_seq > 1 else None

    def spans(self, after: int = 0):
        """Yield (lowest slot, highest slot) of each file that has blocks after a seq."""
        for entry in self.files:
            self._look(entry)
            if entry[3] and entry[3] > after:
                yield entry[4], entry[5]

    def _look(self, entry: list) -> None:
        """Find a file's figures, once: it only grows through append()."""
        if entry[3] is None:
            entry[2:] = [0, 0, 0, 0]
            for block, _ in self._read(entry):
                _note(entry, block.seq, block.first, block.last)

    def _read(self, entry: list):
        """Yield (block, where it ends) of each whole block of a file."""
        path = self._path(entry[0])
        data = files.read(path, _LARGEST_FILE) or b""
        at = 0
        while at + _HEAD_SIZE <= len(data):
            block = block_at(data, at)
            if block is not None:
                at += block.size
                yield block, at
                continue
            following = data.find(bytes((_MAGIC, _VERSION)), at + 1)
            at = following if following >= 0 else len(data)

    def _path(self, number: int) -> str:
        return self._base + "%04d" % number


def _note(entry: list, seq: int, first: int, last: int) -> None:
    """Take a block into its file's figures."""
    if entry[3]:
        entry[3:] = [seq, min(entry[4], first), max(entry[5], last)]
    else:
        entry[2:] = [seq, seq, first, last]
