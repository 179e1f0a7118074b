"""Serving for a person: the server, its address, and the chat in the terminal."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, TextIO

from .limits import FloodLimits
from .server import TOKEN, FakeTelegram
from .terminal import chat_in_terminal


class Address(Protocol):
    """A server, also one in a thread."""

    @property
    def url(self) -> str: ...
    @property
    def token(self) -> str: ...


def print_address(server: Address, out: TextIO | None = None) -> None:
    """Write where a server listens and its token, one a line: what a board's settings take."""
    stream = out or sys.stdout
    stream.write(f"listening on {server.url}\ntoken {server.token}\n")
    stream.flush()


async def serve(
    *,
    port: int = 0,
    token: str = TOKEN,
    certificate: Path | None = None,
    key: Path | None = None,
    persons: Sequence[str] = ("Ann",),
    has_limits: bool = True,
    has_chat: bool = True,
    source: int = 0,
    out: TextIO | None = None,
) -> None:
    """Serve, and let `persons` chat in the terminal until its input ends; without the chat until it is cancelled."""
    limits = FloodLimits(enabled=has_limits)
    stream = out or sys.stdout
    async with FakeTelegram(token=token, port=port, certificate=certificate, key=key, limits=limits) as server:
        print_address(server, stream)
        if has_chat:
            stream.write("A line is a message to the bot; /? shows what else you can do.\n")
            stream.flush()
            await chat_in_terminal(server, persons, source, stream)
        else:
            await asyncio.Event().wait()
