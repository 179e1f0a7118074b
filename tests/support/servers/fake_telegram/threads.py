"""The server in a thread of its own, for tests and programs that are not async."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from fake_server.threads import ServerLoop
from fake_server.threads import serving as serving_server

from .clock import ManualClock
from .faults import Faults, Ledger
from .people import People
from .server import FakeTelegram

_Result = TypeVar("_Result")


class ServingTelegram:
    """A running server, seen from another thread: each call of `people`, `faults` and `ledger` runs in the server's loop."""

    def __init__(self, server: FakeTelegram, loop: ServerLoop):
        self._server = server
        self._loop = loop
        self.url = server.url
        self.token = server.token
        self.people = cast(People, _InLoop(server.people, self.call))
        self.faults = cast(Faults, _InLoop(server.faults, self.call))
        self.ledger = cast(Ledger, _InLoop(server.ledger, self.call))

    def call(self, function: Callable[[], _Result]) -> _Result:
        """What a function gives that runs in the server's event loop."""
        return self._loop.call(function)

    def advance(self, seconds: float) -> None:
        """Move the server's ManualClock."""
        clock = self._server.clock
        if not isinstance(clock, ManualClock):
            raise TypeError("the server runs on the computer's time")
        self.call(lambda: clock.advance(seconds))

    def wait_until(self, condition: Callable[[FakeTelegram], _Result], timeout: float = 10) -> _Result:
        """What `condition` of the server gives as soon as it is true; TimeoutError after `timeout` seconds."""
        return self._loop.run(self._server.wait_until(lambda: condition(self._server), timeout))


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


@contextmanager
def serving(server: FakeTelegram | None = None) -> Iterator[ServingTelegram]:
    """Run a server, a new one by default, as long as the block runs."""
    running = server or FakeTelegram()
    with serving_server(running, "telegram") as loop:
        yield ServingTelegram(running, loop)
