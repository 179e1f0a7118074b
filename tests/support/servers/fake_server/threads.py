"""A server in a thread of its own, for tests and programs that are not async."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from .server import FakeServer

_Result = TypeVar("_Result")


class ServerLoop:
    """The event loop of a server that runs in another thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop):
        self._loop = loop

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """What a coroutine gives that runs in the loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def call(self, function: Callable[[], _Result]) -> _Result:
        """What a function gives that runs in the loop."""
        return self.run(_call(function))


async def _call(function: Callable[[], _Result]) -> _Result:
    return function()


@contextmanager
def serving(server: FakeServer, name: str) -> Iterator[ServerLoop]:
    """Run a server in a thread of that name as long as the block runs."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name=name, daemon=True)
    thread.start()
    serving_loop = ServerLoop(loop)
    try:
        serving_loop.run(server.start())
        try:
            yield serving_loop
        finally:
            serving_loop.run(server.close())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
