"""The senses of config.json: what a kind takes by default, and mistakes that are named at the start."""

from engram.errors import ConfigError
from engram.senses.sense_config import names_numbers, parse_senses
from support import raises

PINS = {"door": {"pin": 14, "mode": "in", "pull": "up", "invert": True}, "soil": {"pin": 7, "mode": "adc", "unit": "%"}}


def _parsed(entry, name="room"):
    return parse_senses({name: entry}, PINS, (0, 3), 16)[0]


def _problem(entry, name="room"):
    with raises(ConfigError) as caught:
        _parsed(entry, name)
    assert caught.error.key == "senses." + name
    return caught.error.problem


def test_a_kind_brings_its_unit_decimals_and_pace():
    for kind, more, unit, decimals in (
        ("dht22", {"pin": 4}, "°C", 1),
        ("dht11", {"pin": 4, "what": "humidity"}, "%", 1),
        ("bme280", {"scl": 5, "sda": 6, "what": "pressure"}, "hPa", 1),
        ("adc", {"pin": 4}, "mV", 1),
        ("pin", {"pin": 4}, "", 0),
        ("heap", {}, "KB", 0),
        ("wifi_signal", {}, "dBm", 0),
        ("code", {}, "", 1),
    ):
        entry: dict = dict(more)
        entry["kind"] = kind
        sense = _parsed(entry)
        assert (sense.kind, sense.unit, sense.decimals, sense.every) == (kind, unit, decimals, 60)


def test_what_is_written_holds():
    sense = _parsed({"kind": "code", "unit": "V", "decimals": 3, "every": 5, "limits": {"low": 3.1, "high": 4}})
    assert (sense.unit, sense.decimals, sense.every, sense.limits) == ("V", 3, 5, {"low": 3.1, "high": 4})


def test_a_named_pin_brings_its_number_pull_and_unit():
    door, soil = _parsed({"kind": "pin", "pin": "door"}), _parsed({"kind": "adc", "pin": "soil"})
    assert (door.pins, door.pin_name, door.options) == ((14,), "door", {"pull": "up", "invert": True})
    assert (soil.pins, soil.pin_name, soil.unit) == ((7,), "soil", "%")


def test_mistakes_are_named():
    for entry, problem in (
        ({}, "kind: must be one of adc, pin"),
        ({"kind": "dht23"}, "kind: must be one of"),
        ({"kind": "dht22"}, "pin: must be a whole number from 0 to 48"),
        ({"kind": "dht22", "pin": True}, "pin: must be a whole number"),
        ({"kind": "dht22", "pin": 3}, "pin: 3 is never allowed on this board"),
        ({"kind": "adc", "pin": 14}, "pin: 14 is the pin door: give that name"),
        ({"kind": "adc", "pin": "door"}, "pin: must be a pin of config.json's pins with the mode adc"),
        ({"kind": "pin", "pin": "attic"}, "pin: must be a pin of config.json's pins with the mode in"),
        ({"kind": "dht22", "pin": "door"}, "pin: must be a number"),
        ({"kind": "dht22", "pin": 4, "what": "pressure"}, "what: must be one of humidity, temperature"),
        ({"kind": "heap", "pin": 4}, "pin: is no field of the kind heap: it takes kind, every"),
        ({"kind": "heap", "every": 0}, "every: must be a whole number from 1 to 86400"),
        ({"kind": "heap", "decimals": 4}, "decimals: must be a whole number from 0 to 3"),
        ({"kind": "heap", "unit": "kilobytes"}, "unit: must be a text of at most 8"),
        ({"kind": "heap", "limits": {"below": 5}}, "limits: must be an object such as"),
        ({"kind": "heap", "limits": {"low": 5, "high": 5}}, "limits: have a low one that is not below"),
        ({"kind": "heap", "limits": {"low": float("nan")}}, "limits: must be an object such as"),
        ({"kind": "heap", "limits": {"low": 1e10}}, "limits: have a low one that is too large for 0 decimals"),
        ({"kind": "code", "limits": {"high": -1e308}}, "limits: have a high one that is too large for 1 decimals"),
        ({"kind": "code", "decimals": 3, "limits": {"high": 2147484}}, "limits: have a high one that is too large"),
        ({"kind": "adc", "pin": 4, "scale": [1]}, "scale: must be two numbers"),
        ({"kind": "pin", "pin": 4, "pull": "out"}, "pull: must be one of up, down, none"),
        ({"kind": "ds18b20", "pin": 4, "rom": "28-FF"}, "rom: must be 16 hexadecimal digits"),
        ({"kind": "bme280", "scl": 5, "sda": 6, "address": 300}, "address: must be a whole number"),
        ({"kind": "bme280", "scl": 5}, "sda: must be a whole number"),
    ):
        assert problem in _problem(entry), (entry, _problem(entry))
    assert "name: has 33 characters" in _problem({"kind": "code"}, "x" * 33)


def test_names_that_differ_in_case_alone_and_too_many_senses_are_refused():
    with raises(ConfigError) as caught:
        parse_senses({"Room": {"kind": "code"}, "room": {"kind": "code"}}, {}, (), 16)
    assert "is the same name as Room" in str(caught.error)
    with raises(ConfigError) as caught:
        parse_senses({"a": {"kind": "code"}, "b": {"kind": "code"}}, {}, (), 1)
    assert "has 2 senses, at most 1 fit (senses.most)" in str(caught.error)


def test_numbers_of_pins_are_known_without_parsing():
    assert names_numbers({"a": {"kind": "adc", "pin": 4}}) and names_numbers({"a": {"scl": 4}})
    assert not names_numbers({"a": {"kind": "adc", "pin": "soil"}, "b": {"kind": "heap"}})


def _is_refused(first, second):
    """What is wrong with a second sense beside a first one, "" if nothing is."""
    try:
        parse_senses({"a": first, "b": second}, PINS, (), 16)
    except ConfigError as error:
        assert error.key == "senses.b"
        return error.problem
    return ""


def test_one_pin_serves_no_two_senses_that_would_disturb_each_other():
    counter, bus = {"kind": "pin", "pin": "door", "what": "count"}, {"kind": "bme280", "scl": 4, "sda": 5}
    for first, second, number in (
        ({"kind": "dht22", "pin": 4}, {"kind": "adc", "pin": 4}, 4),
        ({"kind": "dht22", "pin": 4}, {"kind": "dht11", "pin": 4}, 4),
        ({"kind": "ds18b20", "pin": 4}, {"kind": "pin", "pin": 4}, 4),
        (bus, {"kind": "adc", "pin": 5}, 5),
        (bus, {"kind": "bme280", "scl": 5, "sda": 4}, 5),
        (counter, {"kind": "pin", "pin": "door", "what": "changes"}, 14),
        (counter, counter, 14),
        ({"kind": "pin", "pin": 4, "pull": "up"}, {"kind": "pin", "pin": 4, "what": "changes"}, 4),
    ):
        problem = _is_refused(first, second)
        assert "shares pin %d with a: that takes the same kind and pull" % number in problem, (first, second, problem)


def test_senses_of_one_sensor_share_its_pins():
    for first, second in (
        ({"kind": "dht22", "pin": 4}, {"kind": "dht22", "pin": 4, "what": "humidity"}),
        ({"kind": "ds18b20", "pin": 4, "rom": "28ff641e8216c3a1"}, {"kind": "ds18b20", "pin": 4, "rom": "28" * 8}),
        ({"kind": "bme280", "scl": 4, "sda": 5}, {"kind": "bme280", "scl": 4, "sda": 5, "address": 0x77}),
        ({"kind": "adc", "pin": "soil"}, {"kind": "adc", "pin": "soil", "scale": [1, 2]}),
        ({"kind": "pin", "pin": 4, "pull": "up"}, {"kind": "pin", "pin": 4, "pull": "up", "what": "count"}),
        ({"kind": "pin", "pin": "door"}, {"kind": "pin", "pin": "door", "what": "changes"}),
    ):
        assert not _is_refused(first, second), (first, second)


def test_a_scale_stands_at_the_pin_or_at_the_sense():
    pins = {"soil": {"pin": 7, "mode": "adc", "scale": [2, 0]}}
    with raises(ConfigError) as caught:
        parse_senses({"room": {"kind": "adc", "pin": "soil", "scale": [1, 0]}}, pins, (), 16)
    assert "scale: is given by the pin already" in caught.error.problem
