"""The module `socket` of a chip, over this computer's sockets, on MicroPython's unix port and on CPython.

What differs from the unix port is done as MicroPython's ports/esp32/modsocket.c and lwIP do it, and as it was seen on an
emulated chip (README.md beside it): send() of nothing raises EAGAIN, a refused connection shows at the first read or write,
buffers have four segments, there are ten sockets, and getaddrinfo gives one IPv4 address or a number below zero. Where ports
differ it does what is worse: the end of a stream is shown by a poll until it was read, and then never again. Addresses are
those of this computer.
"""

import select
import sys
from errno import EAGAIN, EBADF, ECONNABORTED, ECONNRESET, EHOSTUNREACH, EINPROGRESS, EINVAL, ENOTCONN, ETIMEDOUT

_ON_MICROPYTHON = sys.implementation.name == "micropython"

if _ON_MICROPYTHON:
    # A poll, and TLS, can ask it.
    from io import IOBase as _Stream  # pyright: ignore[reportAssignmentType]  # CPython has the class below

    import usocket as _host  # this name gives the build's own, whatever stands in its place
else:
    import socket as _host

    class _Stream:
        """What stands for io.IOBase where nothing looks inside."""


AF_INET, AF_INET6 = 2, 10
SOCK_STREAM, SOCK_DGRAM = 1, 2

MOST_SOCKETS = 10
SEND_BUFFER = RECEIVE_WINDOW = 4 * 1440
WRITABLE_FROM = 2 * 1440 + 2  # free bytes of the send buffer
SEGMENT = 1440

_ENFILE = 23
_POLL, _CLOSE = 3, 4
_READABLE, _WRITABLE, _ERROR, _HANGUP, _INVALID = 1, 4, 8, 16, 32
_NEW, _CONNECTED, _PEER_CLOSED = 0, 1, 2

has_network = True
"""Whether names are found and addresses can be reached."""

redirected = {}
"""By port: the (address, port) of this computer that stands for it."""

names = {"localhost": "127.0.0.1", "": "0.0.0.0"}
"""Names that the name server knows."""

open_sockets = []
"""Those that were not closed."""


def _failure(code):
    return OSError(code) if _ON_MICROPYTHON else OSError(code, None)


def getaddrinfo(host, port, family=0, type=0, proto=0, flags=0):
    """One address, or OSError below zero."""
    return [(AF_INET, type or SOCK_STREAM, proto, host, (_resolved(host), int(port)))]


def _resolved(host):
    if _is_numeric(host):
        return host
    if not has_network or host not in names:
        raise _failure(-202)
    return names[host]


def _is_numeric(host):
    parts = host.split(".")
    return len(parts) == 4 and all(part.isdigit() for part in parts)


def begin_anew() -> None:
    """As after a reset."""
    global has_network
    has_network = True
    redirected.clear()
    for each in list(open_sockets):
        each.close()


def lose_network() -> None:
    """The board's address has gone, and with it all its connections."""
    global has_network
    has_network = False
    for each in open_sockets:
        if each._state != _NEW and each._is_stream:
            each._fail((ECONNABORTED,), (ECONNABORTED,))


class socket(_Stream):
    """A socket as modsocket.c has it, for non-blocking use and UDP: all that the firmware does."""

    def __init__(self, family=AF_INET, kind=SOCK_STREAM, proto=0):
        if family != AF_INET:
            raise _failure(EINVAL)
        if len(open_sockets) >= MOST_SOCKETS:
            raise _failure(_ENFILE)
        self._host = _host.socket(_host.AF_INET, _host.SOCK_STREAM if kind == SOCK_STREAM else _host.SOCK_DGRAM)
        self._host.setblocking(False)
        self._poll = select.poll()
        self._poll.register(self._host, select.POLLIN | select.POLLOUT)
        self._is_stream = kind == SOCK_STREAM
        self._is_blocking = True
        self._state = _NEW if self._is_stream else _CONNECTED
        self._is_connecting = False
        self._is_broken = False
        self._read_errors = []  # what a reader is told then, before ENOTCONN
        self._write_errors = []
        self._room = SEND_BUFFER
        self._window = RECEIVE_WINDOW
        open_sockets.append(self)

    # --- settings

    def setblocking(self, flag):
        """Whether calls wait; the firmware may not let them."""
        self._check_open()
        self._is_blocking = bool(flag)

    def setsockopt(self, level, option, value):
        """Set one of six options, whatever the level; another one changes nothing."""
        self._check_open()

    # --- connecting

    def connect(self, address):
        """Begin to connect: the address is looked up again."""
        self._check_open()
        host, port = address
        host = _resolved(host)
        assert not (self._is_stream and self._is_blocking), "a blocking connect stops the board"
        if not has_network:
            raise _failure(EHOSTUNREACH)
        self._state = _CONNECTED
        host, port = redirected.get(port, (host, port))
        target = _host.getaddrinfo(host, port)[0][-1] if _ON_MICROPYTHON else (host, port)
        try:
            self._host.connect(target)
        except OSError as error:
            if error.errno != EINPROGRESS:
                self._fail()
        if self._is_stream:
            self._is_connecting = not self._is_broken
            raise _failure(EINPROGRESS)

    def _fail(self, read_errors=(ECONNRESET, ECONNRESET), write_errors=(ECONNRESET,)):
        """The connection has gone: if nothing else is said, the other side has reset it, or refused it."""
        self._is_connecting = False
        self._is_broken = True
        self._read_errors = list(read_errors)
        self._write_errors = list(write_errors)

    def _look(self):
        """Take in what has become of a connection that was begun."""
        if self._is_connecting and self._host_events() & ~_READABLE:
            self._is_connecting = False
            try:
                self._host.send(b"")  # how this computer tells
            except OSError:
                self._fail()

    def _host_events(self):
        for _, events in self._poll.poll(0):
            return events
        return 0

    # --- for poll, asyncio and TLS

    def ioctl(self, request, argument):
        """Answer a poll, or close."""
        if request == _CLOSE:
            self.close()
            return 0
        if request != _POLL:
            return -EINVAL
        if self._host is None:
            return _INVALID
        self._look()
        events = 0
        if self._state == _NEW:
            return argument & _WRITABLE | _HANGUP
        if self._is_connecting:
            return 0
        if self._is_broken:
            return argument & (_READABLE | _WRITABLE | _HANGUP)
        there = self._host_events()
        if argument & _READABLE and self._state != _PEER_CLOSED and there & (_READABLE | _HANGUP | _ERROR):
            self._window = RECEIVE_WINDOW
            events |= _READABLE
        if argument & _WRITABLE and there & (_WRITABLE | _HANGUP | _ERROR):
            # What was sent has been acknowledged since the last look.
            is_wide = self._room >= WRITABLE_FROM
            self._room = SEND_BUFFER
            events |= _WRITABLE if is_wide else 0
        return events

    # --- reading

    def readinto(self, view):
        """Fill the view as far as there are bytes: their count, 0 at the end, None if there are none yet."""
        view = memoryview(view)
        at = 0
        while at < len(view):
            try:
                data = self._receive(len(view) - at)
            except OSError as error:
                if error.errno != EAGAIN:
                    raise  # what is in the view already is lost, as on the chip
                return at or None
            if not data:
                break
            view[at : at + len(data)] = data
            at += len(data)
        return at

    def recv(self, most, flags=0):
        """At most so many bytes; none at the end."""
        assert not flags
        if not self._is_blocking:
            return self._receive(most)
        raise AssertionError("a blocking recv stops the board")

    def _receive(self, most):
        if self._state == _PEER_CLOSED:
            return b""
        self._check_open()
        self._look()
        if self._is_broken:
            data = self._left_over(most)
            if not data:
                raise _failure(self._read_errors.pop() if self._read_errors else ENOTCONN)
            return data
        if self._state == _NEW:
            raise _failure(ENOTCONN)
        if self._is_connecting or not self._window:
            self._window = RECEIVE_WINDOW
            raise _failure(EAGAIN)
        data = self._host_receive(min(most, SEGMENT, self._window) if self._is_stream else most)
        if self._is_stream:
            self._window -= len(data)
            if not data:
                self._state = _PEER_CLOSED
        return data

    def _left_over(self, most):
        """What had come before the connection broke."""
        if not has_network:
            return b""
        try:
            return self._host.recv(min(most, SEGMENT))
        except OSError:
            return b""

    def _host_receive(self, most):
        try:
            return self._host.recv(most)
        except OSError as error:
            if error.errno == EAGAIN:
                raise
            self._fail()
            raise _failure(self._read_errors.pop()) from None

    # --- writing

    def write(self, data):
        """Send as much as there is room for: its count, None if there is none."""
        data = memoryview(data)
        at = 0
        while at < len(data):
            count = self._transmit(data[at:])
            if not count:
                return at or None
            at += count
        return at

    def send(self, data):
        """Send a part: its count. EAGAIN if there is no room, and if there is nothing to send."""
        count = self._transmit(data) if len(data) else 0
        if not count:
            raise _failure(ETIMEDOUT if self._is_blocking else EAGAIN)
        return count

    def _transmit(self, data):
        self._check_open()
        self._look()
        if self._is_broken:
            raise _failure(self._write_errors.pop() if self._write_errors else ENOTCONN)
        if self._state == _NEW:
            raise _failure(ENOTCONN)
        if not has_network:
            raise _failure(EHOSTUNREACH)
        if self._is_connecting or not self._room:
            return 0
        try:
            count = self._host.send(data[: self._room] if self._is_stream else data)
        except OSError as error:
            if error.errno == EAGAIN:
                return 0
            self._fail()
            raise _failure(self._write_errors.pop()) from None
        if self._is_stream:
            self._room -= count
        return count

    # --- the end

    def _check_open(self):
        if self._host is None:
            raise _failure(EBADF)

    def close(self):
        """Close; again it does nothing."""
        if self._host is not None:
            open_sockets.remove(self)
            self._poll.unregister(self._host)
            self._host.close()
            self._host = None
