"""The board's words as numbers, with identifiers both whole and in parts.

Texts are split at spaces and the terms of each piece are cached, since most pieces repeat: about
ten times as fast as engram.text alone.

The board splits identifiers at other characters than letters (get_user_name, src/main.py) and
keeps camelCase whole. This index has both:

    getUserName     getusername  + get user name
    E_CONN_42       e conn 42    + e_conn_42
    src/main.py     src main py  + src/main.py main.py

Added terms do not count in a text's length, so plain text ranks as on the board.
"""

import re
import threading
from collections.abc import Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import chain

from engram import text as board
from engram.memory import line_meaning
from engram.text.tokenizer import MAX_TERM

MOST_BYTES = 16 << 20
"""Approximate cache limit; a full cache is cleared."""

_PIECE_BYTES = 250  # of a piece with its dict entry and tuple of terms
_CHARACTER_BYTES = 40  # per character: scripts without spaces have as many terms

_AROUND = ".,!?;:\"'`()[]{}<>*"
_JOINED = re.compile(r"[A-Za-z0-9]+(?:(?:::|[-_./\\:#@])[A-Za-z0-9]+)+")
_CODE_SIGNS = re.compile(r"_|::|[/\\.#@]|-(?=\w*\d)|(?<=\d)-")
_PATH_SIGNS = re.compile(r"[/\\]")
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_LETTERS = re.compile(r"[A-Za-z0-9]+")

Numbers = tuple[int, ...]


class Tokenizer:
    """A thread-safe, caching tokenizer; terms are numbers (see term_id)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forget()

    def term_ids(self, text: str, singles: bool = False) -> tuple[list[int], list[int]]:
        """Return (the board's terms in order, terms added by identifiers)."""
        pieces = text.split(" ")
        with self._lock:
            try:
                terms = [*chain.from_iterable(map(self._known[singles].__getitem__, pieces))]
            except KeyError:
                self._learn(pieces, singles)
                terms = [*chain.from_iterable(map(self._known[singles].__getitem__, pieces))]
            if self._added.keys().isdisjoint(pieces):
                return terms, []
            return terms, [number for piece in pieces for number in self._added.get(piece, ())]

    @property
    def nbytes(self) -> int:
        return self._bytes

    def _learn(self, pieces: list[str], singles: bool) -> None:
        if self._bytes > MOST_BYTES:
            self._forget()
        known = self._known[singles]
        for piece in pieces:
            if piece not in known:
                known[piece] = tuple(term_id(term) for term in board.terms(piece, singles))
                added = tuple(term_id(term) for term in identifier_terms(piece))
                if added:
                    self._added[piece] = added
                self._bytes += _PIECE_BYTES + _CHARACTER_BYTES * len(piece)

    def _forget(self) -> None:
        self._known: tuple[dict[str, Numbers], ...] = ({}, {})
        self._added: dict[str, Numbers] = {}
        self._bytes = 0


@lru_cache(maxsize=4096)
def term_id(term: str) -> int:
    """Return a term's number, stable across processes for index files."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True)


def query_terms(text: str, most: int) -> dict[str, bool]:
    """Return at most `most` distinct terms in order, True if only an identifier gave them."""
    found = dict.fromkeys(line_meaning.query_terms(text), False)
    for piece in text.split(" "):
        for term in identifier_terms(piece):
            found.setdefault(term, True)
    return dict(list(found.items())[:most])


def query_words(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for piece in text.split():
        for term in chain(board.terms(piece), identifier_terms(piece)):
            found.setdefault(term, piece.strip(_AROUND))
    return found


def identifier_terms(piece: str) -> Iterator[str]:
    if piece.isalpha() and (piece.islower() or piece[1:].islower()):
        return
    for line in piece.split():
        yield from _of_one(line.strip(_AROUND))


def _of_one(piece: str) -> Iterator[str]:
    for match in _JOINED.finditer(piece):
        whole = match.group().lower()
        if _CODE_SIGNS.search(whole):
            yield whole[:MAX_TERM]
            yield from (part[:MAX_TERM] for part in _PATH_SIGNS.split(whole) if part != whole and "." in part)
    for match in _LETTERS.finditer(piece):
        word = match.group()
        if _HUMP.search(word):
            for part in _HUMPS.findall(word):
                if len(part) > 1:
                    yield from board.terms(part)


def has_identifier(query: str) -> bool:
    """True if the query has camelCase, snake_case, a path or an error code."""
    return any(any(True for _ in identifier_terms(piece)) for piece in query.split(" "))
