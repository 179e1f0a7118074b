"""The parts of MicroPython that CPython lacks, so that the same files run on chip and host."""

import gc
import sys
import time


def viper(function):
    """Mark a function that is native code on boards, see engram.loops."""
    return function


def ptr8(buffer):
    return buffer


ptr16 = ptr32 = ptr8

_OFTEN = const(8000)  # bytes
_PARTS = const(32)  # parts of a large heap; it is swept after each

if hasattr(time, "ticks_ms"):
    ticks_ms = time.ticks_ms  # pyright: ignore
    ticks_diff = time.ticks_diff  # pyright: ignore
    ticks_add = time.ticks_add  # pyright: ignore
else:
    _PERIOD = const(1 << 30)

    def ticks_ms() -> int:
        """Return a wrapping counter of milliseconds; compare with ticks_diff only."""
        return time.monotonic_ns() // 1_000_000 % _PERIOD

    def ticks_diff(end: int, start: int) -> int:
        """Return signed milliseconds from start to end."""
        return (end - start + _PERIOD // 2) % _PERIOD - _PERIOD // 2

    def ticks_add(ticks: int, delta: int) -> int:
        return (ticks + delta) % _PERIOD


async def sleep_ms(milliseconds: int) -> None:
    """Let other tasks run for a while."""
    import asyncio  # 2 KB of heap, which what runs without tasks can do without

    if hasattr(asyncio, "sleep_ms"):
        await asyncio.sleep_ms(milliseconds)  # pyright: ignore
    else:
        await asyncio.sleep(milliseconds / 1000)


async def wait_for_ms(awaitable, milliseconds: int):
    """Await with a timeout; asyncio.TimeoutError."""
    import asyncio  # 2 KB of heap, which what runs without tasks can do without

    if hasattr(asyncio, "wait_for_ms"):
        return await asyncio.wait_for_ms(awaitable, milliseconds)  # pyright: ignore
    return await asyncio.wait_for(awaitable, milliseconds / 1000)


def first_of(work):
    """Return the first item of a generator or None, and close it with its file."""
    try:
        return next(work, None)
    finally:
        work.close()


def finish(work) -> None:
    """Exhaust a generator and close it if interrupted, which MicroPython does not do."""
    try:
        for _ in work:
            pass
    finally:
        work.close()


def heap_free() -> int:
    return gc.mem_free() if hasattr(gc, "mem_free") else -1  # pyright: ignore


def heap_used() -> int:
    return gc.mem_alloc() if hasattr(gc, "mem_alloc") else -1  # pyright: ignore


def collect_often() -> None:
    """Collect garbage often, so that long-lived tables do not scatter over the heap."""
    if hasattr(gc, "mem_free"):
        gc.threshold(max(_OFTEN, (heap_used() + heap_free()) // _PARTS))  # pyright: ignore


def print_trace(error) -> None:
    show = getattr(sys, "print_exception", None)
    if show:
        show(error)
