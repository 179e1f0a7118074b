"""What the runner and the ground's compat layer promise on every runtime."""

import asyncio

from engram.compat import sleep_ms, ticks_add, ticks_diff, ticks_ms, wait_for_ms
from support import let_others_run, raises


def test_ticks_difference_survives_a_wrap_of_the_counter():
    # Now, at the last tick before the wrap, and a little earlier.
    for start in (ticks_ms(), ticks_add(0, -1), ticks_add(0, -5)):
        assert ticks_diff(ticks_add(start, 70000), start) == 70000
        assert ticks_diff(start, ticks_add(start, 70000)) == -70000
    assert ticks_add(ticks_add(0, -5), 10) == 5


async def test_a_cancellation_at_the_moment_of_a_waits_result_is_not_lost():
    async def wait(result, forever):
        await wait_for_ms(result.wait(), 60_000)
        await forever.wait()

    # From the cancellation right before the result up to the one long after it.
    for passes in range(-1, 8):
        result = asyncio.Event()
        task = asyncio.create_task(wait(result, asyncio.Event()))
        await let_others_run()
        if passes < 0:
            task.cancel()
        result.set()
        for _ in range(passes):
            await sleep_ms(0)
        task.cancel()
        await let_others_run()
        assert task.done(), passes
        with raises(asyncio.CancelledError):
            await task
