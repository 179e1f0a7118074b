"""Ctrl-C on a chip is a KeyboardInterrupt between any two steps of whatever task runs.

MicroPython's asyncio forgets a task that this ends: its end wakes nobody, and whoever waits for it waits for ever.
So each task is begun by `start_task`, and the app waits with `Stop`.
"""

import asyncio

_stop = None


class Stop:
    """Set by Ctrl-C, or when the app is to end for another reason; one app at a time runs."""

    def __init__(self):
        global _stop
        self._event = asyncio.Event()
        self._is_interrupt = False
        _stop = self

    def set(self, is_interrupt: bool = False) -> None:
        """The app is to end, as Ctrl-C ends it if `is_interrupt`."""
        self._is_interrupt = self._is_interrupt or is_interrupt
        self._event.set()

    def close(self) -> None:
        """Nothing runs any more that Ctrl-C could stop."""
        global _stop
        _stop = None

    async def wait(self) -> None:
        """Wait until it is set; KeyboardInterrupt if it was Ctrl-C."""
        await self._event.wait()
        if self._is_interrupt:
            raise KeyboardInterrupt


def start_task(function, *arguments):
    """Run a coroutine function as a task: if Ctrl-C strikes in it, the app stops, and the task ends as a cancelled one.

    It takes no coroutine: one would be left unawaited by a task that is cancelled before it begins.
    """
    return asyncio.create_task(interruptible(function, *arguments))


async def stop_task(task) -> None:
    """Cancel a task, if there is one, and wait for its end."""
    if task and not task.done():
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass


async def interruptible(function, *arguments):
    """Await a coroutine function, as start_task() says."""
    try:
        return await function(*arguments)
    except KeyboardInterrupt:
        if _stop is None:
            raise
        _stop.set(is_interrupt=True)
        raise asyncio.CancelledError from None
