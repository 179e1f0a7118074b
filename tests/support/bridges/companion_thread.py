"""A companion in a thread of the test's own process, so that a test can give it networks of its own and run commands beside."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

from engram_host.companion.lockfile import publish_addresses
from engram_host.companion.serving import RunningCompanion, start
from kept_adapters import keep_adapters

FLAGS = {("http", "port"): 0, ("embedding", "provider"): "none"}
SECONDS = 60.0

keep_adapters()


@contextlib.contextmanager
def companion_thread(home: Path) -> Iterator[RunningCompanion]:
    """A companion that runs on a folder inside the block, where commands find it."""
    is_ready = threading.Event()
    found: list[RunningCompanion | BaseException] = []
    stop: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def run() -> None:
        may_end = asyncio.Event()
        stop.append((asyncio.get_running_loop(), may_end))
        async with start(home, FLAGS) as running:
            with publish_addresses(home, running.addresses()):
                found.append(running)
                is_ready.set()
                await running.serve(may_end)

    def serve() -> None:
        try:
            asyncio.run(run())
        except BaseException as error:  # the test's own thread raises it
            found.append(error)
            is_ready.set()
            raise

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        assert is_ready.wait(SECONDS), "the companion did not start"
        running = found[0]
        assert isinstance(running, RunningCompanion), running
        yield running
    finally:
        for loop, may_end in stop:
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                loop.call_soon_threadsafe(may_end.set)
        thread.join(SECONDS)
