"""Lets the firmware's links run over the sockets of a chip: on MicroPython, and on CPython, which has no others for them."""

import asyncio
import sys

from fakes import chip_socket

_POLL = 3


def install() -> None:
    """Put the chip's sockets and TLS in the place of this computer's, for the firmware alone: peers keep the real ones."""
    if sys.implementation.name == "micropython":
        from fakes import chip_tls as tls
    else:
        from fakes import cpython_tls as tls
    sys.modules["tls"] = tls
    from engram.net import transport

    transport.socket = chip_socket
    if sys.implementation.name != "micropython":
        transport._ready = _ready
        asyncio.wait_for_ms = _wait_for_ms  # type: ignore  # engram.compat prefers it


async def _ready(sock, to_write: bool) -> None:
    """What MicroPython's asyncio does with a socket that is a stream of its own: ask it again and again."""
    while not sock.ioctl(_POLL, 4 if to_write else 1):
        await asyncio.sleep(0.001)


async def _wait_for_ms(awaitable, milliseconds: int):
    """What MicroPython's does: CPython 3.11's wait_for() drops a cancellation that comes together with the result."""
    async with asyncio.timeout(milliseconds / 1000):
        return await awaitable
