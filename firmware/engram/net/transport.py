"""One byte stream over TCP or TLS, each step bounded in time; and the base URLs that say where to:
http(s)://host[:port][/path]. Nothing of these that could reach into a header gets through.

What breaks is a NetError: TimedOut, or Refused where a certificate does not pass.
What sockets do on a chip, and not on the unix port, is in tests/support/firmware/fakes/README.md.
"""

import asyncio
import socket
import time
from errno import EAGAIN, ECONNREFUSED, ECONNRESET, EINPROGRESS, ETIMEDOUT, errorcode

from engram.compat import wait_for_ms
from engram.errors import ArgumentError, NetError, Refused, TimedOut
from engram.text.utf8 import encode, is_printable_ascii

# The numbers are the same everywhere; not every build of MicroPython has the names.
_IPPROTO_TCP = const(6)
_TCP_NODELAY = const(1)
# TLS ended without close_notify: the data is checked by its length or content, as over plain TCP.
_END_WITHOUT_NOTICE = const(-29312)
# No certificate in use was made before: a clock that shows less has not been set.
_FIRST_YEAR = const(2025)

# Protects the heap and the request line: no service has a longer base URL.
_LONGEST_URL = const(300)
_DIGITS = const(b"0123456789")
_HOST = const(b"abcdefghijklmnopqrstuvwxyz0123456789-._")

WEB = (("http", 80), ("https", 443))
"""Schemes of plain and TLS links, with default ports."""


def split_url(url: str, schemes=WEB) -> tuple:
    """Return (secure, host, port, prefix) of a URL, which errors never quote (passwords)."""
    scheme, _, rest = url.partition("://")
    authority, _, prefix = rest.partition("/")
    host, port = _split_authority(authority.lower())
    scheme = scheme.lower()
    secure = scheme == schemes[1][0]
    is_wrong = not (secure or scheme == schemes[0][0]) or not host or not 0 <= port < 65536 or len(url) > _LONGEST_URL
    if is_wrong or not is_printable_ascii(url) or any(code in b' "?#<>\\' for code in encode(url)):
        problem = "must be %s(s)://host[:port][/path], without user name, query or space"
        raise ArgumentError("url", problem % schemes[0][0])
    prefix = prefix.strip("/")
    return secure, host, port or schemes[secure][1], "/" + prefix if prefix else ""


def _split_authority(authority):
    host, colon, port = authority.partition(":")
    if not _consists_of(host, _HOST):
        host = ""
    if not colon:
        return host, 0
    is_number = 0 < len(port) < 6 and _consists_of(port, _DIGITS)
    return host, int(port) or -1 if is_number else -1


def _consists_of(text, alphabet):
    return all(code in alphabet for code in encode(text))


def tls_context(roots: bytes):
    """Return a context that verifies the host's name under `roots` (PEM or concatenated DER)."""
    import tls  # which not every build of MicroPython has

    context = tls.SSLContext(tls.PROTOCOL_TLS_CLIENT)  # demands a certificate and checks its name
    try:
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


def address_of(host: str, port: int) -> tuple:
    """Look up a host's address; blocks the board, so keep the result."""
    try:
        return socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_STREAM)[0]
    except OSError:
        raise failed(host, "the name was not found")


async def connect(address: tuple, tls, name: str, within_ms: int) -> "Transport":
    """Connect to an address_of(); on a chip, refusals show up only at the first exchange."""
    link = Transport(name)
    try:
        await _step(link.open(address, tls), within_ms, "no connection in time", name)
        return link
    finally:
        if not link.is_open:
            link.close()


class Transport:
    """An open byte stream; each direction is used by one task at a time."""

    def __init__(self, name: str):
        self.is_open = False
        self.name = name
        self._sockets = ()
        self._reads_once = False

    async def open(self, address: tuple, tls) -> None:
        """Connect to an address_of(), under the context `tls` if given."""
        # Not asyncio.open_connection: it asks the name server each time, and loses its socket when cancelled.
        plain = socket.socket(address[0], address[1], address[2])
        self._sockets = (plain,)
        plain.setblocking(False)
        try:
            # Else the end of a request waits until its beginning was acknowledged: 40 ms and more, each time.
            plain.setsockopt(_IPPROTO_TCP, _TCP_NODELAY, 1)
        except (OSError, ValueError):
            pass  # slower, but it works
        try:
            plain.connect(address[4])
        except OSError as error:
            if error.errno != EINPROGRESS:
                raise
        await _ready(plain, True)  # type: ignore
        if tls:
            secure = tls.wrap_socket(plain, server_hostname=self.name, do_handshake_on_connect=False)
            self._sockets = (secure, plain)
            secure.setblocking(False)
            self._reads_once = hasattr(secure, "recv")  # not in every build
        self._socket = self._sockets[0]
        self.is_open = True

    async def readinto(self, view, within_ms: int) -> int:
        """Fill `view` with the next bytes; return the count, 0 at the end."""
        return await _step(self._read(view), within_ms, "nothing came in time", self.name)

    async def _read(self, view):
        # Tried before it is waited for: a chip shows the end of a stream only until it was read, perhaps with the bytes before.
        count = self._receive(view)
        while count is None:
            await _ready(self._socket, False)  # type: ignore
            count = self._receive(view)
        return count

    def _receive(self, view):
        if not self._reads_once:
            return self._socket.readinto(view)  # type: ignore
        # readinto() goes on until the view is full, and forgets what came before an error. Where an error is likely, which is
        # after another one, and when TLS ends, each read is one read.
        try:
            data = self._socket.recv(len(view))
        except OSError as error:
            if error.errno == EAGAIN:
                return None
            if error.errno == _END_WITHOUT_NOTICE:
                return 0
            raise
        if data is None:
            return None
        view[: len(data)] = data
        return len(data)

    def has_ended(self) -> bool:
        """True if an idle link was closed or has unexpected data."""
        try:
            return self._receive(bytearray(1)) is not None
        except OSError:
            return True

    async def write(self, view, within_ms: int) -> None:
        """Send all of `view`, which may change after that."""
        try:
            await _step(self._write(view), within_ms, "nothing could be sent in time", self.name)
        except NetError:
            self._reads_once = True
            raise

    async def _write(self, view):
        view = memoryview(view)
        while len(view):
            count = self._socket.write(view)  # type: ignore
            if count is None:
                await _ready(self._socket, True)  # type: ignore
            else:
                view = view[count:]

    def close(self) -> None:
        """Close at once; safe at any time and repeatedly."""
        self.is_open = False
        for each in self._sockets:
            # TLS closes its socket only if the handshake had not failed: so both, one perhaps twice.
            try:
                each.close()
            except OSError:
                pass
        self._sockets = ()


def failed(name: str, problem: str) -> NetError:
    return NetError("the link to %s failed: %s" % (name, problem))


def _reason(error: OSError) -> str:
    code = error.errno
    if not isinstance(code, int):
        return str(error)
    code = abs(code)  # MicroPython up to 1.27 has the errors of an open TLS link below zero
    if code in (ECONNREFUSED, ECONNRESET):
        return "it was refused, or cut by the other side"
    return "nothing came in time" if code == ETIMEDOUT else errorcode.get(code) or str(error)


def _ready(sock, to_write):
    # Awaited as a generator, the way asyncio.open_connection does it itself.
    queue = asyncio.core._io_queue  # type: ignore
    yield queue.queue_write(sock) if to_write else queue.queue_read(sock)


async def _step(awaitable, within_ms, problem, name):
    try:
        return await wait_for_ms(awaitable, within_ms)
    except asyncio.TimeoutError:
        raise TimedOut("the link to %s failed: %s" % (name, problem))
    except ValueError as error:
        # Both MicroPython and CPython report a refused certificate this way.
        raise _refusal(name, str(error), time.gmtime()[0])
    except OSError as error:
        raise failed(name, _reason(error))


def _refusal(name: str, reason: str, year: int) -> NetError:
    if year < _FIRST_YEAR:  # which may pass soon
        return NetError("the clock is not set, so the certificate of " + name + " cannot be checked; set the time")
    # "has expired", "starts in the future", "is not yet valid": the words of MicroPython and of CPython.
    is_dated = "expired" in reason or "future" in reason or "not yet" in reason
    advice = "is the clock right?" if is_dated else "check the URL and the root certificates"
    return Refused("the certificate of %s was refused (%s); %s" % (name, " ".join(reason.split()), advice))
