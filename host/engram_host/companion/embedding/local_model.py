"""A model on this machine: its files, their check, and its parts."""

import hashlib
import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.embedding.embedder import Kind
from engram_host.companion.errors import EmbedderRefused

Array = NDArray[np.float32]

POSITIONS = "embeddings.positions"
"""Weight with the sum of a place's vector and that of the only text kind in use."""


class RowsOnDisk:
    """Table in a file, read row by row: a mapping would soon be resident."""

    def __init__(self, path: Path, at: int, width: int, row_bytes: int, unpack: Callable[[bytes], Array]):
        self.width = width
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._at = at
        self._row_bytes = row_bytes
        self._unpack = unpack

    def __getitem__(self, ids: NDArray) -> Array:
        """Return the rows with these numbers, in order."""
        distinct, places = np.unique(ids, return_inverse=True)
        size = self._row_bytes
        read = (os.pread(self._file, size, self._at + number * size) for number in distinct.tolist())
        return self._unpack(b"".join(read)).reshape(len(distinct), self.width)[places]

    def __del__(self) -> None:
        os.close(self._file)


@dataclass(frozen=True)
class ModelParts:
    tokens: Callable[[str, Kind], list[int]]
    """Numbers of a text's tokens with the model's marks; at least one."""

    words: RowsOnDisk
    read_weights: Callable[[], Iterator[tuple[str, Array]]]
    """Weights except the words' vectors, by BERT's names."""

    layers: int
    heads: int
    digest: str


class LocalModel(Protocol):
    name: str
    dimensions: int

    def folder(self) -> Path:
        """Return the folder of the files, not checked; raises EmbedderRefused if not installed."""
        ...

    def check(self, folder: Path) -> None:
        """Check the files completely; raises EmbedderRefused."""
        ...

    def load(self, folder: Path) -> ModelParts:
        """Read checked files; raises ImportError without the extra `onnx`."""
        ...


def find_model(package: str, names: Sequence[str], install: str, inner: str = "") -> Path:
    """Find files of a package without an import; raises EmbedderRefused with `install`."""
    found = importlib.util.find_spec(package)
    for place in (found.submodule_search_locations or ()) if found else ():
        folder = Path(place) / inner
        if all((folder / name).is_file() for name in names):
            return folder
    raise EmbedderRefused(f"the local embedding model is not installed: {install}.")


def is_installed(model: LocalModel) -> bool:
    try:
        model.folder()
    except EmbedderRefused:
        return False
    return True


def check_files(folder: Path, digests: Mapping[str, str], source: str, bring_back: str) -> None:
    """Check SHA-256 of files by name; raises EmbedderRefused with the command `bring_back`."""
    for name, expected in digests.items():
        try:
            with (folder / name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise EmbedderRefused(
                f"the local model's {name} cannot be read ({error.strerror}); {bring_back} brings it back."
            ) from None
        if found != expected:
            raise EmbedderRefused(
                f"the local model's {name} is not the one that {source} publishes, so it is not used;"
                f" {bring_back} brings the right one back."
            )
