"""What an embedder is, and the checks that every one of them makes on its vectors."""

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np

from engram_host.companion.errors import EmbedderRefused
from engram_host.companion.types import Vector

Kind = Literal["passage", "query"]
"""What a text is for: it stands in an index, or it asks one. Some models make other vectors of the two."""

_LEAST_LENGTH = 1e-6
"""A vector shorter than this has no direction: dividing by its length would make one up."""


class Embedder(Protocol):
    """Makes vectors of texts; two vectors can be compared if they came from one `model` with the same `dimensions`."""

    @property
    def model(self) -> str:
        """The model's name, as it stands in an index's identity; "" while it is not known."""
        ...

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has; 0 while it is not known."""
        ...

    async def ready(self) -> None:
        """Make sure that vectors can be made now, and that `model` and `dimensions` are known. Repeating it is cheap.

        EmbedderUnavailable or EmbedderRefused says why not.
        """
        ...

    async def embed(self, texts: Sequence[str], kind: Kind) -> Vector:
        """The vectors of `texts` in their order, (len(texts), dimensions) float32, each of length 1.

        All or none: EmbedderUnavailable, EmbedderRefused.
        """
        ...

    async def close(self) -> None:
        """Let connections and threads go; it can be called twice."""
        ...


def unit(vectors: np.ndarray, count: int, dimensions: int, source: str) -> Vector:
    """`vectors` as (count, dimensions) float32, each brought to length 1.

    EmbedderRefused if there are more or fewer, if they have another size, or if one is not finite or has no direction;
    `source` is who made them, for that sentence.
    """
    if vectors.ndim != 2 or len(vectors) != count:
        raise EmbedderRefused(f"{source} gave {len(vectors)} vectors for {count} texts.")
    if vectors.shape[1] != dimensions:
        raise EmbedderRefused(
            f"{source} gave vectors of {vectors.shape[1]} dimensions where {dimensions} were expected; "
            "set embedding.dimensions to what the model gives."
        )
    rows = vectors.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    if not (np.isfinite(lengths) & (lengths > _LEAST_LENGTH)).all():
        raise EmbedderRefused(f"{source} gave a vector that is not a direction: zero, infinite or not a number.")
    return (rows / lengths[:, None]).astype(np.float32)


def encodable(text: str) -> str:
    """`text` without half characters (lone surrogates), which cannot be sent or tokenised."""
    return text.encode("utf-8", "replace").decode("utf-8")
