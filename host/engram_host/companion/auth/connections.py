"""How many connections are open at once, over HTTP and MQTT together and from each address, and which of them make room.

A client that has shown a token is known and stays. Where there is no room, the unknown client that has been connected longest
has to go: whoever opens connections and says nothing keeps nobody out.
"""

import ipaddress
import logging
import resource
from collections import Counter
from collections.abc import Callable

_log = logging.getLogger("engram.connections")

RESERVED = 256
"""Descriptors that are kept for the database, folders, services and logs, and for connections that are being closed."""

MOST_DESCRIPTORS = 1 << 16
"""What is taken where the system has no limit."""

_NET_OF_ONE = 64
"""Bits of an IPv6 address that tell clients apart: whoever has one usually has all with the same."""


def raise_descriptor_limit() -> int:
    """Raise the limit of open files from the soft to the hard one; what it is now."""
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
    """How many connections there may be where the system gives so many descriptors."""
    return min(wanted, max(descriptors - RESERVED, descriptors // 2))


class Connection:
    """One client's connection; `close` ends it, and is replaced once there is a transport."""

    def __init__(self, owner: "Connections", address: str, group: str):
        self.address = address
        self.group = group
        self.close: Callable[[], object] = lambda: None
        self._owner = owner

    def mark_known(self) -> None:
        """The client may come in: it makes no room for others."""
        self._owner.mark_known(self)

    def release(self) -> None:
        """The connection has ended; done again it does nothing."""
        self._owner.release(self)


class Connections:
    """Admits up to `most` connections, and `most_an_address` of them from one address (0: as many as there are)."""

    def __init__(self, most: int, most_an_address: int = 0):
        self.most = most
        self.most_an_address = most_an_address or most
        self._open: dict[Connection, None] = {}
        # In the order in which they came; of each address as well, so that making room for one looks at none of the others.
        self._unknown: dict[Connection, None] = {}
        self._unknown_of: dict[str, dict[Connection, None]] = {}
        self._counts: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """How many are open."""
        return len(self._open)

    def admit(self, address: str) -> Connection | None:
        """A place for a client that has connected; None if there is none, and its connection has to be closed."""
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
        """A client has shown a token, or needs none."""
        self._unknown.pop(connection, None)
        of_group = self._unknown_of.get(connection.group, {})
        of_group.pop(connection, None)
        if not of_group:
            self._unknown_of.pop(connection.group, None)

    def release(self, connection: Connection) -> None:
        """A connection has ended."""
        if connection not in self._open:
            return
        del self._open[connection]
        self.mark_known(connection)
        self._counts[connection.group] -= 1
        if not self._counts[connection.group]:
            del self._counts[connection.group]

    def make_room(self, count: int) -> None:
        """Close up to so many unknown clients, those that have been connected longest."""
        while count and self._evict(self._unknown):
            count -= 1

    def _evict(self, unknown: dict[Connection, None]) -> bool:
        """Close the client that has been connected longest of some unknown ones; whether there is one."""
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
    """What connections and failed logins are counted by: an IPv4 address, or the network of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.IPv6Network((parsed, _NET_OF_ONE), strict=False))
    return str(parsed)
