"""Turns the bytes of a serial line into lines, with echo and the usual keys, as no terminal does that for a board.

Backspace takes a whole character, Ctrl-U the line; Ctrl-D on an empty line ends the input; other control
keys and escape sequences (arrow keys) are left out. Without echo, for a pipe, only line ends count.
"""

from engram import text
from engram.text import utf8

_BACKSPACE = const(0x08)
_CTRL_D = const(0x04)
_CTRL_U = const(0x15)
_ESCAPE = const(0x1B)
_DELETE = const(0x7F)

_TAIL = const(160)  # bytes at the end of a line that are looked at to find its last character

_WIDE = const(0x2E80)  # from which on a character takes two columns: CJK, Hangul, full-width forms, emoji

_LONGEST_CHARACTER = const(4)  # bytes of UTF-8

_TEXT = const(0)
_AFTER_ESCAPE = const(1)
_IN_SEQUENCE = const(2)


class LineEditor:
    """An editor of lines of at most `limit` bytes; `write(text)` echoes, None for no echo."""

    def __init__(self, limit: int, write=None):
        self._limit = limit
        self._write = write
        self._line = bytearray()
        self._length = 0
        self._state = _TEXT
        self._after_return = False
        self.ended = False

    def echo_to(self, write) -> None:
        """Echo with `write`, or stop echoing (None), even in the middle of feed()."""
        self._write = write

    def feed(self, data):
        """Yield each completed line as a bytearray, or the length of one that is too long."""
        for byte in data:
            if self._write and self._is_key(byte):
                continue
            if byte == 0x0A and self._after_return:
                self._after_return = False
                continue
            self._after_return = byte == 0x0D
            if byte == 0x0A or byte == 0x0D:
                if self._write:
                    self._write("\r\n")
                yield self._take()
            else:
                self._add(byte)

    @property
    def typed(self) -> bytes:
        """Return the line so far, if it is echoed."""
        return bytes(self._line) if self._write else b""

    def rest(self):
        """Return and clear the unfinished line, None if there is none."""
        return self._take() if self._length else None

    def _take(self):
        line = self._line if self._length <= self._limit else self._length
        self._line = bytearray()
        self._length = 0
        return line

    def _add(self, byte: int) -> None:
        self._length += 1
        if self._length > self._limit:
            # Nothing of a line that is too long is used: its bytes need not be kept.
            self._line = bytearray()
            return
        self._line.append(byte)
        if self._write:
            last = bytes(self._line[self._start_of_last() :])
            if utf8.valid(last):  # else more of its bytes are to come
                self._write(last.decode())

    # --- keys

    def _is_key(self, byte: int) -> bool:
        if self._state == _TEXT or byte < 0x20:
            # A control character is no part of an escape sequence: that was cut off, or the key alone.
            self._state = _TEXT
            return self._press(byte)
        if self._state == _AFTER_ESCAPE:
            self._state = _IN_SEQUENCE if byte in b"[O" else _TEXT
        elif 0x40 <= byte <= 0x7E:
            self._state = _TEXT
        return True

    def _press(self, byte: int) -> bool:
        if byte == _ESCAPE:
            self._state = _AFTER_ESCAPE
        elif byte in (_BACKSPACE, _DELETE):
            self._erase()
        elif byte == _CTRL_U:
            while self._line:
                self._erase()
            self._length = 0
        elif byte == _CTRL_D and not self._length:
            self.ended = True
        else:
            # Other control characters are no text, but tab and the line ends.
            return byte < 0x20 and byte not in b"\t\r\n"
        return True

    def _erase(self) -> None:
        if not self._line:
            return
        tail = self._tail()
        if not tail or not utf8.valid(tail):
            # Part of a character, or none at all: it was not echoed either.
            self._shorten(1)
        else:
            shown = tail.decode()
            gone = shown[len(text.cut(shown, len(shown) - 1)) :].encode()
            self._shorten(len(gone))
            columns = 2 if text.code_at(gone, 0) >= _WIDE else 1
            self._write("\b" * columns + " " * columns + "\b" * columns)

    def _shorten(self, count: int) -> None:
        self._line = self._line[: len(self._line) - count]
        self._length = len(self._line)

    def _tail(self) -> bytes:
        """Return the end of the line in whole characters, with room for a long cluster."""
        start = max(0, len(self._line) - _TAIL)
        while start < len(self._line) and self._line[start] & 0xC0 == 0x80:
            start += 1
        return bytes(self._line[start:])

    def _start_of_last(self) -> int:
        start = len(self._line) - 1
        first = max(0, len(self._line) - _LONGEST_CHARACTER)
        while start > first and self._line[start] & 0xC0 == 0x80:
            start -= 1
        return start
