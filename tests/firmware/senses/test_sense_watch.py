"""Limits and unusual hours: when an event begins, and when it is over."""

from board import ANN
from engram.errors import ArgumentError, NotFound
from engram.memory.access import OWNER, Caller
from engram.senses.limits import MOST
from samples import Numbers
from support import raises
from watching import Cellar

DAY = 1440


def _noise(count, middle=200, seed=4):
    numbers = Numbers(seed)
    return [middle + numbers.below(7) - 3 for _ in range(count)]


# --- limits


def test_a_reading_beyond_a_limit_is_an_event_until_it_is_back_for_some_minutes():
    cellar = Cellar()
    cellar.limit(low=5)
    assert cellar.read(60, 50) == []
    assert cellar.read(49) == ["low at 49"]
    assert cellar.read(46, 48) == []
    assert cellar.read(50, 51, 52, 53) == []
    assert cellar.read(53, 54) == ["low over, 46"]
    assert cellar.read(40) == ["low at 40"]


def test_readings_that_flicker_around_a_limit_are_one_event():
    cellar = Cellar()
    cellar.limit(high=30)
    assert cellar.read(*[301, 299] * 30) == ["high at 301"]
    assert cellar.read(*[290] * 6) == ["high over, 301"]


def test_a_limit_may_ask_for_readings_that_stay_beyond_it():
    cellar = Cellar()
    cellar.limit(high=30, minutes=10)
    assert cellar.read(*[310] * 9 + [290] + [310] * 10) == []
    assert cellar.read(310) == ["high at 310"]


def test_both_sides_and_several_people_have_limits_of_their_own():
    cellar = Cellar()
    cellar.limit(low=5)
    cellar.limit(high=30)
    cellar.limit(ANN, low=8)
    assert cellar.read(79) == ["low at 79"]
    assert cellar.read(49) == ["low at 49"]
    assert cellar.read(310)[-1:] == ["high at 310"]


def test_a_new_limit_takes_the_place_of_ones_own_on_that_side():
    cellar = Cellar()
    first = cellar.limit(low=5)
    second = cellar.limit(low=3)
    assert [fields["id"] for fields in cellar.limits.of_caller(OWNER)] == [second["id"]] != [first["id"]]


def test_limits_of_config_json_are_there_without_being_set():
    cellar = Cellar(limits={"low": 5, "high": 30.5})
    assert cellar.read(304) == []
    assert cellar.read(306) == ["high at 306"]
    assert cellar.limits.of_caller(OWNER) == []


def test_limits_survive_a_restart_and_an_event_goes_on():
    cellar = Cellar()
    cellar.limit(low=5)
    assert cellar.read(40) == ["low at 40"]
    cellar.start()
    assert cellar.read(39, 38) == []
    assert cellar.read(*[60] * 7) == ["low over, 38"]


def test_the_event_of_a_limit_that_is_removed_is_over():
    cellar = Cellar()
    fields = cellar.limit(low=5)
    cellar.read(40)
    with raises(NotFound):
        cellar.limits.remove(ANN, fields["id"])
    assert cellar.limits.remove(OWNER, fields["id"])["low"] == 50
    assert cellar.read(40) == ["low over, 40"]
    assert cellar.read(30) == []


def test_limits_that_cannot_be_are_refused():
    cellar = Cellar()
    for wrong in ({}, {"low": 1, "high": 2}, {"low": "5"}, {"low": float("nan")}, {"low": 5, "minutes": -1}):
        with raises(ArgumentError):
            cellar.limit(OWNER, **wrong)
    for number in range(MOST):
        cellar.limit(Caller("p%d" % number, "net %d" % number, False, ""), low=5)
    with raises(ArgumentError):
        cellar.limit(Caller("one too many", "net", False, ""), low=5)


def test_damaged_lines_of_limits_are_set_aside():
    cellar = Cellar()
    cellar.limit(low=5)
    cellar.limit(ANN, high=30)
    path = cellar.folder + "/senses/limits.jsonl"
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(data.replace(b'"high":300', b'"high":900'))
    cellar.start()
    assert cellar.limits.of_caller(ANN) == [] and len(cellar.limits.of_caller(OWNER)) == 1
    assert cellar.limit(ANN, high=30)["id"] == "l3", "no number is given twice"


# --- hours


def test_hours_that_are_off_are_an_event_with_what_was_usual():
    cellar = Cellar()
    assert cellar.read(*_noise(20 * DAY)) == []
    found = cellar.read(*_noise(300, 240))
    assert [line[:7] for line in found] == ["unusual"]
    (fields,) = cellar.events.lasting
    low, high = fields["usual"]
    assert 190 < low < 200 < high < 210
    assert [line[:12] for line in cellar.read(*_noise(180))] == ["unusual over"]


def test_what_is_usual_is_learned_again_from_the_hours_on_flash():
    cellar = Cellar()
    cellar.read(*_noise(20 * DAY))
    cellar.start()
    assert [line[:7] for line in cellar.read(*_noise(120, 240))] == ["unusual"]


def test_in_the_first_two_weeks_nothing_is_unusual():
    cellar = Cellar()
    assert cellar.read(*_noise(13 * DAY), *_noise(120, 900)) == []
