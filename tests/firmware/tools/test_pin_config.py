"""Pins in config.json: what is wrong is named, and what is never allowed is refused."""

from engram.errors import ConfigError
from engram.tools.pin_config import forbidden_pins, parse_pins
from support import folder, raises

FORBIDDEN = [0, 3, 19, 20, 26]


def _problem(forbidden=FORBIDDEN, **table):
    with raises(ConfigError) as caught:
        parse_pins(table, forbidden)
    return str(caught.error)


def test_everything_that_may_be_said_of_a_pin():
    table = {
        "灯": {"pin": 5, "mode": "out", "safe": 1, "invert": True},
        "fan": {"pin": 6, "mode": "pwm", "freq": 25000, "safe": 20},
        "soil": {"pin": 7, "mode": "adc", "scale": [0.1, -3], "unit": "%"},
    }
    fan, soil, lamp = parse_pins(table, FORBIDDEN)
    assert (lamp.safe, lamp.invert) == (1, True)
    assert (fan.freq, fan.safe) == (25000, 20)
    assert (soil.scale, soil.unit) == ([0.1, -3], "%")


def test_a_pin_that_is_never_allowed_is_refused_in_each_mode():
    for number in FORBIDDEN:
        for mode in ("out", "in", "pwm", "adc"):
            problem = _problem(lamp={"pin": number, "mode": mode})
            assert problem.startswith("config: pins.lamp: pin: %d is never allowed" % number)


def test_a_field_that_is_wrong_is_named():
    wrong = (
        ({"mode": "open"}, "mode"), ({"mode": None}, "mode"), ({"mode": "out", "pull": "up"}, "pull"),
        ({"mode": "in", "safe": 1}, "safe"), ({"mode": "in", "pull": "sideways"}, "pull"),
        ({"mode": "out", "freq": 5}, "freq"), ({"mode": "pwm", "freq": 0}, "freq"),
        ({"mode": "pwm", "safe": 101}, "safe"), ({"mode": "out", "safe": 2}, "safe"),
        ({"mode": "out", "safe": True}, "safe"), ({"mode": "out", "invert": 1}, "invert"),
        ({"mode": "out", "unit": "V"}, "unit"), ({"mode": "adc", "unit": "x" * 9}, "unit"),
        ({"mode": "adc", "unit": 3}, "unit"), ({"mode": "adc", "scale": 3}, "scale"),
        ({"mode": "adc", "scale": [1]}, "scale"), ({"mode": "adc", "scale": [1, "2"]}, "scale"),
        ({"mode": "out", "colour": "red"}, "colour"),
    )  # fmt: skip
    for fields, name in wrong:
        problem = _problem(lamp=dict(fields, pin=5))
        assert problem.startswith("config: pins.lamp: ") and name in problem, problem


def test_a_name_that_could_be_taken_for_something_else_is_refused():
    for name in ("", "1", "12", "m12", "my lamp", "a.b", "x" * 33, "a\nb", "3d"):
        assert _problem(**{name: {"pin": 5, "mode": "out"}}).startswith("config: pins.%s: name: " % name)


def test_two_names_for_one_pin_are_refused():
    assert "the same pin as a" in _problem(a={"pin": 5, "mode": "out"}, b={"pin": 5, "mode": "in"})


def test_the_list_of_pins_that_are_never_allowed_comes_from_the_deploy():
    place = folder()
    with open(place + "/code.json", "w") as file:
        file.write('{"version": "1", "forbidden_pins": [0, 3]}')
    assert forbidden_pins(place) == [0, 3]


def test_without_that_list_no_pin_is_reached():
    for content in (None, "", "{", "[]", "{}", '{"forbidden_pins": 3}'):
        place = folder()
        if content is not None:
            with open(place + "/code.json", "w") as file:
                file.write(content)
        with raises(ConfigError) as caught:
            forbidden_pins(place)
        assert "deploy Engram to it again" in str(caught.error)
