"""The unigram tokens of many multilingual models: a text is cut so that the sum of its pieces' scores is the highest.

Source: Kudo 2018, "Subword Regularization: Improving Neural Network Translation Models with Multiple Subword Candidates".
The best cut is found by dynamic programming (Viterbi), word by word: no piece goes over a space.

The pieces stand in one sorted table of bytes, 12 MB for 250,000, in which all parts of a word are looked up at once. A table of
Python's own, or the library's, takes 5 to 20 times as much.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_SPACE = "\u2581"
"""Stands for a space, as the first sign of each word."""

_WORDS = 4096
"""Words whose pieces are cached."""

_UNKNOWN_BELOW = 10.0
"""A sign that no piece has costs this much more than the worst piece."""


class Unigram:
    """Cuts texts into the numbers of pieces."""

    def __init__(self, pieces: list[bytes], scores: NDArray[np.float32], unknown: int):
        """`pieces` in UTF-8, with a space's sign only at the beginning of one; `unknown` is the number for the rest."""
        self._longest = max(len(piece.decode()) for piece in pieces)
        # A byte more than the longest piece has: what is longer is cut there, and still equals no piece.
        self._kind = np.dtype(f"S{max(map(len, pieces)) + 1}")
        table = np.array(pieces, self._kind)
        self._numbers = np.argsort(table, kind="stable").astype(np.int32)
        self._table = table[self._numbers]
        self._scores = scores
        self._unknown = unknown
        self._unknown_score = float(scores.min()) - _UNKNOWN_BELOW
        self._cut = lru_cache(maxsize=_WORDS)(self._best_cut)

    def __call__(self, text: str) -> list[int]:
        """The numbers of the text's pieces; spaces beside each other count as one."""
        return [number for word in text.split() for number in self._cut(_SPACE + word)]

    def _best_cut(self, word: str) -> tuple[int, ...]:
        """The pieces of the cut with the highest score."""
        spans = [
            (start, end)
            for start in range(len(word))
            for end in range(start + 1, min(len(word), start + self._longest) + 1)
        ]
        best = [0.0] + [-np.inf] * len(word)
        came: list[tuple[int, int]] = [(0, self._unknown)] * (len(word) + 1)
        for (start, end), number in zip(spans, self._find([word[start:end] for start, end in spans]), strict=True):
            if number >= 0:
                score = best[start] + float(self._scores[number])
            elif end == start + 1:
                score, number = best[start] + self._unknown_score, self._unknown
            else:
                continue
            if score > best[end]:
                best[end], came[end] = score, (start, number)
        found = []
        at = len(word)
        while at:
            at, number = came[at]
            found.append(number)
        return tuple(reversed(found))

    def _find(self, parts: list[str]) -> list[int]:
        """The number of each part, -1 if it is no piece."""
        asked = np.array([part.encode() for part in parts], self._kind)
        places = np.minimum(np.searchsorted(self._table, asked), len(self._table) - 1)
        return np.where(self._table[places] == asked, self._numbers[places], -1).tolist()
