"""What a file keeps of an index: arrays, which are mapped where they stand, and a header that says what they are.

    magic, 8 bytes    length of the header, 4    crc32 of the header, 4    the header as JSON    the arrays

The header has for each array its name, type, shape, place and crc32; places are multiples of 64 bytes. A file that is cut, has
a byte changed, or is of another format is refused as a whole: an index can always be made again.
"""

import json
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.search.indexes.columns import Arrays
from engram_host.companion.search.indexes.mapping import map_file

FORMAT = 1
"""One more whenever what stands in a file changes its form or its meaning."""

MAGIC = b"EngramIx"
MOST_HEADER = 1 << 28
_LENGTHS = struct.Struct("<II")
_ALIGNED = 64


class BadImage(Exception):
    """A file is no index, or a damaged one; the message says what is wrong."""


@dataclass(frozen=True)
class IndexImage:
    """Arrays by "table.name", and facts as JSON has them."""

    arrays: Mapping[str, NDArray[Any]]
    facts: dict[str, Any]

    @classmethod
    def from_tables(cls, tables: Mapping[str, Arrays], facts: dict[str, Any]) -> "IndexImage":
        """Of the arrays of some tables."""
        arrays = {f"{table}.{name}": array for table, of_table in tables.items() for name, array in of_table.items()}
        return cls(arrays, facts)

    def table(self, name: str) -> dict[str, NDArray[Any]]:
        """The arrays of one table."""
        return {key[len(name) + 1 :]: array for key, array in self.arrays.items() if key.startswith(name + ".")}


def write_image(file: BinaryIO, image: IndexImage) -> None:
    """Write an image, synced to the disk. OSError."""
    places: dict[str, Any] = {}
    at = 0
    for name, array in image.arrays.items():
        data = np.ascontiguousarray(array)
        places[name] = [data.dtype.str, data.shape, at, crc32(data.data.cast("B") if data.size else b"")]
        at += -(-data.nbytes // _ALIGNED) * _ALIGNED
    header = json.dumps({"format": FORMAT, "size": at, "arrays": places, "facts": image.facts}).encode()
    file.write(MAGIC + _LENGTHS.pack(len(header), crc32(header)) + header)
    file.write(bytes(-file.tell() % _ALIGNED))
    for array in image.arrays.values():
        data = np.ascontiguousarray(array)
        file.write(data.data.cast("B") if data.size else b"")
        file.write(bytes(-data.nbytes % _ALIGNED))
    file.flush()
    os.fsync(file.fileno())


def read_facts(file: BinaryIO) -> IndexImage:
    """The facts of a file, without its arrays, which are not looked at. BadImage, ValueError, OSError."""
    return IndexImage({}, _read_header(file)["facts"])


def map_image(file: BinaryIO) -> IndexImage:
    """Map a file once all of it was checked; what is changed in its arrays is changed in memory only, and no descriptor is
    kept. BadImage, ValueError, OSError.
    """
    header = _read_header(file)
    first = file.tell() + -file.tell() % _ALIGNED
    if os.fstat(file.fileno()).st_size != first + header["size"]:
        raise BadImage("its size is not the one that its header says")
    mapped = map_file(file.fileno(), first + header["size"])
    arrays: dict[str, NDArray[Any]] = {}
    for name, (kind, shape, at, crc) in header["arrays"].items():
        has_numbers = bool(np.prod(shape))
        array = np.ndarray(shape, kind, mapped, first + at) if has_numbers else np.zeros(shape, kind)
        if crc32(array.data.cast("B") if has_numbers else b"") != crc:
            raise BadImage(f"{name} is damaged")
        arrays[name] = array
    return IndexImage(arrays, header["facts"])


def _read_header(file: BinaryIO) -> dict[str, Any]:
    begin = file.read(len(MAGIC) + _LENGTHS.size)
    if not begin.startswith(MAGIC) or len(begin) < len(MAGIC) + _LENGTHS.size:
        raise BadImage("it does not begin as an index does")
    length, crc = _LENGTHS.unpack(begin[len(MAGIC) :])
    header = file.read(length) if length <= MOST_HEADER else b""
    if len(header) != length or crc32(header) != crc:
        raise BadImage("its header is damaged")
    found = json.loads(header)
    if found["format"] != FORMAT:
        raise BadImage("it is of another version")
    return found
