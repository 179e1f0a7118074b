"""What a model is made of, and what an engine makes of it; the engine that needs numpy only."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from engram_host.companion.embedding.embedder import Kind
from engram_host.companion.embedding.transformer import Transformer, limit_blas_threads
from engram_host.companion.vector_types import Vector

Precision = Literal["full", "int8"]

Encoder = Callable[[Sequence[Sequence[int]]], Vector]
"""Token ids of texts, at least one each and sorted by length, to one vector for each, not of length 1. Threads may share it."""


@dataclass(frozen=True)
class ModelParts:
    """What a model's files hold."""

    tokens: Callable[[str, Kind], list[int]]
    """The numbers of a text's tokens, the model's marks included; at least one."""

    weights: Mapping[str, Any]
    """Arrays and tables on disk, by the names that BERT gives them; each may be read only when it is asked for."""

    heads: int
    digest: str
    """SHA-256 of the file of the weights, in hexadecimal."""


class Engine(Protocol):
    """Makes encoders."""

    @property
    def name(self) -> str:
        """What runs the model, for a person."""
        ...

    def encoder(self, model: str, parts: ModelParts) -> Encoder:
        """The encoder of the model of that name; KeyError if a weight is missing."""
        ...


class NumpyEngine:
    """Full precision in numpy."""

    name = "numpy"

    def encoder(self, model: str, parts: ModelParts) -> Encoder:
        """See Engine."""
        limit_blas_threads()
        return Transformer(parts.weights, parts.heads)
