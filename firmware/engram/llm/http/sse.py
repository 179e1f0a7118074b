"""Server-sent events, parsed from pieces that may be split anywhere.

    data: {"delta": ...} NEWLINE     the field that is kept; several of one event are joined by a newline
    : comment NEWLINE                ignored, as every other field is
    NEWLINE                          the end of the event

NEWLINE is CR, LF or CR LF. What follows the last empty line is no event.
"""

from engram.compat import const
from engram.errors import ModelGarbled

# Protects the heap: an event of a model's stream has a few hundred bytes, a whole tool call a few thousand.
_EVENT_BYTES = const(16384)


class Events:
    """The events of one stream: feed() it each piece of the body, in order."""

    def __init__(self):
        self._line = bytearray()  # the line that has no end yet
        self._data = None  # of the event that has no end yet
        self._after_return = False

    def feed(self, piece):
        """The data (bytes) of each event that `piece` ends; to be used up before the next piece is fed."""
        piece = bytes(piece)
        start = 1 if self._after_return and piece[:1] == b"\n" else 0
        if piece:
            self._after_return = piece[-1:] == b"\r"
        while start < len(piece):
            stop = _line_end(piece, start)
            if stop < 0:
                self._check(len(piece) - start)
                self._line.extend(piece[start:])
                return
            line = piece[start:stop]
            if self._line:
                line = bytes(self._line) + line
                self._line = bytearray()
            start = stop + (2 if piece[stop : stop + 2] == b"\r\n" else 1)
            data = self._take(line)
            if data:
                yield data

    def _take(self, line):
        """Note a whole line; the data of the event that it ends."""
        if not line:
            data = self._data
            self._data = None
            return data
        if line.startswith(b"data:") or line == b"data":
            self._check(len(line))
            value = line[6 if line[5:6] == b" " else 5 :]
            self._data = value if self._data is None else self._data + b"\n" + value
        return None

    def _check(self, count):
        if count + len(self._line) + len(self._data or b"") > _EVENT_BYTES:
            raise ModelGarbled("the model's service sent an event that is too long; is llm.url right?")


def _line_end(piece, start):
    newline = piece.find(b"\n", start)
    carriage = piece.find(b"\r", start, newline) if newline >= 0 else piece.find(b"\r", start)
    return carriage if carriage >= 0 else newline
