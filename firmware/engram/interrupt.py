"""Ctrl-C on a chip is a KeyboardInterrupt between any two steps of whatever task runs.

MicroPython's asyncio forgets a task that this ends: its end wakes nobody, and whoever waits for it waits for ever.
So the work of each task goes through `interruptible`, and the app waits with `Stop`.
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


async def interruptible(work):
    """Await the work of a task. Where Ctrl-C strikes in it, the app stops, and the task ends as one that was cancelled."""
    try:
        return await work
    except KeyboardInterrupt:
        if _stop is None:
            raise
        _stop.set(is_interrupt=True)
        raise asyncio.CancelledError from None
