"""What networks have in common that are spoken over TCP: their addresses, TLS, files, and the end of one of several tasks."""

import asyncio
import ssl
from collections.abc import AsyncIterable, Coroutine
from typing import Any

from engram_host.companion.bridges.errors import BridgeUnavailable

_MOST_PORT = 65535


def host_and_port(value: str, default_port: int) -> tuple[str, int]:
    """The two parts of "host:port", "host" or "[address]:port"; BridgeUnavailable if it is none of these."""
    host, _, port = (
        value.rpartition(":") if not value.endswith("]") and ":" in value else (value, "", str(default_port))
    )
    host = host.removeprefix("[").removesuffix("]")
    if not host or " " in host or not port.isascii() or not port.isdigit() or not 0 < int(port) <= _MOST_PORT:
        raise BridgeUnavailable(f'"{value}" is no address of a server: write host:port.')
    return host, int(port)


def tls_context(authority: str) -> ssl.SSLContext:
    """TLS that checks the server's certificate, by the authority in a file if one is given; BridgeUnavailable."""
    try:
        return ssl.create_default_context(cafile=authority or None)
    except OSError as error:  # ssl.SSLError is one
        raise BridgeUnavailable(
            f"the certificate authority {authority} cannot be read: {error.strerror or error}"
        ) from None


async def read_bounded(pieces: AsyncIterable[bytes], most: int) -> bytes:
    """The bytes of a file; of one that has more than `most`, somewhat more than `most`."""
    data = bytearray()
    async for piece in pieces:
        data += piece
        if len(data) > most:
            break
    return bytes(data)


async def run_until_one_ends(*coroutines: Coroutine[Any, Any, object]) -> None:
    """Run all of these at once until one of them ends or raises; the others are cancelled, and nothing is left behind."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
