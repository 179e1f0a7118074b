"""Reads a file of memories piece by piece: a JSON object a line, a JSON list of objects, or a page of Markdown.

Each reader yields (number of the line, Item), (number of the line, why it is refused), or (number of the line, None) where
there is nothing yet: no piece is longer than a line of a log may be.
"""

from engram import files, log_line, text
from engram.compat import const
from engram.errors import ArgumentError
from engram.text.utf8 import valid
from engram.transfer import jsonl

_BUFFER = const(1024)
_CHUNK = const(256)
_DEEPEST = const(64)  # brackets that are counted: what is deeper is no memory, and read wrongly
_NEWLINE = const(0x0A)
_QUOTE = const(0x22)
_BACKSLASH = const(0x5C)

_NO_JSON = "is no JSON object."
_NO_UTF_8 = "is not UTF-8."
_TOO_LONG = "has %d bytes, at most %d fit."

_OPEN = b"[{"
_CLOSE = b"]}"
_BOM = b"\xef\xbb\xbf"


def lines(path: str):
    """Yield (number, bytes) of a file's lines with their line ends, (number, length) of one that is too long."""
    number = 0
    try:
        with open(path, "rb") as file:
            for _, line, _ in log_line.long_lines(file, bytearray(_BUFFER)):
                number += 1
                if not isinstance(line, int):
                    line = bytes(line)
                    if number == 1 and line[:3] == _BOM:
                        line = line[3:]
                yield number, line
    except OSError as error:
        raise files.failure(error, path) from None


def json_lines(path: str, left_out, note):
    """Read lines with a JSON object each; `note(fields)` takes those that are no memories, and says if it did."""
    found = lines(path)
    try:
        for number, line in found:
            if isinstance(line, int):
                yield number, _TOO_LONG % (line, log_line.MAX_LINE)
            elif not line.strip():
                yield number, None
            else:
                yield number, read_object(line, left_out, note)
    finally:
        found.close()


def read_object(data, left_out, note):
    """The Item of a JSON object's bytes, why there is none, or None if `note` took it."""
    try:
        fields = text.loads(data)
    except ValueError:
        return _NO_JSON if valid(bytes(data)) else _NO_UTF_8
    if not isinstance(fields, dict):
        return _NO_JSON
    try:
        return None if note(fields) else jsonl.read(fields, left_out)
    except ArgumentError as error:
        return str(error)


def markdown(path: str, reader):
    """Read the lines of a page."""
    found = lines(path)
    try:
        for number, line in found:
            if isinstance(line, int):
                yield number, _TOO_LONG % (line, log_line.MAX_LINE)
            elif not valid(line):
                yield number, _NO_UTF_8
            else:
                yield reader.line(number, line.decode()) or (number, None)
    finally:
        found.close()
    ended = reader.end()
    if ended:
        yield ended


def json_list(path: str, left_out, note):
    """Read the objects of a list, or of the lists within an object, as CoClaw's files are: over as many lines as they like."""
    splitter = Splitter()
    try:
        with open(path, "rb") as file:
            data = file.read(_CHUNK)
            while data:
                for number, piece in splitter.feed(data):
                    if isinstance(piece, int):
                        yield number, _TOO_LONG % (piece, log_line.MAX_LINE)
                    else:
                        yield number, read_object(piece, left_out, note)
                yield splitter.line, None
                data = file.read(_CHUNK)
    except OSError as error:
        raise files.failure(error, path) from None
    if not splitter.is_whole:
        yield splitter.line, "the file has no end."


class Splitter:
    """Finds the objects that stand in lists, within a text that comes piece by piece."""

    def __init__(self):
        self.line = 1
        """The line that is read."""
        self._depths = b""  # the brackets that are open
        self._inside = -1  # those of them that are open around the object that is read, -1 for none
        self._object = bytearray()
        self._length = 0  # of the object: one that is too long is not kept
        self._first = 0  # its line
        self._is_text = self._is_escaped = False

    @property
    def is_whole(self) -> bool:
        """Whether all that was opened is closed."""
        return not self._depths and not self._is_text

    def feed(self, data: bytes):
        """Yield (line, bytes) of each object that ends in `data`, (line, length) of one that is too long."""
        start = 0  # where the object goes on in this piece
        for at, byte in enumerate(data):
            if byte == _NEWLINE:
                self.line += 1
            if self._is_text or byte == _QUOTE:
                self._pass_text(byte)
            elif byte in _OPEN:
                if self._opens(byte):
                    start = at
            elif byte in _CLOSE and self._depths:
                self._depths = self._depths[:-1]
                if len(self._depths) == self._inside:
                    self._keep(data[start : at + 1])
                    yield self._first, self._length if self._length > log_line.MAX_LINE else self._object
                    self._inside = -1
        if self._inside >= 0:
            self._keep(data[start:])

    def _pass_text(self, byte: int) -> None:
        if self._is_escaped:
            self._is_escaped = False
        elif byte == _BACKSLASH:
            self._is_escaped = True
        elif byte == _QUOTE:
            self._is_text = not self._is_text

    def _opens(self, byte: int) -> bool:
        """Note a bracket; whether the object of interest begins with it."""
        begins = self._inside < 0 and byte == _OPEN[1] and self._depths[-1:] == _OPEN[:1]
        if begins:
            self._inside, self._first, self._length, self._object = len(self._depths), self.line, 0, bytearray()
        if len(self._depths) < _DEEPEST:
            self._depths += bytes((byte,))
        return begins

    def _keep(self, data: bytes) -> None:
        self._length += len(data)
        if self._length > log_line.MAX_LINE:
            self._object = bytearray()
        else:
            self._object.extend(data)
