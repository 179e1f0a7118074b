"""A simulated year of timers: each due one is told once, through both changes of daylight saving and a hundred restarts."""

from support import rounds
from timer_year import year


async def test_in_a_year_each_due_timer_is_told_once():
    days = rounds(366, 40)
    for seed in rounds((1, 2, 3), (1,)):
        found = await year(days, seed, restarts=rounds(100, 20))
        assert not found.problems, (seed, found.problems)
        assert found.told + found.merged == found.dues > 20 * days
        assert found.restarts > days // 8 and found.jumps and found.unset and found.late and found.merged
