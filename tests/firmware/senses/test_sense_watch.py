"""Limits and unusual hours: when an event begins, and when it is over."""

from engram.errors import ArgumentError
from engram.memory.access import OWNER, Caller
from engram.senses.limits import MOST
from engram.senses.watch import HourlyBaseline
from samples import Numbers
from support import raises
from watching import Cellar

STEP = 10
DAY = 1440 // STEP
"""Readings, with some minutes between two: an hour's mean is the same."""


def _noise(count, middle=200, seed=4):
    numbers = Numbers(seed)
    return [middle + numbers.below(7) - 3 for _ in range(count)]


# --- limits


def test_a_reading_beyond_a_limit_is_an_event_until_it_is_back_for_some_minutes():
    cellar = Cellar()
    cellar.limit(low=5)
    assert cellar.read(60, 50) == []
    assert cellar.read(49) == [("below", 49)]
    assert cellar.read(46, 50, 51, 52, 53) == [("below", 49)]
    assert cellar.read(53, 54) == []
    assert cellar.read(40) == [("below", 40)]
    assert len(cellar.told) == 2


def test_readings_that_flicker_around_a_limit_are_one_event():
    cellar = Cellar()
    cellar.limit(high=30)
    assert cellar.read(*[301, 299] * 30) == [("above", 301)]
    assert cellar.read(*[290] * 6) == [] and len(cellar.told) == 1


def test_a_limit_may_ask_for_readings_that_stay_beyond_it():
    cellar = Cellar()
    cellar.limit(high=30, minutes=10)
    assert cellar.read(*[310] * 9 + [290] + [310] * 10) == []
    assert cellar.read(310) == [("above", 310)]


def test_a_new_limit_takes_the_place_of_ones_own_on_that_side_and_ends_its_event():
    cellar = Cellar()
    first = cellar.limit(low=5)
    cellar.read(40)
    assert cellar.limit(low=5)["id"] == first["id"], "the same limit again"
    second = cellar.limit(low=3)
    assert [row["id"] for row in cellar.limits.of_caller(OWNER)] == [second["id"]] != [first["id"]]
    assert cellar.read(40) == []


def test_limits_survive_a_restart_and_an_event_goes_on():
    cellar = Cellar()
    cellar.limit(low=5)
    cellar.read(40)
    cellar.start()
    assert cellar.read(39, 38) == [("below", 40)]
    assert cellar.read(*[60] * 7) == [] and len(cellar.told) == 1


def test_limits_that_cannot_be_are_refused():
    cellar = Cellar()
    for wrong in ({}, {"low": 1, "high": 2}, {"low": "5"}, {"low": float("nan")}, {"low": 5, "minutes": -1}):
        with raises(ArgumentError):
            cellar.limit(OWNER, **wrong)
    for number in range(MOST):
        cellar.limit(Caller("p%d" % number, "net %d" % number, False, ""), low=5)
    with raises(ArgumentError):
        cellar.limit(Caller("one too many", "net", False, ""), low=5)


# --- hours


def test_hours_that_are_off_are_an_event_with_what_was_usual():
    cellar = Cellar()
    assert cellar.read(*_noise(15 * DAY), minutes=STEP) == []
    assert [kind for kind, _ in cellar.read(*_noise(300, 240))] == ["unusual"]
    (row,) = cellar.limits.lasting
    low, high = row["usual"]
    assert 190 < low < 200 < high < 210
    assert cellar.read(*_noise(180)) == [] and len(cellar.told) == 1


def test_what_is_usual_is_learned_again_from_the_hours_on_flash():
    cellar = Cellar()
    cellar.read(*_noise(15 * DAY), minutes=STEP)
    cellar.start()
    assert [kind for kind, _ in cellar.read(*_noise(120, 240))] == ["unusual"]


# --- the usual mean and spread of an hour of the day


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
