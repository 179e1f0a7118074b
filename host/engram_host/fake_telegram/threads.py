"""The server in a thread of its own, for tests and programs that are not async."""

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from .clock import ManualClock
from .faults import Faults, Ledger
from .people import People
from .server import FakeTelegram

_Result = TypeVar("_Result")


class ServingTelegram:
    """A running server, seen from another thread: each call of `people`, `faults` and `ledger` runs in the server's loop."""

    def __init__(self, server: FakeTelegram, loop: asyncio.AbstractEventLoop):
        self._server = server
        self._loop = loop
        self.url = server.url
        self.token = server.token
        self.people = cast(People, _InLoop(server.people, self.call))
        self.faults = cast(Faults, _InLoop(server.faults, self.call))
        self.ledger = cast(Ledger, _InLoop(server.ledger, self.call))

    def call(self, function: Callable[[], _Result]) -> _Result:
        """What a function gives that runs in the server's event loop."""
        return self._run(_call(function))

    def advance(self, seconds: float) -> None:
        """Move the server's ManualClock."""
        clock = self._server.clock
        if not isinstance(clock, ManualClock):
            raise TypeError("the server runs on the computer's time")
        self.call(lambda: clock.advance(seconds))

    def wait_until(self, condition: Callable[[FakeTelegram], _Result], timeout: float = 10) -> _Result:
        """What `condition` of the server gives as soon as it is true; TimeoutError after `timeout` seconds."""
        return self._run(self._server.wait_until(lambda: condition(self._server), timeout))

    def _run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


class _InLoop:
    """Stands in for an object of the server: its methods run, and its attributes are read and set, in the server's loop."""

    def __init__(self, target: object, call: Callable[[Callable[[], Any]], Any]):
        object.__setattr__(self, "_target", target)
        object.__setattr__(self, "_call", call)

    def __getattr__(self, name: str) -> Any:
        value = self._call(lambda: getattr(self._target, name))
        if not inspect.ismethod(value):
            return value
        return lambda *args, **kwargs: self._call(lambda: value(*args, **kwargs))

    def __setattr__(self, name: str, value: object) -> None:
        self._call(lambda: setattr(self._target, name, value))


async def _call(function: Callable[[], _Result]) -> _Result:
    return function()


@contextmanager
def serving(server: FakeTelegram | None = None) -> Iterator[ServingTelegram]:
    """Run a server, a new one by default, as long as the block runs."""
    running = server or FakeTelegram()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="telegram", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(running.start(), loop).result()
        try:
            yield ServingTelegram(running, loop)
        finally:
            asyncio.run_coroutine_threadsafe(running.close(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
