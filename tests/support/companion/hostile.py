"""Clients that want a companion to stop: each opens a connection and keeps it, or ends it at the worst moment."""

import contextlib
import selectors
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from waiting import SECONDS

_HALF_HELLO = b"\x16\x03\x01\x02\x00\x01"
"""The beginning of a TLS handshake."""


@dataclass(frozen=True)
class Target:
    """Where a companion listens: plain HTTP, and MQTT with TLS; `token` is that of the board `kitchen`."""

    http: int
    mqtt: int
    token: str = field(repr=False)


def connect_packet(name: str, token: str) -> bytes:
    """The first packet of an MQTT 3.1.1 client."""

    def text(value: str) -> bytes:
        return len(value).to_bytes(2, "big") + value.encode()

    body = text("MQTT") + b"\x04\xc2\x00\x3c" + text("") + text(name) + text(token)
    assert len(body) < 128
    return bytes([0x10, len(body)]) + body


@contextlib.contextmanager
def silent_http(where: Target, count: int) -> Iterator[None]:
    """Connections over HTTP that say nothing."""
    with _held(where.http, count, b""):
        yield


@contextlib.contextmanager
def slow_heads(where: Target, count: int) -> Iterator[None]:
    """Requests of which the head never ends."""
    with _held(where.http, count, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "):
        yield


@contextlib.contextmanager
def half_handshakes(where: Target, count: int) -> Iterator[None]:
    """TLS connections that stop in the middle of the handshake."""
    with _held(where.mqtt, count, _HALF_HELLO):
        yield


@contextlib.contextmanager
def closed_after_connack(where: Target, count: int) -> Iterator[None]:
    """MQTT clients with a right token that close as soon as they are let in."""
    context = ssl._create_unverified_context()
    for _ in range(count):
        with (
            socket.create_connection(("127.0.0.1", where.mqtt), SECONDS) as plain,
            context.wrap_socket(plain) as client,
        ):
            client.sendall(connect_packet("kitchen", where.token))
            assert client.recv(4) == b"\x20\x02\x00\x00"
    yield


@contextlib.contextmanager
def wrong_logins(where: Target, count: int) -> Iterator[None]:
    """MQTT clients with a wrong token, which say no more after they were refused."""
    context = ssl._create_unverified_context()
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            plain = stack.enter_context(socket.create_connection(("127.0.0.1", where.mqtt), SECONDS))
            client = stack.enter_context(context.wrap_socket(plain))
            with contextlib.suppress(OSError):
                client.sendall(connect_packet("kitchen", "wrong"))
                client.recv(4)
        yield


HOSTILE: dict[str, Callable[[Target, int], contextlib.AbstractContextManager[None]]] = {
    "silent": silent_http,
    "slow head": slow_heads,
    "half handshake": half_handshakes,
    "closed after CONNACK": closed_after_connack,
    "wrong login": wrong_logins,
}


@contextlib.contextmanager
def _held(port: int, count: int, first: bytes) -> Iterator[None]:
    """Connections to a port that send some bytes, and then nothing until the block ends; none waits for another."""
    with contextlib.ExitStack() as stack:
        waiting = stack.enter_context(selectors.DefaultSelector())
        for _ in range(count):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
            waiting.register(client, selectors.EVENT_WRITE)
        left = count
        while left:
            ready = waiting.select(SECONDS)
            assert ready, "a client could not connect"
            for key, _ in ready:
                waiting.unregister(key.fileobj)
                left -= 1
                with contextlib.suppress(OSError):  # it had to make room already
                    key.fileobj.send(first)  # type: ignore[union-attr]
        yield
