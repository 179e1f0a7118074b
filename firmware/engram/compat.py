"""Adds to CPython what it lacks of MicroPython, so that the same files run on the chip and on the host."""

import gc
import sys
import time

try:
    from micropython import const  # type: ignore
except ImportError:

    def const(value):
        """Mark a compile-time constant."""
        return value


def viper(function):
    """Mark a function that is native code where a board has it: see engram.loops."""
    return function


def ptr8(buffer):
    """Name a type of viper, as the next two do; elsewhere a buffer is what it is."""
    return buffer


ptr16 = ptr32 = ptr8

_OFTEN = const(8000)  # bytes
_PARTS = const(32)  # of a large heap, after one of which it is swept

if hasattr(time, "ticks_ms"):
    ticks_ms = time.ticks_ms  # pyright: ignore
    ticks_diff = time.ticks_diff  # pyright: ignore
    ticks_add = time.ticks_add  # pyright: ignore
else:
    _PERIOD = const(1 << 30)

    def ticks_ms() -> int:
        """Milliseconds of a counter that wraps: compare with ticks_diff, never subtract."""
        return time.monotonic_ns() // 1_000_000 % _PERIOD

    def ticks_diff(end: int, start: int) -> int:
        """Signed milliseconds from start to end."""
        return (end - start + _PERIOD // 2) % _PERIOD - _PERIOD // 2

    def ticks_add(ticks: int, delta: int) -> int:
        """A moment `delta` milliseconds after `ticks`."""
        return (ticks + delta) % _PERIOD


async def sleep_ms(milliseconds: int) -> None:
    """Let other tasks run for a while."""
    import asyncio  # 2 KB of heap, which what runs without tasks can do without

    if hasattr(asyncio, "sleep_ms"):
        await asyncio.sleep_ms(milliseconds)  # pyright: ignore
    else:
        await asyncio.sleep(milliseconds / 1000)


async def wait_for_ms(awaitable, milliseconds: int):
    """Await with a timeout; asyncio.TimeoutError when it runs out."""
    import asyncio  # 2 KB of heap, which what runs without tasks can do without

    if hasattr(asyncio, "wait_for_ms"):
        return await asyncio.wait_for_ms(awaitable, milliseconds)  # pyright: ignore
    return await asyncio.wait_for(awaitable, milliseconds / 1000)


def first_of(work):
    """Return what a generator yields first, None if nothing. It is closed, and with it a file that it reads."""
    try:
        return next(work, None)
    finally:
        work.close()


def finish(work) -> None:
    """Let a generator do all of its work, and tidy up if that is stopped: MicroPython does not end one that is dropped."""
    try:
        for _ in work:
            pass
    finally:
        work.close()


def heap_free() -> int:
    """Bytes free on the Python heap, -1 where the runtime does not tell."""
    return gc.mem_free() if hasattr(gc, "mem_free") else -1  # pyright: ignore


def heap_used() -> int:
    """Bytes used on the Python heap, -1 where the runtime does not tell."""
    return gc.mem_alloc() if hasattr(gc, "mem_alloc") else -1  # pyright: ignore


def collect_often() -> None:
    """Let the garbage be collected often, where the runtime can be told that: else long-lived tables scatter over the heap.

    On a large heap, which is swept as a whole each time, less often.
    """
    if hasattr(gc, "mem_free"):
        gc.threshold(max(_OFTEN, (heap_used() + heap_free()) // _PARTS))  # pyright: ignore


def print_trace(error) -> None:
    """Show where an error came from, where the runtime can."""
    show = getattr(sys, "print_exception", None)
    if show:
        show(error)
