"""A simulated year of timers: each due one is told once, through both changes of daylight saving and a hundred restarts."""

from support import is_whole
from timer_year import DAY, START, SUMMER_BEGINS, SUMMER_ENDS, year

SHORT = 8
"""Days around each change in `make test`."""
RESTARTS = 100
"""At least, in a whole year."""
CHANCES = 150
"""For a restart in a year: as they come by chance, at least RESTARTS of them happen."""


def _around(change):
    """(days, seed, chances, least restarts, start) of some days around a change."""
    return SHORT, 1, 24, 11, change - change % DAY - SHORT // 2 * DAY


async def test_each_due_timer_is_told_once():
    spans = [_around(change) for change in (SUMMER_ENDS, SUMMER_BEGINS)]
    years = [(366, seed, CHANCES, RESTARTS, START) for seed in (1, 2, 3)]
    for days, seed, chances, least, start in years if is_whole() else spans:
        found = await year(days, seed, chances, start)
        assert not found.problems, (seed, found.problems)
        assert found.told + found.merged == found.dues > 8 * days
        assert found.restarts >= least and found.jumps and found.unset and found.late and found.merged
