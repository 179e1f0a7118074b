"""An event loop in a thread of its own, for servers that go on while a test's loop stands still or ends."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from .server import FakeServer

_Result = TypeVar("_Result")


class LoopThread:
    """Runs coroutines in its own loop; close() ends it with all of its tasks."""

    def __init__(self, name: str):
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """What a coroutine gives; the caller's thread waits."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def call(self, function: Callable[[], _Result]) -> _Result:
        """What a function gives that runs in the loop; the caller's thread waits."""
        return self.run(_call(function))

    async def join(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """What a coroutine gives; the caller's loop goes on."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.loop))

    async def do(self, function: Callable[[], _Result]) -> _Result:
        """What a function gives that runs in the loop; the caller's loop goes on."""
        return await self.join(_call(function))

    def close(self) -> None:
        self.run(_end_tasks())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


async def _call(function: Callable[[], _Result]) -> _Result:
    return function()


async def _end_tasks() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def serving(server: FakeServer, name: str) -> Iterator[LoopThread]:
    """Run a server in a thread of that name as long as the block runs."""
    thread = LoopThread(name)
    try:
        thread.run(server.start())
        try:
            yield thread
        finally:
            thread.run(server.close())
    finally:
        thread.close()
