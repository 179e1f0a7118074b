"""Reads compiled modules (MicroPython's .mpy format 6)."""

_BYTECODE = 0
_TEXT, _BYTES = 5, 6


class MpyFile:
    """A compiled module, read from its names on; `at` is where reading goes on."""

    def __init__(self, data: bytes):
        assert data[:2] == b"M\x06"
        self.data = data
        self.at = 4
        names, self._objects = self.number(), self.number()
        for _ in range(names):
            length = self.number()
            self.at += 0 if length & 1 else (length >> 1) + 1  # those that are built into every firmware have no text

    def number(self) -> int:
        """Read a number."""
        value = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value = value << 7 | byte & 0x7F
            if not byte & 0x80:
                return value

    def native_bytes(self) -> int:
        """Read the rest: the bytes of its native code."""
        for _ in range(self._objects):
            kind = self.data[self.at]
            self.at += 1
            if kind >= _TEXT:
                length = self.number()
                self.at += length + (kind <= _BYTES)  # these two end with a zero
        found = 0
        head = self.number()
        self.at += head >> 3
        for _ in range(self.number()):
            head = self.number()
            self.at += head >> 3
            if head & 3 != _BYTECODE:
                found += head >> 3
                self.number()  # its flags
        assert self.at == len(self.data)
        return found
