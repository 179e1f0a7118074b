"""A bridge's network that runs beside a test."""

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from engram_host.companion.bridges.network import Network
from recording_host import RecordingHost
from waiting import wait_until_async


def asynchronous(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test as a coroutine, in an event loop of its own."""

    @functools.wraps(test)
    def run(*arguments: Any, **names: Any) -> None:
        asyncio.run(test(*arguments, **names))

    return run


@contextlib.asynccontextmanager
async def running(network: Network, host: RecordingHost) -> AsyncIterator[asyncio.Task[None]]:
    """Run a network until the end of the block, which begins once it is connected."""
    connections = len(host.accounts)
    task = asyncio.create_task(network.run(host))
    try:
        await wait_until_async("connected", lambda: len(host.accounts) > connections or task.done(), 30)
        if task.done():
            await task
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
