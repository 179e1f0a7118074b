"""The server-sent events of a stream.

    data: {"delta": ...} NEWLINE     the field that is kept; several of one event are joined by a newline
    : comment NEWLINE                skipped, as every other field is, however long
    NEWLINE                          the end of the event

NEWLINE is CR, LF or CR LF. What follows the last empty line is no event.
"""

from engram.compat import const
from engram.errors import BadAnswer

# The fields of a line.
_UNKNOWN = const(0)
_DATA = const(1)
_OTHER = const(2)
_DATA_MARK = const(b"data: ")
_MARK_OF_ORDER = const(b"\xef\xbb\xbf")


class Events:
    """The events of one body, whose pieces are fed in order, split anywhere; BadAnswer beyond `most` bytes of one.

    The first letter tells more than the type that a service names: what begins as JSON is no stream, but `whole`.

    whole    the bytes of a body that is no stream
    is_page  whether the body is a page
    """

    def __init__(self, most: int):
        self._most = most
        self.is_page = False
        self.whole = None
        self._has_begun = False
        self._start = b""  # of the line, until it shows which field it has
        self._field = _UNKNOWN
        self._data = None  # of the event that has no end yet
        self._after_return = False

    def feed(self, piece):
        """The data (bytes) of each event that `piece` ends; to be used up before the next piece is fed."""
        piece = bytes(piece)
        if not self._has_begun:
            piece = self._begin(piece)
        if self.whole is not None:
            self._hold(self.whole, piece)
            return
        start = 1 if self._after_return and piece[:1] == b"\n" else 0
        if piece:
            self._after_return = piece[-1:] == b"\r"
        while start < len(piece):
            stop = _line_end(piece, start)
            self._take(piece[start : stop if stop >= 0 else len(piece)])
            if stop < 0:
                return
            start = stop + (2 if piece[stop : stop + 2] == b"\r\n" else 1)
            data = self._end_line()
            if data:
                yield data

    def _begin(self, piece):
        if piece.startswith(_MARK_OF_ORDER):
            piece = piece[len(_MARK_OF_ORDER) :]
        text = piece.lstrip()  # white space before an answer is a sign of life
        first = text[:1]
        self._has_begun = first != b""
        self.is_page = first == b"<"
        if first in (b"{", b"["):
            self.whole = bytearray()
            return text
        return piece

    def _hold(self, held, part) -> None:
        if len(held) + len(part) > self._most:
            raise BadAnswer("the service sent more at once than fits; ask for a shorter answer")
        held.extend(part)

    def _take(self, part):
        """Take a part of a line."""
        if self._field == _UNKNOWN:
            part = self._start + part
            if _DATA_MARK.startswith(part) and part != _DATA_MARK:
                self._start = part
                return
            self._start = b""
            self._field = _OTHER
            if part.startswith(b"data:"):
                self._begin_data()
                part = part[6 if part[5:6] == b" " else 5 :]
        if self._field == _DATA:
            self._hold(self._data, part)

    def _begin_data(self):
        self._field = _DATA
        if self._data is None:
            self._data = bytearray()
        else:
            self._data.extend(b"\n")

    def _end_line(self):
        """End a line; the data of the event that it ends."""
        start, data = self._start, self._data
        if self._field == _UNKNOWN and start in (b"data", b"data:"):
            self._begin_data()
        is_end = self._field == _UNKNOWN and not start
        self._start, self._field = b"", _UNKNOWN
        if not is_end or data is None:
            return b""
        self._data = None
        return bytes(data)


def _line_end(piece, start):
    newline = piece.find(b"\n", start)
    carriage = piece.find(b"\r", start, newline) if newline >= 0 else piece.find(b"\r", start)
    return carriage if carriage >= 0 else newline
