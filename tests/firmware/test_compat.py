"""What the runner and the ground's compat layer promise on every runtime."""

import asyncio
import time

from engram.compat import sleep_ms, ticks_add, ticks_diff, ticks_ms, wait_for_ms
from support import folder, let_others_run, on_micropython, raises


def test_ticks_difference_survives_a_wrap_of_the_counter():
    for start in (
        ticks_ms(),
        ticks_add(0, -1),
        ticks_add(0, -5),
    ):  # the last tick before the wrap, and one a little earlier
        assert ticks_diff(ticks_add(start, 70000), start) == 70000
        assert ticks_diff(start, ticks_add(start, 70000)) == -70000
    assert ticks_add(ticks_add(0, -5), 10) == 5


async def test_sleeping_lets_the_time_pass():
    start = ticks_ms()
    await sleep_ms(5)
    assert ticks_diff(ticks_ms(), start) >= 4


async def test_a_wait_gives_the_result_or_the_error_of_what_it_waits_for():
    async def parse(digits):
        await sleep_ms(1)
        return int(digits)

    assert await wait_for_ms(parse("7"), 60_000) == 7
    with raises(ValueError):
        await wait_for_ms(parse("seven"), 60_000)


async def test_a_wait_that_takes_too_long_is_cancelled_with_a_timeout_error():
    event = asyncio.Event()
    with raises(asyncio.TimeoutError):
        await wait_for_ms(event.wait(), 1)


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


async def test_a_pause_of_the_process_ends_no_timeout_of_a_unit_test():
    async def answer_after_a_pause():
        time.sleep(1.5 * timeout_ms / 1000)  # as a busy machine does it to the process
        await sleep_ms(1)
        return "answer"

    timeout_ms = 40
    if not on_micropython():  # whose loop has its clock built in
        assert await wait_for_ms(answer_after_a_pause(), timeout_ms) == "answer"


def test_each_folder_is_fresh():
    path = folder()
    with open(path + "/file", "w") as file:
        file.write("x")
    assert folder() != path


def test_raises_shows_when_nothing_was_raised():
    with raises(AssertionError), raises(ValueError):
        pass
