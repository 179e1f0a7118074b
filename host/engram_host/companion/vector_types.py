"""Vectors as the companion's parts pass them on, what they were made with, and the digests of texts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from engram_host.companion.types import LogName

Vector = NDArray[np.float32]
"""One dimension: the length-1 vector of a text. Two: one in each row."""

DIGEST_BYTES = 16


@dataclass(frozen=True)
class Identity:
    """What vectors were made with: those of two identities cannot be compared. `key` is the version of the text that is
    embedded (see entries/embedding_text.py).
    """

    model: str
    dimensions: int
    key: int

    def __str__(self) -> str:
        return f"{self.model}/{self.dimensions}/{self.key}"


@dataclass(frozen=True)
class StoredVector:
    """The vector of a line; `digest` is that of the text it was made of (16 bytes)."""

    log: LogName
    seq: int
    digest: bytes
    vector: Vector = field(repr=False)


@dataclass(frozen=True)
class VectorRows:
    """Some lines' vectors in full precision, a row each, and the digests of the texts that they were made of."""

    seqs: NDArray[np.int64]
    digests: Sequence[bytes]
    vectors: Vector


def text_digest(text: str) -> bytes:
    """DIGEST_BYTES bytes that identify a text; half characters count as well."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
