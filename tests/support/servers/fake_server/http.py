"""The part of HTTP/1.1 that a client of an LLM needs, on the streams of asyncio.

in    a request line, headers, a body by Content-Length; connections are kept
out   a whole body by Content-Length, or chunks
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

HEAD = 64 * 1024
"""Bytes of a request's head; protects the server's memory."""
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
    headers: Mapping[str, str]
    head: bytes
    body: bytes

    @property
    def keeps(self) -> bool:
        """Whether the client wants to keep the connection."""
        return "close" not in self.headers.get("connection", "").lower()


async def read_request(reader: asyncio.StreamReader) -> HttpRequest | None:
    """The next request of a connection; None when the client has closed it."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        method, target, headers = _parse(head)
        body = await reader.readexactly(_length(headers))
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError as error:
        raise HttpError(431, f"the request's head is longer than {HEAD} bytes") from error
    return HttpRequest(method, target.partition("?")[0], headers, head, body)


def _parse(head: bytes) -> tuple[str, str, dict[str, str]]:
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or parts[2] != "HTTP/1.1":
        raise HttpError(400, "the request line is not METHOD TARGET HTTP/1.1")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        name = name.lower()
        if not colon or not name or name != name.strip() or " " in name:
            raise HttpError(400, "a header line is not NAME: VALUE")
        headers[name] = f"{headers[name]}, {value.strip()}" if name in headers else value.strip()
    return parts[0], parts[1], headers


def _length(headers: Mapping[str, str]) -> int:
    """The length of the body; HttpError if it comes in chunks, which no client of ours sends, or is too long."""
    digits = headers.get("content-length", "0")
    if "transfer-encoding" in headers or not (digits.isascii() and digits.isdigit()):
        raise HttpError(400, "the length of the body is not a number")
    if len(digits) > 16 or int(digits) > BODY:
        raise HttpError(413, f"the body is longer than {BODY} bytes")
    return int(digits)


class Outgoing:
    """The way back for one answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: HttpRequest | None):
        self._reader = reader
        self._writer = writer
        self.keeps = request is not None and request.keeps

    async def send_whole(
        self, status: int, body: bytes, headers: Mapping[str, str], *, sent: int | None = None
    ) -> None:
        """An answer of known length; of its body, the first `sent` bytes go out (all by default)."""
        await self._write(self._head(status, {**headers, "content-length": str(len(body))}))
        await self._write(body[:sent])

    async def start(self, headers: Mapping[str, str]) -> None:
        """Begin an answer whose length is not known."""
        await self._write(self._head(200, {**headers, "transfer-encoding": "chunked"}))

    async def send(self, data: bytes) -> None:
        """A part of it, in one chunk."""
        await self._write(b"%x\r\n%s\r\n" % (len(data), data))

    async def finish(self) -> None:
        """End it."""
        await self._write(b"0\r\n\r\n")

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
        self._writer.write(data)
        await self._writer.drain()
