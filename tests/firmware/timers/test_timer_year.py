"""A simulated year of timers: each due one is told once, through both changes of daylight saving and a hundred restarts."""

from support import is_whole
from timer_year import DAY, SUMMER_BEGINS, SUMMER_ENDS, year

SHORT = 14
"""Days around each change in `make test`."""


def _is_told(found):
    assert not found.problems, found.problems
    assert found.told + found.merged == found.dues
    assert found.restarts and found.jumps and found.unset and found.late and found.merged


async def test_around_each_change_of_daylight_saving_each_due_timer_is_told_once():
    for change in (SUMMER_ENDS, SUMMER_BEGINS):
        found = await year(SHORT, 1, 24, change - change % DAY - SHORT // 2 * DAY)
        _is_told(found)
        assert found.dues > 8 * SHORT


async def test_in_a_year_each_due_timer_is_told_once():
    if not is_whole():
        return
    for seed in (1, 2, 3):
        found = await year(366, seed)
        _is_told(found)
        assert found.dues > 3000 and found.restarts > 70
