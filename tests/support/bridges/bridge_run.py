"""Runs a bridge's network in a test, and looks that nothing of it is left behind."""

import asyncio
import contextlib
import functools
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from chat_networks import NETWORKS
from engram_host.companion.bridges.kinds import KINDS, make_network
from engram_host.companion.bridges.network import Network
from recording_host import RecordingHost
from waiting import wait_until_async

Test = Callable[..., Coroutine[Any, Any, None]]
_TESTS = str(Path(__file__).resolve().parents[2])


def _is_of_a_test(task: asyncio.Task[Any]) -> bool:
    """Whether a task runs a coroutine of the tests, such as a stand-in for a service."""
    return _file(task).startswith(_TESTS)


def _file(task: asyncio.Task[Any]) -> str:
    code = getattr(task.get_coro(), "cr_code", None)
    return code.co_filename if code else ""


def made(kind: str, settings: Mapping[str, str], **others: str) -> Any:
    """The network of a server's settings, some of them others; what they leave out has its default."""
    given = {**settings, **others}
    return make_network(kind, {field.name: given.get(field.name, field.default) for field in KINDS[kind].fields})


@contextlib.asynccontextmanager
async def running(network: Network, host: RecordingHost) -> AsyncIterator[asyncio.Task[None]]:
    """run() as a task, connected; cancelled at the end. AssertionError if a task of it outlives it."""
    before = asyncio.all_tasks()
    connected = len(host.accounts)
    task = asyncio.create_task(network.run(host))
    waiting = asyncio.create_task(host.wait_until(lambda: len(host.accounts) > connected))
    try:
        await asyncio.wait((task, waiting), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if task.done():
            task.result()
        yield task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(task, waiting, return_exceptions=True)

    def left() -> set[asyncio.Task[Any]]:
        others = asyncio.all_tasks() - before - {asyncio.current_task()}
        # People talk XMPP by slixmpp, too, which has tasks until the loop ends.
        return {each for each in others if "slixmpp" not in _file(each)}

    own = {each for each in left() if not _is_of_a_test(each)}
    assert not own, f"run() has ended, and these go on: {own}"
    # A server of a test in the same loop ends by itself what it does for a connection that was closed.
    await wait_until_async(lambda: f"these go on: {left()}", lambda: not left())


def asynchronous(test: Test) -> Callable[..., None]:
    """A test as a coroutine, in an event loop of its own."""

    @functools.wraps(test)
    def run(*arguments: Any, **names: Any) -> None:
        asyncio.run(test(*arguments, **names))

    return run


def bridged(
    serve: Callable[[Path], AbstractAsyncContextManager[Any]], network_of: Callable[[Any], Network]
) -> Callable[[Test], Callable[..., None]]:
    """Give a test what it asks for: a `server`, a `network` whose run() is a `task`, their `host`, and `ann`, an account."""

    def decorate(test: Test) -> Callable[..., None]:
        wanted = inspect.signature(test).parameters

        @functools.wraps(test)
        def run(tmp_path: Path, **values: Any) -> None:
            async def talk() -> None:
                async with contextlib.AsyncExitStack() as stack:
                    server, host = await stack.enter_async_context(serve(tmp_path)), RecordingHost()
                    own = {"server": server, "host": host, "tmp_path": tmp_path, **values}
                    if "network" in wanted:
                        own["network"] = network_of(server)
                        own["task"] = await stack.enter_async_context(running(own["network"], host))
                    if "ann" in wanted:
                        own["ann"] = await server.peer("ann")
                        stack.push_async_callback(own["ann"].close)
                    await test(**{name: own[name] for name in wanted})

            asyncio.run(talk())

        fixtures = [each for name, each in wanted.items() if name not in _GIVEN]
        folder = inspect.Parameter("tmp_path", inspect.Parameter.KEYWORD_ONLY)
        run.__signature__ = inspect.Signature([*fixtures, folder])  # pyright: ignore[reportAttributeAccessIssue]
        return run

    return decorate


_GIVEN = ("server", "network", "task", "host", "ann", "tmp_path")


def on(kind: str) -> Callable[[Test], Callable[..., None]]:
    """Give a test a server of a network, as bridged() does."""

    @contextlib.asynccontextmanager
    async def serve(_folder: Path) -> AsyncIterator[Any]:
        server = NETWORKS[kind].make()
        try:
            await asyncio.to_thread(server.start)
            yield server
        finally:
            server.stop()

    return bridged(serve, lambda server: made(kind, server.settings))
