"""Runs a bridge's network in a test, and looks that nothing of it is left behind."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from engram_host.companion.bridges.kinds import KINDS, make_network
from engram_host.companion.bridges.network import Network
from recording_host import RecordingHost
from waiting import wait_until_async

_TESTS = str(Path(__file__).resolve().parents[2])


def _is_of_a_test(task: asyncio.Task[Any]) -> bool:
    """Whether a task runs a coroutine of the tests, such as a stand-in for a service."""
    code = getattr(task.get_coro(), "cr_code", None)
    return code is not None and code.co_filename.startswith(_TESTS)


def made(kind: str, settings: Mapping[str, str]) -> Network:
    """The network of a server's settings; what they leave out has its default."""
    return make_network(kind, {field.name: settings.get(field.name, field.default) for field in KINDS[kind].fields})


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
        return asyncio.all_tasks() - before - {asyncio.current_task()}

    own = {each for each in left() if not _is_of_a_test(each)}
    assert not own, f"run() has ended, and these go on: {own}"
    # A server of a test in the same loop ends by itself what it does for a connection that was closed.
    await wait_until_async(lambda: f"these go on: {left()}", lambda: not left())
