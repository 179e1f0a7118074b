"""Long-lived PostgreSQL connections for notices and advisory locks."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store.values import CHANNEL

_CONNECT_SECONDS = 5

_LOCKS = 0x656E6773

_SERVER_KEEPALIVE = "-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3"
"""A process cut off from the server detects lost locks before the server frees them."""


async def hear_notices(url: str) -> AsyncGenerator[str, None]:
    """Yield "" and then all notices from now on; ends with StoreUnavailable."""
    try:
        connection = await psycopg.AsyncConnection.connect(url, autocommit=True, connect_timeout=_CONNECT_SECONDS)
        async with connection:
            await connection.execute(b"LISTEN " + CHANNEL.encode())
            yield ""
            async for each in connection.notifies():
                yield each.payload
    except psycopg.Error as error:
        raise StoreUnavailable(f"PostgreSQL sends no notices now ({error}): look whether it runs.") from error
    raise StoreUnavailable("PostgreSQL has ended the connection of notices.")


class PostgresLocks:
    def __init__(self, connection: psycopg.AsyncConnection[Any]):
        self._connection = connection

    async def take(self, name: str) -> bool:
        cursor = await self._connection.execute("SELECT pg_try_advisory_lock(%s, hashtext(%s))", (_LOCKS, name))
        found = await cursor.fetchone()
        return bool(found and found[0])

    async def give_back(self, name: str) -> None:
        await self._connection.execute("SELECT pg_advisory_unlock(%s, hashtext(%s))", (_LOCKS, name))

    async def check(self) -> None:
        await self._connection.execute("SELECT 1")


@asynccontextmanager
async def advisory_locks(url: str) -> AsyncIterator[PostgresLocks]:
    """Hold locks while the context is open; StoreUnavailable, also inside, on a lost connection."""
    try:
        connection = await psycopg.AsyncConnection.connect(
            url,
            autocommit=True,
            connect_timeout=_CONNECT_SECONDS,
            options=_SERVER_KEEPALIVE,
            tcp_user_timeout=8000,
        )
        async with connection:
            yield PostgresLocks(connection)
    except psycopg.Error as error:
        raise StoreUnavailable(f"PostgreSQL keeps no locks now ({error}): look whether it runs.") from error
