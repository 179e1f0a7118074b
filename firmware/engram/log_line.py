"""The line of every log, on flash and between board and host.

    {"id":"m3f","seq":12,"text":"...","crc":"89abcdef"}\\n

One JSON object a line, in the form of engram.text.strict_json. `crc` is always last: the crc32, in eight lower-case
hexadecimal digits, of this line's own bytes before `,"crc":`. A line is valid by its newline and its crc,
never because it parses.
"""

import json
from binascii import crc32

from engram import files
from engram.errors import ArgumentError
from engram.text.strict_json import dumps_fields, loads
from engram.text.utf8 import is_valid

# The longest line in bytes, newline included. It bounds the buffer that reading a log takes.
MAX_LINE = 16384

# No seq is as high: ids have nine digits at most.
MAX_SEQ = 1000000000

_BUFFER = const(512)  # bytes of a file that are read at once
_MOST_BRACKETS = const(16)  # few enough to stay within the nesting that engram.text.strict_json allows
_HEAD = const(b',"crc":"')  # the eight digits go between these two
_TAIL = const(b'"}\n')
_CHECK_SIZE = const(19)  # all three


def encode(fields) -> bytes:
    """Return the line of (key, value) pairs; None values are left out."""
    present = ((key, value) for key, value in fields if value is not None)
    data = dumps_fields(present).encode()[:-1]  # a check follows before the closing brace
    size = len(data) + _CHECK_SIZE
    if size > MAX_LINE:
        raise ArgumentError("fields", "make a line of %d bytes, %d fit; store less text" % (size, MAX_LINE))
    return data + b"".join((_HEAD, _digits(data), _TAIL))


def _digits(data) -> bytes:
    return ("%08x" % crc32(data)).encode()


def check(line: "bytes | bytearray | memoryview") -> bool:
    """True if a line is complete and unchanged; it is not copied."""
    at = len(line) - _CHECK_SIZE
    if not 0 < at <= MAX_LINE - _CHECK_SIZE:
        return False
    line = memoryview(line)
    if line[at : at + 8] != _HEAD or line[at + 16 :] != _TAIL:
        return False
    return line[at + 8 : at + 16] == _digits(line[:at])


def is_whole(line, ended) -> bool:
    """True if an item of lines() is a complete, unchanged line."""
    return ended is True and check(line)


def decode(line: "bytes | bytearray | memoryview") -> dict:
    """Return a line's fields without its crc; ValueError."""
    if not check(line):
        raise ValueError("the line is damaged: its crc does not fit")
    text = str(line, "utf-8")
    if not is_valid(text):
        raise ValueError("the line is not UTF-8")
    fields = _parsed(text)
    if not isinstance(fields, dict) or "crc" not in fields:
        raise ValueError("the line is no JSON object")
    del fields["crc"]
    return fields


def _parsed(text: str):
    """Parse with the runtime's fast reader where safe: escaped surrogates and deep nesting are not."""
    if "\\u" in text or text.count("[") + text.count("{") > _MOST_BRACKETS:
        return loads(text)
    return json.loads(text)


def lines(file, offset: int = 0, buffer_bytes: int = _BUFFER):
    """Yield (offset, line, is_ended), the line as a view of a buffer or, if longer, as bytes."""
    # (offset, line, True)   a line with its newline
    # (offset, line, False)  the rest after the last newline
    # (offset, size, None)   a line of `size` bytes, more than MAX_LINE
    buffer = bytearray(buffer_bytes)
    view = memoryview(buffer)
    files.seek(file, offset)
    start = end = 0  # the line's begin and the data's end in the buffer
    skipped = 0  # bytes of the line that had to leave the buffer
    while True:
        newline = buffer.find(b"\n", start, end)
        if newline >= 0:
            size = skipped + newline + 1 - start
            if skipped:
                yield _long_line(file, offset, size, True)
                files.seek(file, offset + size + end - newline - 1)
            else:
                yield offset, view[start : newline + 1], True
            offset += size
            start, skipped = newline + 1, 0
            continue
        if start:
            view[: end - start] = view[start:end]
            start, end = 0, end - start
        elif end == len(buffer):
            skipped, end = skipped + end, 0
        count = file.readinto(view[end:])
        if not count:
            break
        end += count
    if skipped:
        yield _long_line(file, offset, skipped + end, False)
    elif end:
        yield offset, view[:end], False


def _long_line(file, offset: int, size: int, ended: bool) -> tuple:
    if size > MAX_LINE:
        return offset, size, None
    files.seek(file, offset)
    return offset, file.read(size), ended


def whole_lines(path: str):
    """Yield a file's lines as bytes, None for damaged ones."""
    try:
        file = open(path, "rb")
    except OSError as error:
        if error.errno == files.ENOENT:
            return
        raise files.failure(error, path) from None
    with file:
        for _, line, ended in lines(file):
            yield bytes(line) if is_whole(line, ended) else None  # pyright: ignore
