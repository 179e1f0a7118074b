"""Helpers for networks over TCP: addresses, TLS, bounded reads, and tasks that end together."""

import asyncio
import ssl
from collections.abc import AsyncIterable, Coroutine
from typing import Any

from engram_host.companion.bridges.errors import BridgeUnavailable

_MOST_PORT = 65535


def host_and_port(value: str, default_port: int) -> tuple[str, int]:
    """Split "host:port", "host" or "[address]:port"; raise BridgeUnavailable for anything else."""
    host, _, port = (
        value.rpartition(":") if not value.endswith("]") and ":" in value else (value, "", str(default_port))
    )
    host = host.removeprefix("[").removesuffix("]")
    if not host or " " in host or not port.isascii() or not port.isdigit() or not 0 < int(port) <= _MOST_PORT:
        raise BridgeUnavailable(f'"{value}" is no address of a server: write host:port.')
    return host, int(port)


def tls_context(authority: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=authority or None)
    except OSError as error:  # ssl.SSLError is one
        raise BridgeUnavailable(
            f"the certificate authority {authority} cannot be read: {error.strerror or error}"
        ) from None


async def read_bounded(pieces: AsyncIterable[bytes], most: int) -> bytes:
    """Read a file, and stop soon after `most` bytes."""
    data = bytearray()
    async for piece in pieces:
        data += piece
        if len(data) > most:
            break
    return bytes(data)


async def run_until_one_ends(*coroutines: Coroutine[Any, Any, object]) -> None:
    """Run coroutines until the first ends or raises, then cancel the others."""
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
