"""Reads the rows of an SQLite file page by page, without the trees that lead to them: what a damaged file still has.

https://www.sqlite.org/fileformat2.html describes the format. A page that is no leaf of a tree, or is damaged, gives nothing;
a row that does not fit its page is passed over. SQLite's secure_delete, which the companion sets, leaves no deleted rows.
"""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MAGIC = b"SQLite format 3\0"
_PAGE_SIZE = 4096
"""That of SQLite, where the file's head is damaged."""

_WAL_HEAD, _FRAME_HEAD = 32, 24
_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR = 0x0D, 0x0A, 0x02
_MOST_OVERFLOW = 1024
"""Pages of one row: bounds what a damaged chain of pages costs; no row of ours takes 100."""

_INTEGER_SIZES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_REAL, _BLOB = 7, 12
"""Types of values: from _BLOB on they are bytes; odd ones from there on are texts."""

Values = list[Any]


@dataclass(frozen=True)
class FoundRow:
    """A row of a table with a rowid, or one of an index, as which SQLite keeps a table WITHOUT ROWID."""

    has_rowid: bool
    rowid: int
    values: Values


class SqlitePages:
    """The pages of a file, as its write-ahead log says that they are now."""

    def __init__(self, path: Path):
        """OSError."""
        with path.open("rb") as file:
            # Mapped, not read: it may be larger than the memory.
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""
        head = self._data[:100]
        size = int.from_bytes(head[16:18]) if head.startswith(_MAGIC) else _PAGE_SIZE
        self.page_size = 65536 if size == 1 else size if size >= 512 and size & (size - 1) == 0 else _PAGE_SIZE
        reserved = head[20] if head.startswith(_MAGIC) else 0
        self._usable = self.page_size - reserved
        self.logged = _committed(path.with_name(path.name + "-wal"), self.page_size)
        """The pages that stand in the write-ahead log, by number."""

    def rows(self) -> Iterator[FoundRow]:
        """All rows of all tables and indexes that can be read."""
        count = max([-(-len(self._data) // self.page_size), *self.logged])
        for number in range(1, count + 1):
            yield from self._rows_of(number)

    def _page(self, number: int) -> bytes:
        return self.logged.get(number) or self._data[(number - 1) * self.page_size : number * self.page_size]

    def _rows_of(self, number: int) -> Iterator[FoundRow]:
        page = self._page(number)
        head = 100 if number == 1 else 0
        if len(page) < self.page_size or page[head] not in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR):
            return
        begin = head + (12 if page[head] == _INDEX_INTERIOR else 8)
        count = int.from_bytes(page[head + 3 : head + 5])
        for at in range(begin, min(begin + 2 * count, len(page) - 1), 2):
            try:
                yield self._row(page, page[head], int.from_bytes(page[at : at + 2]))
            except (ValueError, IndexError):
                continue  # this row is damaged; each one stands for itself

    def _row(self, page: bytes, kind: int, at: int) -> FoundRow:
        """The row that begins somewhere in a page; ValueError, IndexError."""
        if kind == _INDEX_INTERIOR:
            at += 4
        size, at = _varint(page, at)
        rowid, at = _varint(page, at) if kind == _TABLE_LEAF else (0, at)
        return FoundRow(kind == _TABLE_LEAF, rowid, _values(self._payload(page, kind, at, size)))

    def _payload(self, page: bytes, kind: int, at: int, size: int) -> bytes:
        most = self._usable - 35 if kind == _TABLE_LEAF else (self._usable - 12) * 64 // 255 - 23
        if size <= most:
            return _part(page, at, size)
        least = (self._usable - 12) * 32 // 255 - 23
        local = least + (size - least) % (self._usable - 4)
        local = local if local <= most else least
        data = bytearray(_part(page, at, local))
        following = int.from_bytes(_part(page, at + local, 4))
        for _ in range(_MOST_OVERFLOW):
            if len(data) >= size:
                return bytes(data[:size])
            if not following:
                break
            page = self._page(following)
            following = int.from_bytes(_part(page, 0, 4))
            data += page[4 : self._usable]
        raise ValueError("a row has fewer bytes than it says")


def _committed(wal: Path, page_size: int) -> dict[int, bytes]:
    """The pages of a write-ahead log up to its last commit; {} if there is none, or it cannot be read."""
    try:
        data = wal.read_bytes()
    except OSError:
        return {}
    salts = data[16:24]
    pages: dict[int, bytes] = {}
    waiting: dict[int, bytes] = {}
    for at in range(_WAL_HEAD, len(data) - _FRAME_HEAD - page_size + 1, _FRAME_HEAD + page_size):
        number, commit = int.from_bytes(data[at : at + 4]), int.from_bytes(data[at + 4 : at + 8])
        if data[at + 8 : at + 16] != salts or not number:
            break  # from here on they are of an earlier log
        waiting[number] = data[at + _FRAME_HEAD : at + _FRAME_HEAD + page_size]
        if commit:
            pages |= waiting
            waiting.clear()
    return pages


def _part(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise ValueError("a row ends beyond its page")
    return data[at : at + size]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of SQLite's own form, and where it ends."""
    value = 0
    for position in range(at, at + 8):
        byte = data[position]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, position + 1
    value = value << 8 | data[at + 8]
    return (value - (1 << 64) if value >> 63 else value), at + 9


def _values(record: bytes) -> Values:
    """The values of a record; ValueError, IndexError."""
    end, at = _varint(record, 0)
    body = end
    values: Values = []
    while at < end:
        kind, at = _varint(record, at)
        value, body = _value(record, kind, body)
        values.append(value)
    return values


def _value(record: bytes, kind: int, at: int) -> tuple[Any, int]:
    if kind == 0:
        return None, at
    if kind in (8, 9):
        return kind - 8, at
    size = _INTEGER_SIZES.get(kind)
    if size is not None:
        return int.from_bytes(_part(record, at, size), signed=True), at + size
    if kind == _REAL:
        return struct.unpack(">d", _part(record, at, 8))[0], at + 8
    if kind < _BLOB:
        raise ValueError("no table of ours has such values")
    size = (kind - _BLOB) // 2
    data = _part(record, at, size)
    return (data.decode() if kind & 1 else data), at + size
