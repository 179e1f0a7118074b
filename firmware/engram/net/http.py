"""An HTTP/1.1 client for one service, with one kept link and one request at a time; raises NetError and
ArgumentError. Redirects are not followed, as they could leak a key.
"""

import asyncio

from engram.compat import ticks_diff, ticks_ms
from engram.errors import ArgumentError, NetError, TimedOut
from engram.net.response import Response
from engram.net.transport import address_of, connect, failed, split_url
from engram.text.utf8 import is_printable_ascii

_CONNECT_MS = const(10_000)
# The longest silence of a service that is thinking, before the link counts as dead.
_STALL_MS = const(30_000)
# An answer of a model is bounded by its time: signs of life, thoughts and other fields that are skipped do not count.
_ANSWER_BYTES = const(0x1FFFFFFF)
# One buffer for both ways: it fits a TCP segment, and the answer comes only after the request went.
_BUFFER = const(1024)


class Client:
    """Requests to one base URL; https needs `tls`, `network` is a board's Wi-Fi or None."""

    # A kept link that was idle for longer is not tried again: services and routers forget it without a word.
    idle_ms = 15_000

    def __init__(self, url: str, *, stall_ms=_STALL_MS, most=_ANSWER_BYTES, tls=None, network=None):
        secure, self.host, self.port, self.prefix = split_url(url)
        if secure and not tls:
            raise ArgumentError("tls", "must be a tls_context() for an https URL")
        self.url = url
        self._tls = tls if secure else None
        self._network = network
        self.stall_ms = stall_ms
        self._most = most
        self.address = None
        """The host's address, None while unknown."""
        self.is_sent = False
        """True if the latest request went out whole: without an answer its effect is unknown."""
        self._link = None
        self._idle_since = 0
        self._buffer = bytearray(_BUFFER)
        self._lock = asyncio.Lock()  # two tasks on one stream: the first would hang for ever

    async def ask(
        self, method: str, path: str, headers=(), body=None, is_repeatable: bool = True, first_ms: int = 0
    ) -> Response:
        """Send a request and return its Response, to be released; `body()` yields equal pieces each time."""
        # `headers` are (name, value) pairs. `body` is called twice, to count its bytes and to send them; None
        # sends no body. A request that is not repeatable is retried only if it did not go out whole. `first_ms`
        # limits the time until the answer begins.
        await self._lock.acquire()
        is_answered = False
        try:
            # Counted only now: what the body is made from may change while another request is under way.
            length = -1 if body is None else sum(len(piece) for piece in body())
            head = self._head(method, path, headers, length)
            answer = await self._ask(head, body, length, is_repeatable, first_ms)
            is_answered = True
            return answer
        finally:
            if not is_answered:
                self._drop()
                self._lock.release()

    def release(self, answer: Response) -> None:
        """Release an answer; keep its link only if the body was read to its end."""
        if answer.is_spent():
            self._idle_since = ticks_ms()
        else:
            self._drop()
        self._lock.release()

    def tidy(self) -> None:
        """Close a long idle link, as TLS holds 24.5 KB; call it now and then."""
        if not self._lock.locked() and ticks_diff(ticks_ms(), self._idle_since) > self.idle_ms:
            self._drop()

    def _drop(self):
        if self._link:
            self._link.close()
            self._link = None

    def _head(self, method, path, headers, length):
        host = self.host
        if self.port != (443 if self._tls else 80):
            host += ":" + str(self.port)
        path = self.prefix + path
        if " " in path or not path.startswith("/"):
            raise ArgumentError("path", "must begin with / and have no spaces")
        lines = [method + " " + path + " HTTP/1.1", "Host: " + host, "Accept-Encoding: identity"]
        if length >= 0:
            lines.append("Content-Length: " + str(length))
        for name, value in headers:
            lines.append(name + ": " + value)
        for line in lines:
            if not is_printable_ascii(line):
                # The line is not shown, as it may contain a key.
                raise ArgumentError("request", "must have only printable ASCII in its path and headers")
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    async def _ask(self, head, body, length, is_repeatable, first_ms):
        is_idle = self._link and ticks_diff(ticks_ms(), self._idle_since) > self.idle_ms
        if is_idle or (self._link and not is_repeatable and self._link.has_ended()):
            self._drop()
        while True:
            self.is_sent = False
            is_kept = self._link is not None
            link = self._link = self._link or await self._connect()
            answer = Response(link, self._buffer, stall_ms=self.stall_ms, most=self._most, first_ms=first_ms)
            try:
                await self._exchange(link, answer, head, body, length)
                return answer
            except TimedOut:
                raise
            except NetError:
                if answer.begun or (self.is_sent and not is_repeatable):
                    raise
                if not is_kept:
                    self.address = None  # the host may have moved
                    raise
            self._drop()  # the service had closed the kept link

    async def _connect(self):
        if self._network and not self._network.wlan.isconnected():
            # To look a name up would block the board for up to 21 seconds.
            raise failed(self.host, "there is no network")
        self.address = self.address or address_of(self.host, self.port)
        try:
            return await connect(self.address, self._tls, self.host, _CONNECT_MS)
        except NetError:
            self.address = None
            raise

    async def _exchange(self, link, answer, head, body, length):
        failure = None
        try:
            await self._send(link, head, body, length)
            self.is_sent = True
        except TimedOut:
            raise
        except NetError as error:
            failure = error
        try:
            # Even when sending failed: a service that refuses a body says why before it closes the link.
            await answer.read_head()
        except NetError as error:
            raise failure or error
        if failure:
            answer.reusable = False

    async def _send(self, link, head, body, length):
        used = await self._put(link, head, 0)
        if body is not None:
            for piece in body():
                length -= len(piece)
                if length < 0:
                    break
                used = await self._put(link, piece, used)
            if length:
                raise ArgumentError("body", "must give the same bytes each time that it is called")
        await link.write(memoryview(self._buffer)[:used], self.stall_ms)

    async def _put(self, link, piece, used):
        piece = memoryview(piece)
        while len(piece) > _BUFFER - used:
            room = _BUFFER - used
            self._buffer[used:] = piece[:room]
            await link.write(self._buffer, self.stall_ms)
            piece = piece[room:]
            used = 0
        self._buffer[used : used + len(piece)] = piece
        return used + len(piece)
