"""Two workers on one PostgreSQL, in one process, which hear each other's notices."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from engram_host.companion.store import CompanionStore
from engram_host.companion.store.database import Notice
from engram_host.companion.store.processes import NoticeListener
from waiting import wait_until_async


class Hearing(Protocol):
    """A worker; its store is open, and `heard` has what it was told."""

    store: CompanionStore
    listener: NoticeListener
    heard: list[Notice]

    async def stop(self) -> None: ...


_Worker = TypeVar("_Worker", bound=Hearing)


def play(make: Callable[[], _Worker], script: Callable[[_Worker, _Worker], Coroutine[Any, Any, None]]) -> None:
    """Let two workers play a script once they hear each other."""

    async def in_time() -> None:
        async with asyncio.timeout(50), contextlib.AsyncExitStack() as stack:
            workers = [make(), make()]
            for worker in workers:
                stack.callback(worker.store.close)
                stack.push_async_callback(worker.stop)
                worker.listener.start()
                stack.push_async_callback(worker.listener.stop)
            for worker in workers:
                await wait_until_async("it hears", lambda worker=worker: worker.heard)
            await script(*workers)

    asyncio.run(in_time())
