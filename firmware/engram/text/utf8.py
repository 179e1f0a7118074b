"""UTF-8 as the standard has it, the same on every runtime.

MicroPython checks UTF-8 loosely: it takes overlong forms, surrogates and codes above U+10FFFF. CPython lets a
str hold lone surrogates. So bytes from outside become a str here, and nowhere else.

To know when reading this package: on MicroPython `text[i]`, `chr(code)` and `for character in text` intern each
character for ever, and `text[i]` counts from the start. So text is worked on as bytes. `text.encode()` copies
nothing there: the bytes share the text's memory.
"""

REPLACEMENT = b"\xef\xbf\xbd"  # U+FFFD
_LOWEST = const(0x80)  # a continuation byte's bounds
_HIGHEST = const(0xBF)

# The bounds of the second byte where the first narrows them: overlong, surrogates, above U+10FFFF.
_NARROWED = {0xE0: (0xA0, 0xBF), 0xED: (0x80, 0x9F), 0xF0: (0x90, 0xBF), 0xF4: (0x80, 0x8F)}
_NEVER = const((b"\xc0", b"\xc1", b"\xf5", b"\xf6", b"\xf7"))

try:
    str(b"\xed\xa0\x80", "utf-8")
    _LOOSE = True
except UnicodeError:
    _LOOSE = False


def strip_end(text: str, signs) -> str:
    """Strip trailing signs; MicroPython's rstrip() takes single bytes of non-ASCII ones."""
    before = ""
    while before != text:
        before = text
        for sign in signs:
            if text.endswith(sign):
                text = text[: -len(sign)]
    return text


def encode(text: str) -> bytes:
    """Return UTF-8 of any str without errors; non-Unicode becomes U+FFFD."""
    try:
        data = text.encode()
    except UnicodeError:
        return _repaired(text.encode("utf-8", "surrogatepass"))
    return _repaired(data) if _LOOSE and not valid(data) else data


def decode(data: "bytes | bytearray | memoryview") -> str:
    """Return the text of UTF-8 bytes without errors; bad sequences become U+FFFD as in CPython."""
    try:
        text = str(data, "utf-8")
    except UnicodeError:
        return str(_repaired(data), "utf-8")
    if _LOOSE and len(text) != len(data) and _flawed(text.encode()):
        return str(_repaired(data), "utf-8")
    return text


def valid(data: "bytes | bytearray | memoryview") -> bool:
    """True if the bytes are strict UTF-8."""
    try:
        text = str(data, "utf-8")
    except UnicodeError:
        return False
    return not _LOOSE or len(text) == len(data) or not _flawed(text.encode())


def is_valid(text: str) -> bool:
    """True if a text has no surrogates and, on MicroPython, only Unicode."""
    try:
        return valid(text.encode())
    except UnicodeError:
        return False


def is_printable_ascii(text: str) -> bool:
    """True if a text is printable ASCII, so that no CR, LF or NUL ends a header early."""
    return all(0x20 <= code < 0x7F for code in encode(text))


def code_at(data: bytes, at: int) -> int:
    """Return the code of the character at `at` in valid UTF-8."""
    code = data[at]
    if code < 0x80:
        return code
    if code < 0xE0:
        return (code & 0x1F) << 6 | data[at + 1] & 0x3F
    code = (code & 0x0F) << 12 | (data[at + 1] & 0x3F) << 6 | data[at + 2] & 0x3F
    return code if data[at] < 0xF0 else code << 6 | data[at + 3] & 0x3F


def put(out: bytearray, code: int) -> None:
    if code < 0x80:
        out.append(code)
        return
    if code < 0x800:
        out.append(0xC0 | code >> 6)
    else:
        if code < 0x10000:
            out.append(0xE0 | code >> 12)
        else:
            out.append(0xF0 | code >> 18)
            out.append(0x80 | code >> 12 & 0x3F)
        out.append(0x80 | code >> 6 & 0x3F)
    out.append(0x80 | code & 0x3F)


def _flawed(data: bytes) -> bool:
    """True if loosely checked bytes are invalid UTF-8; the searches run in C."""
    for lead in _NEVER:
        if lead in data:
            return True
    for lead, (lowest, highest) in _NARROWED.items():
        lead = bytes((lead,))
        at = data.find(lead)
        while at >= 0:
            if not lowest <= data[at + 1] <= highest:
                return True
            at = data.find(lead, at + 1)
    return False


def _repaired(data) -> bytes:
    out = bytearray()
    at = 0
    while at < len(data):
        size = _sequence(data, at)
        out.extend(data[at : at + size] if size > 0 else REPLACEMENT)
        at += abs(size)
    return bytes(out)


def _sequence(data, at: int) -> int:
    """Return the character's length at `at`, or minus the bytes replaced as one."""
    lead = data[at]
    if lead < 0x80:
        return 1
    if not 0xC2 <= lead <= 0xF4:
        return -1
    size = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    lowest, highest = _NARROWED.get(lead, (_LOWEST, _HIGHEST))
    for index in range(1, size):
        if at + index == len(data) or not lowest <= data[at + index] <= highest:
            return -index
        lowest, highest = _LOWEST, _HIGHEST
    return size
