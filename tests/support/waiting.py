"""Tests wait for a sign, never for a time: tests/docs/design/test_waiting.py names the few pauses that there are beside."""

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

Found = TypeVar("Found")

SECONDS = 60.0
"""How long anything may take before a test fails; far more than it takes on a slow machine."""

_FIRST_PAUSE, _LONGEST_PAUSE, _GROWTH = 0.005, 0.05, 1.5
"""Between two looks: what comes soon is seen soon, what takes long is not asked for all the time."""


def wait_until(what: str | Callable[[], str], is_so: Callable[[], Found], within: float = SECONDS) -> Found:
    """Wait until `is_so` gives something true, and give that; AssertionError with `what` if it never does."""
    pauses = _pauses(what, within)
    while not (found := is_so()):
        time.sleep(next(pauses))
    return found


async def wait_until_async(what: str | Callable[[], str], is_so: Callable[[], Found], within: float = SECONDS) -> Found:
    """As wait_until(), for tests in an event loop: its other tasks run meanwhile."""
    pauses = _pauses(what, within)
    while not (found := is_so()):
        await asyncio.sleep(next(pauses))
    return found


def _pauses(what: str | Callable[[], str], within: float) -> Iterator[float]:
    """The pauses between two looks; AssertionError once they are over."""
    end = time.monotonic() + within
    pause = _FIRST_PAUSE
    while True:
        if time.monotonic() >= end:
            raise AssertionError(f"not within {within:.0f} s: {what if isinstance(what, str) else what()}")
        yield pause
        pause = min(pause * _GROWTH, _LONGEST_PAUSE)
