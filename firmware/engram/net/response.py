"""The answer to an HTTP/1.1 request, read through one fixed buffer.

HTTP/1.1 200 OK CRLF            status line
Name: value CRLF ...            headers; those of _WANTED are kept
CRLF
body                            by content-length, in chunks, or until the link is closed

chunk    = size in hex [; extension] CRLF  bytes CRLF, the last of size 0
trailers = header lines after the last chunk, then CRLF; read and dropped
"""

from engram.errors import BadAnswer, NetError
from engram.net.transport import failed
from engram.text import cut, decode, loads, part, printable

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


# Bytes kept of a line: the headers we want are far shorter; longer ones are skipped.
_LINE = const(200)
# Protect against a head, or trailers, without end.
_HEAD_LINES = const(100)
_HEAD_BYTES = const(16384)
# "100 Continue" and its like before the real answer.
_INTERIM_ANSWERS = const(4)
# Bytes that may be read only to reuse the link.
_DRAIN_READS = const(4)
_WANTED = const((b"content-length", b"transfer-encoding", b"retry-after", b"connection"))
# Characters shown of a service's words: its first sentence, but no page of HTML.
_WORDS = const(200)
_SAID = ("error", "message", "detail", "msg", "errors", "error_msg", "status_msg", "base_resp", "description", "title")
_MOST_LISTED = const(3)  # entries of a list of errors: the line has no room for more


class Response:
    """One answer: read_head() once, then read() to its end; `retry_after` is -1 if unknown."""

    # status       HTTP status
    # begun        True if any byte came
    # ended        True if the body was read to its end
    # reusable     True if the link may serve another request

    def __init__(self, link, buffer: bytearray, *, stall_ms: int, most: int, first_ms: int = 0):
        self.status = 0
        self.retry_after = -1
        self.begun = self.ended = self.reusable = False
        self._link = link
        self._buffer = buffer
        self._view = memoryview(buffer)
        self._start = self._end = 0
        self._stall_ms = stall_ms
        self._wait_ms = first_ms or stall_ms
        self._budget = most
        self._chunked = False
        self._left = -1  # bytes to come in this body or chunk; -1: until the link is closed

    async def read_head(self) -> None:
        for _ in range(_INTERIM_ANSWERS):
            version = await self._read_status()
            headers = await self._read_headers()
            if self.status >= 200:
                break
        else:
            raise BadAnswer("the service sends interim answers without end")
        retry_after = headers.get(b"retry-after", b"").split(b".")[0]
        self.retry_after = _number(retry_after, 10) if retry_after.isdigit() else -1
        connection = headers.get(b"connection", b"").lower()
        self.reusable = b"close" not in connection and (version != b"HTTP/1.0" or b"keep-alive" in connection)
        self._frame_body(headers)

    def hasten(self) -> None:
        """Apply the usual time limit from now on."""
        self._wait_ms = self._stall_ms

    async def read(self) -> memoryview:
        """Return the next bytes of the body, lent until the next call; none at the end."""
        if self._chunked and self._left == 0:
            await self._next_chunk()
        if self.ended:
            return self._view[:0]
        if self._start == self._end:
            await self._fill(may_end=self._left < 0)
        start = self._start
        count = self._end - start if self._left < 0 else min(self._end - start, self._left)
        self._start += count
        self._budget -= count
        if self._budget < 0:
            raise BadAnswer("the answer is longer than its bound")
        if self._left > 0:
            self._left -= count
            self.ended = self._left == 0 and not self._chunked
        return self._view[start : start + count]

    async def collect(self, most: int) -> bytes:
        """Return the rest of the body, up to the read that reaches `most` bytes."""
        body = bytearray()
        while not self.ended and len(body) < most:
            body.extend(await self.read())
        return bytes(body)

    async def drain(self, within_ms: int) -> None:
        self._wait_ms = within_ms
        try:
            for _ in range(_DRAIN_READS):
                if not await self.read():
                    break
        except NetError:
            self.reusable = False

    def is_spent(self) -> bool:
        """True if the link has nothing left of this answer and can be reused."""
        return self.ended and self.reusable and self._start == self._end

    async def _read_status(self):
        parts = (await self._read_line()).split(None, 2)
        if len(parts) < 2 or not parts[0].startswith(b"HTTP/1.") or len(parts[1]) != 3:
            raise BadAnswer("the service does not answer with HTTP/1.1")
        self.status = _number(parts[1], 10)
        return parts[0]

    async def _read_headers(self):
        headers = {}
        room = _HEAD_BYTES
        for _ in range(_HEAD_LINES):
            line = await self._read_line(room)
            if not line:
                return headers
            room -= len(line)
            name, _, value = line.partition(b":")
            name = name.lower()
            if name in _WANTED:
                value = value.strip()
                if name == b"content-length" and headers.get(name, value) != value:
                    raise BadAnswer("the answer has two lengths")
                headers[name] = value
        raise BadAnswer("the answer has too many headers")

    def _frame_body(self, headers):
        coding = headers.get(b"transfer-encoding")
        length = headers.get(b"content-length")
        if self.status in (204, 304):
            self._left = 0
            self.ended = True
        elif coding is not None:
            if coding.lower() != b"chunked":
                raise BadAnswer("the answer has an unknown transfer encoding")
            self._chunked = True
            self._left = 0
            self._in_first_chunk = True
        elif length is not None:
            self._left = _number(length, 10)
            self.ended = self._left == 0
        else:
            self.reusable = False

    async def _next_chunk(self):
        if self.ended:
            return
        if not self._in_first_chunk and await self._read_line():
            raise BadAnswer("a chunk of the answer is longer than its size")
        self._in_first_chunk = False
        self._left = _number((await self._read_line()).split(b";")[0].strip(), 16)
        if self._left == 0:
            await self._read_headers()
            self.ended = True

    async def _read_line(self, most=_HEAD_BYTES):
        """Return the next line, cut to _LINE bytes; dropped bytes count towards `most`."""
        line = b""
        while True:
            if self._start == self._end:
                await self._fill()
            newline = self._buffer.find(b"\n", self._start, self._end)
            stop = self._end if newline < 0 else newline
            most -= stop - self._start
            if most < 0:
                raise BadAnswer("the head of the answer is too long")
            line += bytes(self._view[self._start : min(stop, self._start + _LINE - len(line))])
            self._start = stop
            if newline >= 0:
                self._start += 1
                return line.rstrip(b"\r")

    async def _fill(self, may_end=False):
        self._start = self._end = 0
        # Read no more than the body's rest: an error right behind it would lose its end.
        is_last = self._left > 0 and not self._chunked
        count = await self._link.readinto(self._view[: self._left] if is_last else self._view, self._wait_ms)
        if count:
            self.begun = True
            self._end = count
        elif may_end:
            self.ended = True
        else:
            raise failed(self._link.name, "it was cut by the other side")


def _number(digits, base):
    # int() alone would take signs, spaces and underscores as well.
    alphabet = b"0123456789abcdefABCDEF" if base == 16 else b"0123456789"
    if not 0 < len(digits) <= 8 or not all(code in alphabet for code in digits):
        raise BadAnswer("the answer has a number that is none")
    return int(digits, base)


# --- what a refusal says


def error_text(body: bytes) -> str:
    """Return the service's words in a refusal's body, or ""."""
    try:
        words = error_words(loads(body))
    except ValueError:
        words = ""
    return words or ("" if body.strip().startswith(b"<") else decode(body))


def error_words(error) -> str:
    """Return the service's words in an error (text, object or list), with the field's name."""
    if isinstance(error, str):
        return error
    if isinstance(error, list):
        return "; ".join([words for words in [error_words(each) for each in error[:_MOST_LISTED]] if words])
    words = ""
    for name in _SAID if isinstance(error, dict) else ():
        words = words or error_words(error.get(name))
    raw = part(part(error, "metadata", dict), "raw", str)
    if raw:
        words += " (" + error_text(raw.encode()) + ")"  # of the service behind this one
    place = part(error, "loc", list)
    field = ".".join([str(each) for each in place if each != "body"]) if place else part(error, "param", str)
    return field + ": " + words if words and field not in words else words


def is_busy(status: int) -> bool:
    """True if the same request may succeed later."""
    return status in (408, 425, 429) or status >= 500


def describe_status(status: int, words: str) -> str:
    words = cut(" ".join(printable(words).split()), _WORDS)
    return " (HTTP " + str(status) + (": " + words if words else "") + ")"
