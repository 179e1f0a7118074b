"""Types of vectors, their identity, and digests of texts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.types import LogName

Vector = NDArray[np.float32]
"""One dimension: a unit vector; two dimensions: one unit vector per row."""

DIGEST_BYTES = 16


@dataclass(frozen=True)
class Identity:
    """Model, dimensions and key version; vectors of two identities cannot be compared."""

    model: str
    dimensions: int
    key: int

    def __str__(self) -> str:
        return f"{self.model}/{self.dimensions}/{self.key}"


@dataclass(frozen=True)
class StoredVector:
    """The vector of a line; `digest` is that of its text (16 bytes)."""

    log: LogName
    seq: int
    digest: bytes
    vector: Vector = field(repr=False)


@dataclass(frozen=True)
class VectorRows:
    seqs: NDArray[np.int64]
    digests: Sequence[bytes]
    vectors: Vector


def text_digest(text: str) -> bytes:
    """Return DIGEST_BYTES bytes that identify a text; lone surrogates are allowed."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
