"""Keeps what undo needs of text files."""

from engram.compat import const
from engram.memory import access

_PIECE = const(2000)  # characters of an old text in one line, which log_line.MAX_LINE bounds, however they are escaped


class TextChanges:
    """Keeps text files as they were before a change, in the log of records."""

    def __init__(self, store, clock):
        self._store = store
        self._clock = clock

    def note(self, kind: str, name: str, old: str, principal: str) -> None:
        """Keep a principal's file's text before it is replaced."""
        parts = 0
        while len(old) > _PIECE:
            self._store.append([("op", "part"), ("old", old[:_PIECE])])
            old = old[_PIECE:]
            parts += 1
        line = [("old", old), ("parts", parts)] if parts else [("old", old)]
        self._store.append(text_change(kind, name, principal, self._clock.now()) + line)

    def note_append(self, kind: str, name: str, length: int, principal: str) -> None:
        """Keep a principal's file's length in characters before a line is added to it."""
        self._store.append(text_change(kind, name, principal, self._clock.now()) + [("length", length)])


def text_change(kind: str, name: str, principal: str, at: int) -> list:
    """How a line begins that tells of a change of a text file."""
    line: list = [("op", kind), ("file", name), ("at", at)]
    if principal != access.OWNER.principal:
        line.append(("who", principal))
    return line
