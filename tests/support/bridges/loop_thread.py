"""An event loop in a thread of its own, for fakes that have to go on while a test's loop stands still or ends."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

_Result = TypeVar("_Result")


class LoopThread:
    """Runs coroutines in its own loop; close() ends it."""

    def __init__(self, name: str):
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """What a coroutine gives; the caller's thread waits."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    async def join(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """What a coroutine gives; the caller's loop goes on."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self.loop))

    def close(self) -> None:
        self.run(self._end_tasks())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    @staticmethod
    async def _end_tasks() -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
