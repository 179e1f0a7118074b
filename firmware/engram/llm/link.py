"""One byte stream over TCP or TLS, each step bounded in time.

What breaks is an OSError, a timeout too; where we know more than the system, its second argument says
what happened. A certificate that does not pass is CertificateRefused: trying again does not help.
"""

import asyncio
import socket
import time
from errno import EINPROGRESS, EIO, ETIMEDOUT

from engram.compat import const, wait_for_ms
from engram.errors import ArgumentError

# MicroPython's streams wrap a socket that is ours, CPython's own theirs.
_OWN_SOCKETS = hasattr(asyncio.StreamReader, "readinto")
# The numbers are the same everywhere; not every build of MicroPython has the names.
_IPPROTO_TCP = const(6)
_TCP_NODELAY = const(1)
# No certificate in use was made before: a clock that shows less has not been set.
_FIRST_YEAR = const(2025)


class CertificateRefused(Exception):
    """The service's certificate did not pass, or could not be judged because the clock is not set."""


def tls_context(roots: bytes):
    """A TLS context that demands a certificate for the host's name, signed under one of `roots`.

    `roots` is PEM text, or DER certificates one after the other (less flash, less heap to read).
    """
    try:
        import tls
    except ImportError:
        import ssl as tls  # CPython
    context = tls.SSLContext(tls.PROTOCOL_TLS_CLIENT)  # demands a certificate and checks its name
    try:
        if not _OWN_SOCKETS:
            context.load_verify_locations(cadata=roots if roots[:1] == b"\x30" else roots.decode())
        else:
            for root in _certificates(roots):
                context.load_verify_locations(root)
    except (ValueError, OSError):
        raise ArgumentError("roots", "must be certificates as PEM text or as DER bytes")
    return context


def _certificates(roots):
    if roots[:1] != b"\x30":
        yield roots
        return
    while roots:
        # A certificate's DER begins with 30 82 and its length in two bytes.
        size = 4 + (roots[2] << 8 | roots[3]) if roots[:2] == b"\x30\x82" and len(roots) > 4 else 0
        if not 4 < size <= len(roots):
            raise ValueError
        yield roots[:size]
        roots = roots[size:]


def addresses(host: str, port: int) -> list:
    """Where the host can be reached. Blocks the whole board: ask once and keep the answer."""
    try:
        return socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)
    except OSError:
        raise OSError(EIO, "the name was not found")


async def connect(places: list, tls, name: str, within_ms: int) -> "Link":
    """A link to the first of `places` that takes it; `name` is what its certificate must be for."""
    failure = OSError(EIO, "the name has no address")
    for place in places:
        link = Link()
        try:
            await _step(link.open(place, tls, name), within_ms, "no connection in time", name)
            return link
        except OSError as error:
            failure = error
        finally:
            if not link.is_open:
                link.close()
    raise failure


class Link:
    """An open byte stream; used by one task at a time."""

    def __init__(self):
        self.is_open = False
        self._name = ""
        self._sockets = ()

    async def open(self, place: tuple, tls, name: str) -> None:
        """Connect to one of addresses(); with `tls`, under that context."""
        self._name = name
        if _OWN_SOCKETS:
            await self._open_socket(place, tls)
        else:
            host, port = place[4][:2]
            self._reader, self._writer = await asyncio.open_connection(
                host, port, ssl=tls, server_hostname=name if tls else None
            )
        self.is_open = True

    async def _open_socket(self, place, tls):
        # Not asyncio.open_connection: it asks the name server each time, and loses its socket when cancelled.
        plain = socket.socket(place[0], place[1], place[2])
        self._sockets = (plain,)
        plain.setblocking(False)
        try:
            # Else the end of a request waits until its beginning was acknowledged: 40 ms and more, each time.
            plain.setsockopt(_IPPROTO_TCP, _TCP_NODELAY, 1)
        except (OSError, ValueError):
            pass  # slower, but it works
        try:
            plain.connect(place[4])
        except OSError as error:
            if error.errno != EINPROGRESS:
                raise
        await _writable(plain)  # type: ignore
        plain.send(b"")  # a refused connection shows here, while the next address can still be tried
        if tls:
            secure = tls.wrap_socket(plain, server_hostname=self._name, do_handshake_on_connect=False)
            self._sockets = (secure, plain)
            secure.setblocking(False)
        self._reader, self._writer = _both_ways(self._sockets[0])

    async def readinto(self, view, within_ms: int) -> int:
        """Fill `view` with what comes next; the count, 0 at the end of the stream."""
        return await _step(self._read(view), within_ms, "nothing came in time", self._name)

    async def _read(self, view):
        if _OWN_SOCKETS:
            count = None
            while count is None:  # a part of a TLS record came, no text yet
                count = await self._reader.readinto(view)  # type: ignore
            return count
        data = await self._reader.read(len(view))
        view[: len(data)] = data
        return len(data)

    async def write(self, view, within_ms: int) -> None:
        """Send all of `view`; it may be changed as soon as this returns."""
        await _step(self._write(view), within_ms, "nothing could be sent in time", self._name)

    async def _write(self, view):
        self._writer.write(view if _OWN_SOCKETS else bytes(view))
        await self._writer.drain()

    def close(self) -> None:
        """Close at once; safe at any time and more than once."""
        if self.is_open and not _OWN_SOCKETS:
            self._writer.transport.abort()
        self.is_open = False
        for each in self._sockets:
            # TLS closes its socket only if the handshake had not failed: so both, one perhaps twice.
            try:
                each.close()
            except OSError:
                pass
        self._sockets = ()


def _both_ways(sock) -> tuple:
    # MicroPython has one class for reading and writing.
    stream = asyncio.StreamReader(sock)  # type: ignore
    return stream, stream


def _writable(sock):
    # Awaited as a generator, the way asyncio.open_connection does it itself.
    yield asyncio.core._io_queue.queue_write(sock)  # type: ignore


async def _step(awaitable, within_ms, problem, name):
    try:
        return await wait_for_ms(awaitable, within_ms)
    except asyncio.TimeoutError:
        raise OSError(ETIMEDOUT, problem)
    except ValueError as error:
        # How both MicroPython and CPython tell that a certificate did not pass.
        raise CertificateRefused(_why_refused(name, str(error), time.gmtime()[0]))


def _why_refused(name, reason, year):
    if year < _FIRST_YEAR:
        return "the clock is not set, so the certificate of " + name + " cannot be checked; set the time"
    # "has expired", "starts in the future", "is not yet valid": the words of MicroPython and of CPython.
    is_dated = "expired" in reason or "future" in reason or "not yet" in reason
    advice = "is the clock right?" if is_dated else "check the URL and the root certificates"
    return "the certificate of " + name + " was refused (" + " ".join(reason.split()) + "); " + advice
