"""What the runner and the ground's compat layer promise on every runtime."""

from engram.compat import sleep_ms, ticks_add, ticks_diff, ticks_ms
from support import folder, raises


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


def test_each_folder_is_fresh():
    path = folder()
    with open(path + "/file", "w") as file:
        file.write("x")
    assert folder() != path


def test_raises_tells_when_nothing_was_raised():
    with raises(AssertionError), raises(ValueError):
        pass
