"""A simulated year of timers: each due one is told once, through both changes of daylight saving and a hundred restarts."""

from support import is_whole
from timer_year import DAY, START, SUMMER_BEGINS, SUMMER_ENDS, year

SHORT = 14
"""Days around each change in `make test`."""


def _around(change):
    return SHORT, 1, 24, change - change % DAY - SHORT // 2 * DAY


async def test_each_due_timer_is_told_once():
    spans = [_around(change) for change in (SUMMER_ENDS, SUMMER_BEGINS)]
    for days, seed, restarts, start in [(366, seed, 130, START) for seed in (1, 2, 3)] if is_whole() else spans:
        found = await year(days, seed, restarts, start)
        assert not found.problems, (seed, found.problems)
        assert found.told + found.merged == found.dues > 8 * days
        assert found.restarts > restarts // 2 and found.jumps and found.unset and found.late and found.merged
