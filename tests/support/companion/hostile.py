"""Clients that want a companion to stop: each opens a connection and keeps it, or ends it at the worst moment."""

import contextlib
import selectors
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from waiting import SECONDS


@dataclass(frozen=True)
class Target:
    """Where a companion listens; `token` is that of the board `kitchen`."""

    http: int
    token: str = field(repr=False)


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
def closed_after_the_head(where: Target, count: int) -> Iterator[None]:
    """Clients with a right token that close as soon as the answer begins."""
    for _ in range(count):
        with socket.create_connection(("127.0.0.1", where.http), SECONDS) as client:
            client.sendall(_request(where.token))
            assert client.recv(12) == b"HTTP/1.1 200"
    yield


@contextlib.contextmanager
def wrong_logins(where: Target, count: int) -> Iterator[None]:
    """Clients with a wrong token, which say no more and do not read the answer."""
    with _held(where.http, count, _request("A" * 43)):
        yield


def _request(token: str) -> bytes:
    return f"GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n".encode()


HOSTILE: dict[str, Callable[[Target, int], contextlib.AbstractContextManager[None]]] = {
    "silent": silent_http,
    "slow head": slow_heads,
    "closed after the head": closed_after_the_head,
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
