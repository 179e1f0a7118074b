"""The usual mean and spread of each hour of the day."""

from engram.senses.watch import HourlyBaseline
from samples import Numbers


def _learned(days, mean_of, seed=4):
    baseline, numbers = HourlyBaseline(), Numbers(seed)
    for day in range(days):
        for hour in range(24):
            baseline.learn(hour, mean_of(day, hour) + numbers.below(7) - 3)
    return baseline


def test_nothing_is_known_of_an_hour_before_two_weeks():
    assert _learned(13, lambda day, hour: 200).usual(5) is None
    low, high = _learned(14, lambda day, hour: 200).usual(5) or (0, 0)
    assert 180 < low < 197 and 203 < high < 220


def test_each_hour_of_the_day_has_its_own_mean():
    baseline = _learned(20, lambda day, hour: 200 + 20 * hour)
    for hour in range(24):
        low, high = baseline.usual(hour) or (0, 0)
        assert low < 200 + 20 * hour < high and high - low < 40


def test_a_season_is_followed():
    low, high = _learned(120, lambda day, hour: 200 + 2 * day).usual(5) or (0, 0)
    assert low < 200 + 2 * 119 < high


def test_one_wild_hour_hardly_changes_what_is_usual():
    baseline = _learned(20, lambda day, hour: 200)
    before = baseline.usual(5)
    baseline.learn(5, 1 << 29)
    after = baseline.usual(5)
    assert before and after and abs(after[1] - before[1]) < 10


def test_readings_that_never_change_are_usual_within_four_steps():
    baseline = HourlyBaseline()
    for _ in range(30):
        baseline.learn(0, -7)
    assert baseline.usual(0) == (-11, -3)
