"""Hears the notices of a PostgreSQL database, over a connection of its own."""

from collections.abc import AsyncGenerator

import psycopg

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store.workers.notices import CHANNEL

_CONNECT_SECONDS = 5


async def hear_notices(url: str) -> AsyncGenerator[str, None]:
    """The notices that come from now on; "" first, since what came before was not heard. StoreUnavailable when it ends."""
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
