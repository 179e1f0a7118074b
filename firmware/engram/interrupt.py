"""Safe handling of Ctrl-C, a KeyboardInterrupt between any two steps of any task.

MicroPython's asyncio forgets a task that it ends and never wakes its waiters. So tasks begin by `start_task`,
and the app waits with `Stop`.
"""

import asyncio

_stop = None


class Stop:
    """A flag set by Ctrl-C or at the end of the app; one app runs at a time."""

    def __init__(self):
        global _stop
        self._event = asyncio.Event()
        self._is_interrupt = False
        _stop = self

    def set(self, is_interrupt: bool = False) -> None:
        self._is_interrupt = self._is_interrupt or is_interrupt
        self._event.set()

    def close(self) -> None:
        global _stop
        _stop = None

    async def wait(self) -> None:
        await self._event.wait()
        if self._is_interrupt:
            raise KeyboardInterrupt


def start_task(function, *arguments):
    """Run a coroutine function as a task; Ctrl-C in it stops the app and cancels the task."""
    return asyncio.create_task(interruptible(function, *arguments))


async def stop_task(task) -> None:
    if task and not task.done():
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass


async def interruptible(function, *arguments):
    """Await a coroutine function under the rules of start_task()."""
    try:
        return await function(*arguments)
    except KeyboardInterrupt:
        if _stop is None:
            raise
        _stop.set(is_interrupt=True)
        raise asyncio.CancelledError from None
