"""Accepts connections for the HTTP server and the broker, within the bound of open ones.

asyncio's own servers accept all that comes. Without a free descriptor they log a traceback for each place of their backlog,
again and again, and a client that begins no TLS handshake counts nowhere.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Awaitable, Callable
from functools import partial

from engram_host.companion.auth.connections import Connection, Connections

_log = logging.getLogger("engram.connections")

HANDSHAKE_SECONDS = 10.0
"""How long a client may take for its part of a TLS handshake."""

PAUSE_SECONDS = 0.25
"""How long nothing is accepted after the system had no descriptor left."""

AT_ONCE = 32
"""Connections that are accepted before others get their turn; fewer than the descriptors that are reserved."""

BACKLOG = 1024
"""Clients that wait in the system until they are accepted."""

MakeProtocol = Callable[[Connection], asyncio.BaseProtocol]
"""Makes what reads a connection; it has to release the connection when it is lost."""


def bind_socket(host: str, port: int) -> socket.socket:
    """A socket at a host and a port, with port 0 at a free one, that does not listen yet; OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named asyncio sends what there is at once: else each answer would wait 40 ms for the other side.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener


class Acceptor:
    """Gives each connection at a bound socket to a protocol of its own; closes the socket with itself."""

    def __init__(
        self,
        listener: socket.socket,
        connections: Connections,
        make_protocol: MakeProtocol,
        tls: ssl.SSLContext | None = None,
    ):
        self._listener = listener
        self._connections = connections
        self._make_protocol = make_protocol
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._handing_over: set[asyncio.Task[bool]] = set()

    def start(self) -> None:
        """Listen; OSError."""
        self._listener.setblocking(False)
        self._listener.listen(BACKLOG)
        self._resume()

    def close(self) -> None:
        """Accept no more; what has not begun to talk is closed."""
        if self._listener.fileno() < 0:
            return
        if self._timer:
            self._timer.cancel()
        self._loop.remove_reader(self._listener)
        self._listener.close()
        for task in self._handing_over:
            task.cancel()

    async def wait_closed(self) -> None:
        """Wait until that is done."""
        await asyncio.gather(*self._handing_over, return_exceptions=True)

    def _resume(self) -> None:
        self._timer = None
        self._loop.add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        for _ in range(AT_ONCE):
            try:
                client, address = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._pause_accepting(error)
                return
            connection = self._connections.admit(address[0])
            if connection is None:
                client.close()
                continue
            client.setblocking(False)
            task = self._loop.create_task(self._hand_over(client, connection))
            connection.close = task.cancel
            self._handing_over.add(task)
            task.add_done_callback(partial(self._on_handed_over, client, connection))

    def _pause_accepting(self, error: OSError) -> None:
        """Without a descriptor the socket stays readable: to look again at once would take all of a core."""
        _log.error(
            "no connection can be accepted (%s): accepting pauses for %.2f s; raise the limit of open files",
            error.strerror,
            PAUSE_SECONDS,
        )
        self._connections.make_room(AT_ONCE)
        self._loop.remove_reader(self._listener)
        self._timer = self._loop.call_later(PAUSE_SECONDS, self._resume)

    async def _hand_over(self, client: socket.socket, connection: Connection) -> bool:
        """Whether the client has a protocol now, which closes and releases it."""
        try:
            transport, _ = await self._loop.connect_accepted_socket(
                lambda: self._make_protocol(connection),
                client,
                ssl=self._tls,
                ssl_handshake_timeout=HANDSHAKE_SECONDS if self._tls else None,
            )
        except OSError as error:
            # The client went away, or spoke no TLS.
            _log.debug("a connection from %s did not begin: %s", connection.address, error)
            return False
        connection.close = transport.abort
        return True

    def _on_handed_over(self, client: socket.socket, connection: Connection, task: asyncio.Task[bool]) -> None:
        self._handing_over.discard(task)
        error = None if task.cancelled() else task.exception()
        if error:
            _log.error("a connection from %s was not taken", connection.address, exc_info=error)
        if error or task.cancelled() or not task.result():
            # Also of a task that never began to run: without this the descriptor waits for the garbage collector.
            client.close()
            connection.release()


# --- streams


OnConnected = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class StreamProtocol(asyncio.StreamReaderProtocol):
    """Reads a connection as asyncio's own servers do, and releases it when it has ended."""

    def __init__(self, connection: Connection, connected: OnConnected):
        super().__init__(asyncio.StreamReader(), connected)
        self.connection = connection

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is over."""
        self.connection.release()
        super().connection_lost(exc)


def accept_streams(
    listener: socket.socket, connections: Connections, connected: OnConnected, tls: ssl.SSLContext | None
) -> Acceptor:
    """Listen at a bound socket; connected(reader, writer) is called for each client, as by asyncio.start_server(). OSError."""
    acceptor = Acceptor(listener, connections, lambda connection: StreamProtocol(connection, connected), tls)
    acceptor.start()
    return acceptor
