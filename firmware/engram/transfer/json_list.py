"""Finds the objects of a JSON list, or of the lists within an object, over as many lines as they like, in bounded memory.

An object in no list is found itself if no list in it has objects.
"""

from engram.compat import const
from engram.errors import ArgumentError
from engram.log_line import MAX_LINE

_DEEPEST = const(64)  # brackets within each other
_NEWLINE = const(10)
_QUOTE = const(34)
_BACKSLASH = const(92)
_LIST = const(91)
_OBJECT = const(123)
_OPENING = const((91, 123))
_CLOSING = const((93, 125))


class JsonList:
    """Reads a file piece by piece."""

    def __init__(self):
        self.line = 1
        """The number of the line that is read."""
        self._brackets = []
        self._is_text = self._is_escaped = False
        self._object = None
        self._bytes = self._first = self._inside = 0

    @property
    def is_whole(self) -> bool:
        """Whether all that was begun has its end."""
        return not self._brackets and not self._is_text

    def feed(self, data):
        """Yield (number of its first line, its bytes or the length of one that is too long) of each object that ends here."""
        start = 0
        for at in range(len(data)):
            byte = data[at]
            self.line += byte == _NEWLINE
            if self._is_text:
                self._is_text = self._is_escaped or byte != _QUOTE
                self._is_escaped = not self._is_escaped and byte == _BACKSLASH
            elif byte == _QUOTE:
                self._is_text = True
            elif byte in _OPENING:
                is_wanted = self._object is None or not self._inside
                if is_wanted and byte == _OBJECT and self._brackets[-1:] in ([], [_LIST]):
                    self._object, self._bytes = bytearray(), 0
                    self._first, self._inside, start = self.line, len(self._brackets), at
                if len(self._brackets) == _DEEPEST:
                    raise ArgumentError("file", "has more than %d brackets within each other." % _DEEPEST)
                self._brackets.append(byte)
            elif byte in _CLOSING and self._brackets:
                self._brackets.pop()
                if self._object is not None and len(self._brackets) == self._inside:
                    self._keep(data[start : at + 1])
                    whole, self._object = self._object, None
                    yield self._first, self._bytes if self._bytes > MAX_LINE else bytes(whole)
        if self._object is not None:
            self._keep(data[start:])

    def _keep(self, piece) -> None:
        self._bytes += len(piece)
        if self._bytes <= MAX_LINE:
            self._object.extend(piece)
