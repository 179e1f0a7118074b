"""The server-sent events of a stream.

    data: {"delta": ...} NEWLINE     the field that is kept; several of one event are joined by a newline
    : comment NEWLINE                skipped, as every other field is
    NEWLINE                          the end of the event

NEWLINE is LF or CR LF. What follows the last empty line is no event.
"""

from engram.compat import const
from engram.errors import BadAnswer

_DATA = const(b"data:")
_MARK_OF_ORDER = const(b"\xef\xbb\xbf")


class Events:
    """Server-sent events of one body; BadAnswer beyond `most` bytes, `whole` if it is plain JSON."""

    def __init__(self, most: int):
        self._most = most
        self.is_page = False
        self.whole = None
        self._has_begun = False
        self._line = bytearray()  # one that has no end yet
        self._data = bytearray()  # of the event that has no end yet

    def feed(self, piece):
        """Yield the data (bytes) of each event that `piece` completes, valid until the next call."""
        self._hold(self._line, bytes(piece))
        if not self._has_begun:
            self._begin()
        while self.whole is None:
            end = self._line.find(b"\n")
            if end < 0:
                return
            line = bytes(self._line[:end]).rstrip(b"\r")
            self._line = self._line[end + 1 :]
            if line.startswith(_DATA):
                self._hold(self._data, (b"\n" if self._data else b"") + line[len(_DATA) :].lstrip(b" "))
            elif not line and self._data:
                data, self._data = bytes(self._data), bytearray()
                yield data

    def _begin(self) -> None:
        # White space before an answer is a sign of life.
        self._line = bytearray(bytes(self._line).lstrip(_MARK_OF_ORDER).lstrip())
        first = bytes(self._line[:1])
        self._has_begun = first != b""
        self.is_page = first == b"<"
        if first in (b"{", b"["):
            self.whole = self._line

    def _hold(self, held: bytearray, part: bytes) -> None:
        if len(held) + len(part) > self._most:
            raise BadAnswer("the service sent more at once than fits")
        held.extend(part)
