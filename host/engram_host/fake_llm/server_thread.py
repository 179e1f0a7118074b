"""The server in a thread of its own, for code that is not async: tests that drive another process."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from .rules import Rule
from .script import read_rule
from .server import RecordedRequest, ScriptedServer

_Result = TypeVar("_Result")


class Serving:
    """A running server, seen from another thread than its own."""

    def __init__(self, server: ScriptedServer, loop: asyncio.AbstractEventLoop):
        self._server = server
        self._loop = loop

    @property
    def url(self) -> str:
        """Where the server listens; the APIs are below /v1."""
        return self._server.url

    @property
    def requests(self) -> list[RecordedRequest]:
        """The requests to a model so far, in the order of their arrival."""
        return self._run(_call(lambda: self._server.requests))

    def add(self, rule: Rule | Mapping[str, object], *, first: bool = False) -> None:
        """Put a rule behind all others, or before them."""
        checked = read_rule(rule)
        self._run(_call(lambda: self._server.add(checked, first=first)))

    def wait_for_requests(self, count: int, timeout: float = 10) -> list[RecordedRequest]:
        """All requests as soon as there are `count`; TimeoutError after `timeout` seconds."""
        return self._run(self._server.wait_for_requests(count, timeout))

    def _run(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


@contextmanager
def serving(
    rules: Iterable[Rule | Mapping[str, object]] = (), *, port: int = 0, record: str | Path | None = None
) -> Iterator[Serving]:
    """A server that answers by `rules` as long as the block runs; see ScriptedServer."""
    server = ScriptedServer(rules, port=port, record=record)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="scripted", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.start(), loop).result()
        try:
            yield Serving(server, loop)
        finally:
            asyncio.run_coroutine_threadsafe(server.close(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _call(function: Callable[[], _Result]) -> _Result:
    return function()
