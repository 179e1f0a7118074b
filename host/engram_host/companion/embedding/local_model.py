"""A model on this machine: its files, their check, and its parts."""

import hashlib
import importlib.util
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

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


class LocalModel(ABC):
    """A model in a package that is never imported; only its files are read."""

    name: str
    dimensions: int
    package: str
    digests: Mapping[str, str]
    """SHA-256 of the files by name."""

    source: str
    install: str
    bring_back: str
    inner = ""

    def folder(self) -> Path:
        """Return the folder of the files, not checked; raises EmbedderRefused if not installed."""
        found = importlib.util.find_spec(self.package)
        for place in (found.submodule_search_locations or ()) if found else ():
            folder = Path(place) / self.inner
            if all((folder / name).is_file() for name in self.digests):
                return folder
        raise EmbedderRefused(f"the local embedding model is not installed: {self.install}.")

    @property
    def is_installed(self) -> bool:
        try:
            self.folder()
        except EmbedderRefused:
            return False
        return True

    def check(self, folder: Path) -> None:
        """Check the files completely; raises EmbedderRefused."""
        for name, expected in self.digests.items():
            try:
                with (folder / name).open("rb") as file:
                    found = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise EmbedderRefused(
                    f"the local model's {name} cannot be read ({error.strerror}); {self.bring_back} brings it back."
                ) from None
            if found != expected:
                raise EmbedderRefused(
                    f"the local model's {name} is not the one that {self.source} publishes, so it is not used;"
                    f" {self.bring_back} brings the right one back."
                )

    @abstractmethod
    def load(self, folder: Path) -> ModelParts:
        """Read checked files; raises ImportError without the extra `onnx`."""
