"""The senses of config.json: what a kind takes by default, and mistakes that are named at the start."""

from engram.errors import ConfigError
from engram.senses.sense_config import parse_senses
from support import raises

PINS = {"door": {"pin": 14, "mode": "in", "pull": "up", "invert": True}, "soil": {"pin": 7, "mode": "adc", "unit": "%"}}
PINS["water"] = {"pin": 8, "mode": "adc"}


def _parsed(entry, name="room"):
    return parse_senses({name: entry}, PINS, (0, 3))[0]


def _problem(entry, name="room"):
    with raises(ConfigError) as caught:
        _parsed(entry, name)
    assert caught.error.key == "senses." + name
    return caught.error.problem


def test_a_kind_brings_its_unit_decimals_and_pace():
    for kind, more, unit, decimals in (
        ("dht22", {"pin": 4}, "°C", 1),
        ("dht11", {"pin": 4, "what": "humidity"}, "%", 1),
        ("adc", {"pin": "water"}, "mV", 1),
        ("adc", {"pin": "soil"}, "%", 1),
        ("pin", {"pin": "door"}, "", 0),
        ("code", {}, "", 1),
    ):
        entry: dict = dict(more)
        entry["kind"] = kind
        sense = _parsed(entry)
        assert (sense.kind, sense.unit, sense.decimals, sense.every) == (kind, unit, decimals, 60)


def test_what_is_written_holds():
    sense = _parsed({"kind": "code", "unit": "V", "decimals": 3, "every": 5})
    assert (sense.unit, sense.decimals, sense.every) == ("V", 3, 5)


def test_mistakes_are_named():
    for entry, problem in (
        ({}, "kind: must be one of adc, code"),
        ({"kind": "dht22"}, "pin: is missing; it must be a whole number from 0 to 48"),
        ({"kind": "dht22", "pin": 3}, "pin: 3 is never allowed on this board"),
        ({"kind": "dht22", "pin": 14}, "pin: 14 is the pin door: choose another one"),
        ({"kind": "adc", "pin": 4}, "pin: must be a text, the name of one of config.json's pins"),
        ({"kind": "pin", "pin": "attic"}, "pin: must be the name of one of config.json's pins with the mode in"),
        ({"kind": "code", "pin": 4}, "pin: is not known; there are decimals, every, kind"),
        ({"kind": "code", "unit": "kilobytes"}, "unit: must be a text of at most 8"),
    ):
        assert problem in _problem(entry), (entry, _problem(entry))
    assert "name: must be a text of at most 32 characters" in _problem({"kind": "code"}, "x" * 33)


def test_names_that_differ_in_case_alone_and_too_many_senses_are_refused():
    with raises(ConfigError) as caught:
        parse_senses({"Room": {"kind": "code"}, "room": {"kind": "code"}}, {}, ())
    assert "is the same name as Room" in str(caught.error)
    with raises(ConfigError) as caught:
        parse_senses({str(number): {"kind": "code"} for number in range(17)}, {}, ())
    assert "has 17 senses, at most 16 fit" in str(caught.error)
