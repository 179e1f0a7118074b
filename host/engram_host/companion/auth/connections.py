"""Limits of open connections over HTTP and MQTT, in all and by address, with eviction.

A client with a valid token is known and stays. A full server evicts the unknown client that has
been connected longest, so idle connections lock nobody out.

asyncio's own servers have no limit: without a free descriptor they log a traceback for each place
of their backlog, and clients without a TLS handshake are not counted.
"""

import asyncio
import ipaddress
import logging
import resource
import socket
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial

from engram_host.companion.settings import SecuritySettings

_log = logging.getLogger("engram.connections")

RESERVED = 256
"""File descriptors reserved for the database, folders, services and logs."""

MOST_DESCRIPTORS = 1 << 16

_NET_OF_ONE = 64
"""Prefix length of an IPv6 client, who usually owns a whole /64."""


def raise_descriptor_limit() -> int:
    """Raise the soft limit of open files to the hard limit and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError) as error:
            _log.warning("the limit of open files stays %d: %s", soft, error)
            return soft
        return wanted
    return MOST_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


def most_connections(wanted: int, descriptors: int) -> int:
    """Return the number of connections that the descriptor limit allows."""
    return min(wanted, max(descriptors - RESERVED, descriptors // 2))


class Connection:
    """A client's connection; `close` ends it and is replaced once there is a transport."""

    def __init__(self, owner: "Connections", address: str, group: str):
        self.address = address
        self.group = group
        self.close: Callable[[], object] = lambda: None
        self._owner = owner

    def mark_known(self) -> None:
        self._owner.mark_known(self)

    def release(self) -> None:
        """Release the connection; safe to repeat."""
        self._owner.release(self)


class Connections:
    """Admits up to `most` connections, and `most_an_address` of one address (0: unlimited)."""

    def __init__(self, most: int, most_an_address: int = 0):
        self.most = most
        self.most_an_address = most_an_address or most
        self._open: dict[Connection, None] = {}
        # In order of arrival, and by address too, so that an eviction scans no other address.
        self._unknown: dict[Connection, None] = {}
        self._unknown_of: dict[str, dict[Connection, None]] = {}
        self._counts: Counter[str] = Counter()

    @property
    def count(self) -> int:
        return len(self._open)

    def admit(self, address: str) -> Connection | None:
        group = address_group(address)
        if self._counts[group] >= self.most_an_address and not self._evict(self._unknown_of.get(group, {})):
            _log.warning(
                "a connection from %s is refused: %d are open from there (security.address_connections)",
                address,
                self._counts[group],
                extra={"repeat": group},
            )
            return None
        if len(self._open) >= self.most and not self._evict(self._unknown):
            _log.warning(
                "a connection from %s is refused: %d are open, all with a token (security.connections)",
                address,
                len(self._open),
                extra={"repeat": "all"},
            )
            return None
        connection = Connection(self, address, group)
        self._open[connection] = self._unknown[connection] = None
        self._unknown_of.setdefault(group, {})[connection] = None
        self._counts[group] += 1
        return connection

    def mark_known(self, connection: Connection) -> None:
        self._unknown.pop(connection, None)
        of_group = self._unknown_of.get(connection.group, {})
        of_group.pop(connection, None)
        if not of_group:
            self._unknown_of.pop(connection.group, None)

    def release(self, connection: Connection) -> None:
        if connection not in self._open:
            return
        del self._open[connection]
        self.mark_known(connection)
        self._counts[connection.group] -= 1
        if not self._counts[connection.group]:
            del self._counts[connection.group]

    def make_room(self, count: int) -> None:
        while count and self._evict(self._unknown):
            count -= 1

    def _evict(self, unknown: dict[Connection, None]) -> bool:
        oldest = next(iter(unknown), None)
        if oldest is None:
            return False
        _log.warning(
            "a connection from %s without a token was closed: there are %d, and others need room",
            oldest.address,
            len(self._open),
            extra={"repeat": oldest.group},
        )
        self.release(oldest)
        oldest.close()
        return True


def address_group(address: str) -> str:
    """Return an IPv4 address, or the network of an IPv6 address, as a key for limits."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.IPv6Network((parsed, _NET_OF_ONE), strict=False))
    return str(parsed)


HANDSHAKE_SECONDS = 10.0

PAUSE_SECONDS = 0.25

AT_ONCE = 32
"""Connections accepted per turn, fewer than RESERVED."""

BACKLOG = 1024

MakeProtocol = Callable[[Connection], asyncio.BaseProtocol]
"""Makes a connection's protocol, which must release the connection when it is lost."""


def bind_socket(host: str, port: int) -> socket.socket:
    """Return a bound socket that does not listen yet; port 0 picks one. Raise OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol given, asyncio sets TCP_NODELAY; otherwise answers wait 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    return listener


class Acceptor:
    """Gives each connection at a bound socket its own protocol; owns the socket."""

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
        self._listener.setblocking(False)
        self._listener.listen(BACKLOG)
        self._resume()

    def close(self) -> None:
        """Stop accepting, and close connections without a protocol."""
        if self._listener.fileno() < 0:
            return
        if self._timer:
            self._timer.cancel()
        self._loop.remove_reader(self._listener)
        self._listener.close()
        for task in self._handing_over:
            task.cancel()

    async def wait_closed(self) -> None:
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
        _log.error(
            "no connection can be accepted (%s): accepting pauses for %.2f s; raise the limit of open files",
            error.strerror,
            PAUSE_SECONDS,
        )
        self._connections.make_room(AT_ONCE)
        self._loop.remove_reader(self._listener)
        self._timer = self._loop.call_later(PAUSE_SECONDS, self._resume)

    async def _hand_over(self, client: socket.socket, connection: Connection) -> bool:
        try:
            transport, _ = await self._loop.connect_accepted_socket(
                lambda: self._make_protocol(connection),
                client,
                ssl=self._tls,
                ssl_handshake_timeout=HANDSHAKE_SECONDS if self._tls else None,
            )
        except OSError as error:
            # The client left or spoke no TLS.
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
            # A task cancelled before it starts would leave the descriptor to the garbage collector.
            client.close()
            connection.release()


# --- streams


OnConnected = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class StreamProtocol(asyncio.StreamReaderProtocol):
    """asyncio's stream protocol, releasing its connection at the end."""

    def __init__(self, connection: Connection, connected: OnConnected):
        super().__init__(asyncio.StreamReader(), connected)
        self.connection = connection

    def connection_lost(self, exc: Exception | None) -> None:
        self.connection.release()
        super().connection_lost(exc)


def accept_streams(
    listener: socket.socket, connections: Connections, connected: OnConnected, tls: ssl.SSLContext | None
) -> Acceptor:
    """Listen like asyncio.start_server() with bounded connections. Raise OSError."""
    acceptor = Acceptor(listener, connections, lambda connection: StreamProtocol(connection, connected), tls)
    acceptor.start()
    return acceptor


def admitted_connections(security: SecuritySettings) -> Connections:
    """Return the connection limits of the settings and the descriptor limit."""
    descriptors = raise_descriptor_limit()
    most = most_connections(security.connections, descriptors)
    _log.info("open files: %d, connections: %d", descriptors, most)
    if most < security.connections:
        _log.warning(
            "only %d of %d connections (security.connections) are taken: the system's limit of open files is %d; raise it "
            "with LimitNOFILE of systemd or `ulimit -Hn`.",
            most,
            security.connections,
            descriptors,
        )
    return Connections(most, security.address_connections)
