"""Tells texts apart without keeping them."""

from hashlib import blake2b

DIGEST_BYTES = 16


def text_digest(text: str) -> bytes:
    """DIGEST_BYTES bytes; half characters count as well."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
