"""A model whose files are on this machine: where they are, that they are the expected ones, its parts."""

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
"""The weight that has the sum of a place's vector and of the only kind of text that is used."""


class RowsOnDisk:
    """A table in a file, read a row at a time: a mapped one would be resident after some hundred texts."""

    def __init__(self, path: Path, at: int, width: int, row_bytes: int, unpack: Callable[[bytes], Array]):
        self.width = width
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self._at = at
        self._row_bytes = row_bytes
        self._unpack = unpack

    def __getitem__(self, ids: NDArray) -> Array:
        """Return the rows with these numbers, in their order."""
        distinct, places = np.unique(ids, return_inverse=True)
        size = self._row_bytes
        read = (os.pread(self._file, size, self._at + number * size) for number in distinct.tolist())
        return self._unpack(b"".join(read)).reshape(len(distinct), self.width)[places]

    def __del__(self) -> None:
        os.close(self._file)


@dataclass(frozen=True)
class ModelParts:
    """Contents of a model's files."""

    tokens: Callable[[str, Kind], list[int]]
    """The numbers of a text's tokens, the model's marks included; at least one."""

    words: RowsOnDisk
    read_weights: Callable[[], Iterator[tuple[str, Array]]]
    """All weights but the words' vectors, by the names that BERT gives them."""

    layers: int
    heads: int
    digest: str
    """SHA-256 of the file of the weights, in hexadecimal."""


class LocalModel(Protocol):
    """A model whose files are on this machine."""

    name: str
    dimensions: int

    def folder(self) -> Path:
        """Find its files, not checked; EmbedderRefused if they are not installed."""
        ...

    def check(self, folder: Path) -> None:
        """Read the files to their end; EmbedderRefused if one is not the expected one."""
        ...

    def load(self, folder: Path) -> ModelParts:
        """Read files that were checked. ImportError if the extra `onnx` is not installed."""
        ...


def find_model(package: str, names: Sequence[str], install: str, inner: str = "") -> Path:
    """Find the files `names` of a package that is never imported; EmbedderRefused, with `install`, if they are not there."""
    found = importlib.util.find_spec(package)
    for place in (found.submodule_search_locations or ()) if found else ():
        folder = Path(place) / inner
        if all((folder / name).is_file() for name in names):
            return folder
    raise EmbedderRefused(f"the local embedding model is not installed: {install}.")


def is_installed(model: LocalModel) -> bool:
    """True if the model's files are there; they may still be the wrong ones."""
    try:
        model.folder()
    except EmbedderRefused:
        return False
    return True


def check_files(folder: Path, digests: Mapping[str, str], source: str, bring_back: str) -> None:
    """Read the files to their end; EmbedderRefused if the SHA-256 of one is not the expected one.

    `digests` are by the file's name, `source` is who publishes them, `bring_back` the command that brings them back.
    """
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
