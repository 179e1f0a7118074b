"""JSON as it comes in pieces, held without the long values of fields that nobody reads: those count against no bound."""

from engram.compat import const
from engram.errors import ModelGarbled

# Nearly all events are shorter: they are held as they come, unread.
_PLAIN_BYTES = const(4096)
# Protects the heap from one event or answer. The second half is for fields that are read.
_HELD_BYTES = const(65536)
_UNREAD_BYTES = const(32768)
# No shorter value is left out.
_LONG_BYTES = const(1024)

ANSWER = (
    b"choices", b"delta", b"message", b"content", b"text", b"tool_calls", b"function_call", b"function", b"name",
    b"arguments", b"content_block", b"input", b"partial_json", b"error",
)  # fmt: skip
"""Fields of an answer that may be long, and are read."""
REFUSAL = (b"error", b"errors", b"message", b"detail", b"msg", b"metadata", b"raw")
"""Those of a refusal."""

_QUOTE = const(0x22)
_COLON = const(0x3A)
_COMMA = const(0x2C)
_OPENING = const(b"{[")
_CLOSING = const(b"}]")
_MARKS = const(b'":,{[}]')


class TrimmedJson:
    """add() it each piece of one JSON text; ModelGarbled if what is read of it is too long.

    is_cut  whether something was left out
    """

    def __init__(self, known=ANSWER):
        self.is_cut = False
        self._known = known
        self._held = bytearray()
        self._is_read = False
        self._in_string = self._is_escaped = False
        self._depth = 0
        self._unread_depth = -1  # of the object with the outermost field under way that nobody reads
        self._unread_start = 0
        self._is_skipping = False

    def add(self, piece: bytes) -> None:
        """Hold the next piece."""
        if self._is_read:
            self._read(piece)
        elif len(self._held) + len(piece) <= _PLAIN_BYTES:
            self._held.extend(piece)
        else:
            self._begin(bytes(self._held + piece).lstrip())  # white space before an answer is a sign of life

    def _begin(self, text):
        self._held = bytearray()
        if text[:1] in (b"{", b"["):
            self._is_read = True
            self._read(text)
        else:
            self._held.extend(text[:_PLAIN_BYTES])  # of a page the beginning is enough

    def value(self) -> bytes:
        """All that is held."""
        return bytes(self._held)

    def _read(self, piece):
        at, size = 0, len(piece)
        while at < size:
            start = at
            at = self._string_part(piece, at) if self._in_string else self._mark(piece, at)
            self._hold(piece[start:at])
            if not self._in_string and self._unread_depth < 0 and piece[at - 1] == _COLON:
                self._begin_value()

    def _string_part(self, piece, at):
        """Where the part of a string ends that goes up to its end, or over an escape."""
        if self._is_escaped:
            self._is_escaped = False
            return at + 1
        quote = piece.find(b'"', at)
        escape = piece.find(b"\\", at, quote) if quote >= 0 else piece.find(b"\\", at)
        if escape >= 0:
            self._is_escaped = True
            return escape + 1
        self._in_string = quote < 0
        return quote + 1 if quote >= 0 else len(piece)

    def _mark(self, piece, at):
        """Where a mark outside of strings ends, or what stands before the next one."""
        byte = piece[at]
        if byte == _QUOTE:
            self._in_string = True
        elif byte in _OPENING:
            self._depth += 1
        elif byte == _COMMA or byte in _CLOSING:
            if self._depth == self._unread_depth:
                self._unread_depth = -1
                self._is_skipping = False
            if byte != _COMMA:
                self._depth -= 1
        elif byte != _COLON:
            while at < len(piece) and piece[at] not in _MARKS:
                at += 1
            return at
        return at + 1

    def _begin_value(self):
        stop = self._held.rfind(b'"')
        name = bytes(self._held[self._held.rfind(b'"', 0, stop) + 1 : stop])
        if name not in self._known:
            self._unread_depth = self._depth
            self._unread_start = len(self._held)

    def _hold(self, part):
        if self._is_skipping:
            return
        self._held.extend(part)
        size = len(self._held)
        if self._unread_depth >= 0 and size > _UNREAD_BYTES and size - self._unread_start > _LONG_BYTES:
            self._held = self._held[: self._unread_start]
            self._held.extend(b"null")
            self._is_skipping = self.is_cut = True
        elif size > _HELD_BYTES:
            raise ModelGarbled("the model's service sent more at once than fits; ask for a shorter answer")
