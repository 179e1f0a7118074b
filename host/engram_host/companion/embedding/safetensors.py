"""Weights as views into a safetensors file.

The words' vectors, more than half of the file, are read from it a row at a time: of a mapped table each row that is looked at
brings 64 KB of its neighbours, and after some hundred texts all of it was resident.

The format is safetensors: the length of a header in 8 bytes, little endian; the header, JSON; then the numbers.
"""

import json
import mmap
import os
from pathlib import Path

import numpy as np

from engram_host.companion.errors import EmbedderRefused

_MOST_HEADER_BYTES = 1 << 20
"""The longest header that is read: a damaged length must not fill the memory."""


WORDS = "embeddings.word_embeddings.weight"


class RowsOnDisk:
    """A table of float32 in a file: rows[ids] reads those rows, of the same shape and values as an array would give."""

    def __init__(self, path: Path, at: int, shape: tuple[int, int]):
        self.shape = shape
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._at = at
        self._row_bytes = 4 * shape[1]

    def __getitem__(self, ids: np.ndarray) -> np.ndarray:
        """The rows with these numbers, in their order; IndexError if there is no such row."""
        distinct, places = np.unique(ids, return_inverse=True)
        if len(distinct) and not 0 <= distinct[0] <= distinct[-1] < self.shape[0]:
            raise IndexError("a row beyond the table")
        read = (
            os.pread(self._file, self._row_bytes, self._at + number * self._row_bytes) for number in distinct.tolist()
        )
        return np.frombuffer(b"".join(read), np.dtype("<f4")).reshape(len(distinct), -1)[places]

    def __del__(self) -> None:
        os.close(self._file)


def map_weights(path: Path, bring_back: str) -> "dict[str, np.ndarray | RowsOnDisk]":
    """The float32 tensors of a safetensors file by their names, read-only; EmbedderRefused if it is not whole.

    `bring_back` is the command that brings the file back.
    """
    try:
        with path.open("rb") as file:
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        size = int.from_bytes(whole[:8], "little")
        if size > _MOST_HEADER_BYTES:
            raise ValueError("its header is too long")
        tensors = json.loads(whole[8 : 8 + size])
        tensors.pop("__metadata__", None)
        found: dict[str, np.ndarray | RowsOnDisk] = {
            name: _view(whole, 8 + size, tensor) for name, tensor in tensors.items() if tensor["dtype"] == "F32"
        }
        if WORDS in found:
            rows, width = found[WORDS].shape
            found[WORDS] = RowsOnDisk(path, 8 + size + tensors[WORDS]["data_offsets"][0], (rows, width))
        return found
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EmbedderRefused(
            f"the local model's weights cannot be read ({error}); {bring_back} brings them back."
        ) from error


def _view(whole: mmap.mmap, base: int, tensor: dict) -> np.ndarray:
    start, end = tensor["data_offsets"]
    numbers = np.frombuffer(whole, np.dtype("<f4"), (end - start) // 4, base + start)
    return numbers.reshape(tensor["shape"])
