"""Pseudo-random samples that are the same on every runtime, and a digest to compare results by.

`random` differs between CPython and MicroPython. Where all runtimes must give the same result, a test works on these
samples and compares the digest of all results with one that CPython made.
"""

import sys
from binascii import crc32


class Numbers:
    """Small pseudo-random numbers, the same from the same seed everywhere."""

    def __init__(self, seed: int):
        self._state = seed

    def below(self, limit: int) -> int:
        self._state = (self._state * 1103515245 + 12345) & 0x7FFFFFFF
        return (self._state >> 12) % limit

    def pick(self, choices):
        return choices[self.below(len(choices))]


class Digest:
    """One number for a sequence of texts."""

    def __init__(self):
        self._value = 0

    def add(self, text: str) -> None:
        self._value = crc32(b"\0" + text.encode(), self._value)

    def hex(self) -> str:
        return f"{self._value:08x}"


def surrogate_between(before: str, after: str) -> str:
    """A text with a lone surrogate, as each runtime can come by one."""
    data = before.encode() + b"\xed\xa0\x80" + after.encode()
    if sys.implementation.name == "micropython":
        return data.decode()  # not checked there
    return data.decode("utf-8", "surrogatepass")


_WORDS = ("anchor", "bridge", "candle", "dragon", "engine", "forest", "garden", "hammer", "island", "jacket", "kettle")


def distinct_content(at):
    """The content of a memory that no other number's is near to."""
    return " ".join([_WORDS[at % 11] + str(at), _WORDS[at * 5 % 11] + str(at * 3), _WORDS[at * 7 % 11] + str(at * 7)])
