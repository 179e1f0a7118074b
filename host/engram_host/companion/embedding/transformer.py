"""The encoder of BERT in numpy, for sentence vectors.

Devlin et al. 2018, "BERT: Pre-training of Deep Bidirectional Transformers"; mean pooling as in Reimers and Gurevych 2019,
"Sentence-BERT". Texts are not padded: the tokens of all texts of a batch stand beside each other in one matrix, which the
dense layers multiply at once, and attention runs over groups of texts of one length. So there is no mask either.

A matrix has a column for each token: OpenBLAS multiplies weight @ x up to twice as fast as x @ weight.T when tokens are few.

numpy's OpenBLAS starts a thread for each core and lets them spin between two products. Here threads are the caller's: each
computes whole batches, which scales better and leaves the other cores to the rest of the companion.
"""

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

_EPSILON = np.float32(1e-12)

# x * Phi(x) = x/2 * (1 + tanh(x * p(x^2))): least squares, reweighted towards the smallest maximum of the error, which
# is 3e-6 in float32. numpy has no erf, and its tanh runs in vector registers.
_GELU = tuple(
    np.float32(number)
    for number in (
        0.7978281360611548,
        0.03646879065361329,
        -0.00012486142521405072,
        -3.058104955316689e-05,
        1.1190847483113544e-06,
    )
)
_STRIP_NUMBERS = 32768
"""Numbers that GELU goes over at a time, so that its passes find them in the cache."""


@dataclass(frozen=True)
class _Dense:
    """weight @ x + bias."""

    weight: Array
    bias: Array

    def __call__(self, x: Array) -> Array:
        out = self.weight @ x
        out += self.bias[:, None]
        return out


@dataclass(frozen=True)
class _Norm:
    """Brings each column to mean 0 and deviation 1, then scales and shifts it; in place."""

    scale: Array
    shift: Array

    def __call__(self, x: Array) -> Array:
        x -= x.mean(axis=0)
        spread = np.einsum("ij,ij->j", x, x) / np.float32(len(x))
        x *= np.float32(1) / np.sqrt(spread + _EPSILON)
        x *= self.scale[:, None]
        x += self.shift[:, None]
        return x


@dataclass(frozen=True)
class _Layer:
    query: _Dense
    key: _Dense
    value: _Dense
    mixed: _Dense
    mixed_norm: _Norm
    wide: _Dense
    narrow: _Dense
    narrow_norm: _Norm


def position_table(weights: Mapping[str, Any]) -> Array:
    """What each position adds to a word's vector. The kind of a text is always 0 here, so its row goes into the positions."""
    return weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]


def layer_count(weights: Mapping[str, Any]) -> int:
    """How many layers a model has."""
    return sum(name.endswith("attention.self.query.weight") for name in weights)


class Transformer:
    """The encoder with its weights, which may be views into a mapped file."""

    def __init__(self, weights: Mapping[str, Any], heads: int):
        """`weights` by their names in the model's file, arrays or tables on disk. KeyError if one is missing."""
        self._heads = heads
        self._words = weights["embeddings.word_embeddings.weight"]
        self._positions = position_table(weights)
        self._norm = _norm(weights, "embeddings.LayerNorm")
        self._layers = [_layer(weights, f"encoder.layer.{index}.") for index in range(layer_count(weights))]

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return self._words.shape[1]

    def __call__(self, texts: Sequence[Sequence[int]]) -> Array:
        """The mean of each text's last hidden states, (len(texts), width), not of length 1.

        `texts` are token ids, at least one each, and sorted by length.
        """
        lengths = [len(text) for text in texts]
        ids = np.fromiter((token for text in texts for token in text), np.intp, sum(lengths))
        places = np.concatenate([np.arange(length) for length in lengths])
        x = self._norm((self._words[ids] + self._positions[places]).T.copy())
        groups = _groups(lengths)
        for layer in self._layers:
            x = self._run_layer(layer, x, groups)
        return np.concatenate(
            [x[:, at : at + n * length].reshape(-1, n, length).mean(axis=2).T for at, n, length in groups]
        )

    def _run_layer(self, layer: _Layer, x: Array, groups: list[tuple[int, int, int]]) -> Array:
        query, key, value = layer.query(x), layer.key(x), layer.value(x)
        query *= np.float32((self.width // self._heads) ** -0.5)
        for at, n, length in groups:
            shape = (self._heads, -1, n, length)
            # (texts, heads, numbers of a head, tokens), each a view
            q, k, v = (
                part[:, at : at + n * length].reshape(shape).transpose(2, 0, 1, 3) for part in (query, key, value)
            )
            scores = q.transpose(0, 1, 3, 2) @ k
            _softmax(scores)
            q[...] = v @ scores.transpose(
                0, 1, 3, 2
            )  # what was asked is not needed any more: its room takes the answer
        out = layer.mixed(query)
        out += x
        x = layer.mixed_norm(out)
        wide = layer.wide(x)
        _gelu(wide)
        out = layer.narrow(wide)
        out += x
        return layer.narrow_norm(out)


def _groups(lengths: Sequence[int]) -> list[tuple[int, int, int]]:
    """Runs of texts of one length: [(first column, texts, tokens of each), ...]."""
    groups = []
    start = 0
    for length, run in groupby(lengths):
        count = sum(1 for _ in run)
        groups.append((start, count, length))
        start += count * length
    return groups


def _softmax(scores: Array) -> None:
    """In place, over the last axis."""
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)


def _gelu(x: Array) -> None:
    """x * Phi(x), Phi the normal distribution's, in place (Hendrycks and Gimpel 2016, "Gaussian Error Linear Units")."""
    numbers = x.reshape(-1)
    square = np.empty(min(_STRIP_NUMBERS, len(numbers)), np.float32)
    inner = np.empty_like(square)
    for start in range(0, len(numbers), _STRIP_NUMBERS):
        strip = numbers[start : start + _STRIP_NUMBERS]
        u, t = square[: len(strip)], inner[: len(strip)]
        np.multiply(strip, strip, out=u)
        np.multiply(u, _GELU[-1], out=t)
        for factor in _GELU[-2:0:-1]:
            t += factor
            t *= u
        t += _GELU[0]
        t *= strip
        np.tanh(t, out=t)
        t += np.float32(1)
        strip *= t
        strip *= np.float32(0.5)


def _dense(weights: Mapping[str, Array], name: str) -> _Dense:
    return _Dense(weights[name + ".weight"], weights[name + ".bias"])


def _norm(weights: Mapping[str, Array], name: str) -> _Norm:
    return _Norm(weights[name + ".weight"], weights[name + ".bias"])


def _layer(weights: Mapping[str, Array], prefix: str) -> _Layer:
    return _Layer(
        query=_dense(weights, prefix + "attention.self.query"),
        key=_dense(weights, prefix + "attention.self.key"),
        value=_dense(weights, prefix + "attention.self.value"),
        mixed=_dense(weights, prefix + "attention.output.dense"),
        mixed_norm=_norm(weights, prefix + "attention.output.LayerNorm"),
        wide=_dense(weights, prefix + "intermediate.dense"),
        narrow=_dense(weights, prefix + "output.dense"),
        narrow_norm=_norm(weights, prefix + "output.LayerNorm"),
    )


_SETTERS = ("scipy_openblas_set_num_threads64_", "openblas_set_num_threads64_", "openblas_set_num_threads")


def limit_blas_threads() -> bool:
    """Let each matrix product run in the thread that asks for it; False if this numpy has another library than OpenBLAS,
    which then goes on as its own settings say.
    """
    for library in _libraries():
        for name in _SETTERS:
            setter = getattr(library, name, None)
            if setter is not None:
                setter(1)
                return True
    return False


def _libraries() -> list[ctypes.CDLL]:
    """The OpenBLAS that numpy's wheel brought, already loaded: opening it again gives the same one."""
    home = Path(np.__file__).parent
    folders = (home.parent / "numpy.libs", home / ".dylibs")
    return [ctypes.CDLL(str(path)) for folder in folders for path in sorted(folder.glob("*openblas*"))]
