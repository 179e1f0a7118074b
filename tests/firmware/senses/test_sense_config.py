"""The senses of config.json: what a kind takes by default, and mistakes that are named at the start."""

from engram.errors import ConfigError
from engram.senses.sense_config import parse_senses
from support import raises

PINS = {"door": {"pin": 14, "mode": "in", "pull": "up", "invert": True}, "soil": {"pin": 7, "mode": "adc", "unit": "%"}}
PINS["water"] = {"pin": 8, "mode": "adc"}


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
        ("adc", {"pin": "water"}, "mV", 1),
        ("adc", {"pin": "soil"}, "%", 1),
        ("pin", {"pin": "door"}, "", 0),
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


def test_mistakes_are_named():
    for entry, problem in (
        ({}, "kind: must be one of adc, bme280"),
        ({"kind": "dht23"}, "kind: must be one of"),
        ({"kind": "dht22"}, "pin: is missing; it must be a whole number from 0 to 48"),
        ({"kind": "dht22", "pin": True}, "pin: must be a whole number"),
        ({"kind": "dht22", "pin": 3}, "pin: 3 is never allowed on this board"),
        ({"kind": "dht22", "pin": 14}, "pin: 14 is the pin door: choose another one"),
        ({"kind": "adc", "pin": 4}, "pin: must be a text, the name of one of config.json's pins"),
        ({"kind": "adc", "pin": "door"}, "pin: must be the name of one of config.json's pins with the mode adc"),
        ({"kind": "pin", "pin": "attic"}, "pin: must be the name of one of config.json's pins with the mode in"),
        ({"kind": "dht22", "pin": "door"}, "pin: must be a whole number"),
        ({"kind": "dht22", "pin": 4, "what": "pressure"}, "what: must be one of temperature, humidity"),
        ({"kind": "heap", "pin": 4}, "pin: is not known; there are decimals, every, kind"),
        ({"kind": "heap", "every": 0}, "every: must be a whole number from 1 to 86400"),
        ({"kind": "heap", "decimals": 4}, "decimals: must be a whole number from 0 to 3"),
        ({"kind": "heap", "unit": "kilobytes"}, "unit: must be a text of at most 8"),
        ({"kind": "heap", "limits": {"below": 5}}, "limits: must be an object, such as"),
        ({"kind": "heap", "limits": {"low": 5, "high": 5}}, "limits: must have a low one that is below"),
        ({"kind": "heap", "limits": {"low": float("nan")}}, "limits: must be an object, such as"),
        ({"kind": "heap", "limits": {"low": 1e10}}, "limits: are too large for 0 decimals"),
        ({"kind": "code", "limits": {"high": -1e308}}, "limits: are too large for 1 decimals"),
        ({"kind": "code", "decimals": 3, "limits": {"high": 2147484}}, "limits: are too large"),
        ({"kind": "bme280", "scl": 5, "sda": 6, "address": 300}, "address: must be a whole number"),
        ({"kind": "bme280", "scl": 5}, "sda: is missing"),
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
    for first, second, pin in (
        ({"kind": "dht22", "pin": 4}, {"kind": "dht11", "pin": 4}, "4"),
        (bus, {"kind": "ds18b20", "pin": 5}, "5"),
        (bus, {"kind": "bme280", "scl": 5, "sda": 4}, "5"),
        (counter, {"kind": "pin", "pin": "door", "what": "changes"}, "door"),
        (counter, counter, "door"),
    ):
        problem = _is_refused(first, second)
        assert "%s is read by a already" % pin in problem, (first, second, problem)


def test_senses_of_one_sensor_share_its_pins():
    for first, second in (
        ({"kind": "dht22", "pin": 4}, {"kind": "dht22", "pin": 4, "what": "humidity"}),
        ({"kind": "ds18b20", "pin": 4, "rom": "28ff641e8216c3a1"}, {"kind": "ds18b20", "pin": 4, "rom": "28" * 8}),
        ({"kind": "bme280", "scl": 4, "sda": 5}, {"kind": "bme280", "scl": 4, "sda": 5, "address": 0x77}),
        ({"kind": "adc", "pin": "soil"}, {"kind": "adc", "pin": "soil"}),
        ({"kind": "pin", "pin": "door"}, {"kind": "pin", "pin": "door", "what": "changes"}),
    ):
        assert not _is_refused(first, second), (first, second)
