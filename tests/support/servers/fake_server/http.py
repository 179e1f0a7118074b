"""The part of HTTP/1.1 that a client of an LLM needs, on the streams of asyncio.

in    a request line, headers, a body by Content-Length or in chunks; connections are kept
out   a whole body by Content-Length, or chunks; to HTTP/1.0, a body that ends with the connection
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

HEAD = 64 * 1024
"""Bytes of a request's head, and of a line between chunks; protects the server's memory."""
BODY = 16 * 1024 * 1024
"""Bytes of a request's body; protects the server's memory."""

_REASONS = {status.value: status.phrase for status in HTTPStatus}


class HttpError(Exception):
    """A request that cannot be read: `status` is the answer to it, and the connection ends."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request; names of `headers` are in lower case, `path` is without the query, `head` as it came."""

    method: str
    path: str
    version: str
    headers: Mapping[str, str]
    head: bytes
    body: bytes

    @property
    def keeps(self) -> bool:
        """Whether the client wants to keep the connection."""
        return self.version == "HTTP/1.1" and "close" not in self.headers.get("connection", "").lower()


async def read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> HttpRequest | None:
    """The next request of a connection; None when the client has closed it."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, version, headers = _parse(head)
        if headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await _body(reader, headers)
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError as error:
        raise HttpError(431, f"the request's head is longer than {HEAD} bytes") from error
    return HttpRequest(method, target.partition("?")[0], version, headers, head, body)


def _parse(head: bytes) -> tuple[str, str, str, dict[str, str]]:
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or parts[2] not in ("HTTP/1.1", "HTTP/1.0"):
        raise HttpError(400, "the request line is not METHOD TARGET HTTP/1.1")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        name = name.lower()
        if not colon or not name or name != name.strip() or " " in name:
            raise HttpError(400, "a header line is not NAME: VALUE")
        if name in headers and name in ("content-length", "transfer-encoding", "host"):
            raise HttpError(400, f"the header {name} came twice")
        headers[name] = f"{headers[name]}, {value.strip()}" if name in headers else value.strip()
    if parts[2] == "HTTP/1.1" and "host" not in headers:
        raise HttpError(400, "the header host is missing")
    return parts[0], parts[1], parts[2], headers


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    length = headers.get("content-length")
    if "transfer-encoding" in headers:
        if length is not None or headers["transfer-encoding"].lower() != "chunked":
            raise HttpError(400, "the body comes either with Content-Length or in chunks")
        return await _chunks(reader)
    return await reader.readexactly(_bounded(length or "0", 10, BODY))


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while True:
        line = await reader.readuntil(b"\r\n")
        size = _bounded(line.decode("latin-1").partition(";")[0].strip(), 16, BODY - len(body))
        if not size:
            break
        body += await reader.readexactly(size)
        if await reader.readexactly(2) != b"\r\n":
            raise HttpError(400, "a chunk is longer than it says")
    while await reader.readuntil(b"\r\n") != b"\r\n":
        pass
    return bytes(body)


def _bounded(digits: str, base: int, most: int) -> int:
    """The number that `digits` are, if they are digits only and it is at most `most`."""
    allowed = "0123456789abcdef"[:base]
    if not digits or any(digit not in allowed for digit in digits.lower()):
        raise HttpError(400, "the length of the body, or of a chunk, is not a number")
    if len(digits) > 16 or int(digits, base) > most:
        raise HttpError(413, f"the body is longer than {BODY} bytes")
    return int(digits, base)


class Outgoing:
    """The way back for one answer. `byte_delay` makes it send byte by byte, with these seconds between."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: HttpRequest | None):
        self._reader = reader
        self._writer = writer
        self._chunked = request is not None and request.version == "HTTP/1.1"
        self.keeps = request is not None and request.keeps
        self.byte_delay: float | None = None

    async def send_whole(
        self, status: int, body: bytes, headers: Mapping[str, str], *, sent: int | None = None
    ) -> None:
        """An answer of known length; of its body, the first `sent` bytes go out (all by default)."""
        await self._write(self._head(status, {**headers, "content-length": str(len(body))}))
        await self._write(body[:sent])

    async def start(self, headers: Mapping[str, str]) -> None:
        """Begin an answer whose length is not known."""
        framing = {"transfer-encoding": "chunked"} if self._chunked else {}
        self.keeps = self.keeps and self._chunked
        await self._write(self._head(200, {**headers, **framing}))

    async def send(self, data: bytes) -> None:
        """A part of it, in one chunk, or in as many chunks as bytes."""
        if not self._chunked:
            await self._write(data)
            return
        step = len(data) if self.byte_delay is None else 1
        for place in range(0, len(data), step):
            part = data[place : place + step]
            await self._put(b"%x\r\n%s\r\n" % (len(part), part))

    async def finish(self) -> None:
        """End it."""
        if self._chunked:
            await self._put(b"0\r\n\r\n")

    async def hold_open(self) -> None:
        """Send nothing more, and wait until the client gives up."""
        self.keeps = False
        while await self._reader.read(HEAD):
            pass

    def _head(self, status: int, headers: Mapping[str, str]) -> bytes:
        reason = _REASONS.get(status, "Refused")
        connection = "keep-alive" if self.keeps else "close"
        lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, f"connection: {connection}", "", ""]).encode("latin-1")

    async def _write(self, data: bytes) -> None:
        step = max(1, len(data)) if self.byte_delay is None else 1
        for place in range(0, len(data), step):
            await self._put(data[place : place + step])

    async def _put(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()
        if self.byte_delay is not None:
            await asyncio.sleep(self.byte_delay)
