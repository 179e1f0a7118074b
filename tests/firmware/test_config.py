"""Settings: defaults, the two files, and errors that name the key."""

import json

from engram import files
from engram.config import SETTINGS, Config, zone_of
from engram.errors import ConfigError
from support import folder, raises

ROWS = [line.split(" ", 1) for line in SETTINGS.strip().split("\n")]


def _with(config, secrets=None):
    place = folder()
    files.write(place + "/config.json", config)
    if secrets:
        files.write(place + "/secrets.json", secrets)
    return place


def _problem(config, secrets=None):
    with raises(ConfigError) as caught:
        Config(_with(config, secrets))
    return caught.error


def test_without_files_everything_has_its_default():
    config = Config(folder())
    for name, row in ROWS:
        assert config.get(name) == json.loads(row)[0]


def test_every_default_is_within_its_bounds():
    place = folder()
    config = Config(place)
    for name, _ in ROWS:
        config.save(name, config.get(name))
    again, stored = Config(place), json.loads(files.read(place + "/config.json", 8192) or b"{}")
    for name, row in ROWS:
        group, _, key = name.rpartition(".")
        assert again.get(name) == (stored[group] if group else stored)[key] == json.loads(row)[0], name


def test_an_unknown_setting_is_named():
    for name in ("urll", "ur", "", "url "):
        assert _problem('{"llm":{"%s":"x"}}' % name).key == "llm." + name


def test_values_of_a_wrong_kind_are_refused():
    for config, name in (
        ('{"llm":{"url":5,"model":"x"}}', "llm.url"),
        ('{"llm":{"url":"x"},"mode":"both"}', "mode"),
        ('{"console":{"echo":1,"prompt":true}}', "console.echo"),
        ('{"llm":{"url":"x","retries":true}}', "llm.retries"),
    ):
        assert _problem(config).key == name


def test_everybody_may_talk_only_if_a_star_says_that_it_is_meant():
    assert Config(_with('{"people.policy": "open *"}')).get("people.policy") == "open *"
    problem = str(_problem('{"people.policy": "open"}'))
    assert "people.policy" in problem and "open *" in problem


def test_a_time_zone_that_is_none_is_refused_with_an_example():
    for zone in ("+25:00", "noon", "Europe/Berlin", "UTC+1", "CET-1CEST", "CET-1CEST,M3.5.0,M10.5.0/999", "ÇET-1"):
        problem = str(_problem('{"timezone":"%s"}' % zone))
        assert problem.startswith("config: timezone: must be an offset such as +01:00, or a rule such as CET-1CEST,"), (
            problem
        )
    for wrong in ("1", '""', '"%s"' % ("x" * 65)):
        assert "must be a text of 1 to 64 characters" in str(_problem('{"timezone":%s}' % wrong))


def test_a_time_zone_is_an_offset_or_a_rule_with_daylight_saving():
    assert zone_of("-03:30") == (-210, None)
    standard, zone = zone_of("CET-1CEST,M3.5.0,M10.5.0/3")
    assert (standard, zone.rule) == (60, "CET-1CEST,M3.5.0,M10.5.0/3")
    assert Config(_with('{"timezone":"<-03>3"}')).get("timezone") == "<-03>3"


def test_broken_json_is_named_by_its_file():
    for config in ('{"llm":{"url":"x"', "[1]", "nonsense", '{"a":1} x'):
        assert _problem(config).key == "config.json"


def test_a_secret_in_the_config_file_is_refused():
    error = _problem('{"llm":{"key":"sk-1"}}')
    assert error.key == "llm.key" and "secrets.json" in error.problem


def test_a_setting_in_the_secrets_file_is_refused():
    assert _problem("{}", '{"llm":{"url":"x"}}').key == "llm.url"


def test_no_error_shows_a_secret():
    error = _problem("{}", '{"llm":{"key":"sk-\\u0007secret"}}')
    assert "secret\\u0007" not in str(error) and "sk-" not in str(error)


def test_saving_one_setting_keeps_the_others():
    place = _with('{"llm":{"url":"http://x/v1"}}')
    Config(place).save("mode", "lightweight")
    config = Config(place)
    assert config.get("mode") == "lightweight" and config.get("llm.url") == "http://x/v1"


def test_saving_a_wrong_value_changes_nothing():
    place = _with('{"mode":"full"}')
    with raises(ConfigError):
        Config(place).save("mode", "both")
    assert files.read(place + "/config.json", 100) == b'{"mode":"full"}'


def test_networks_that_no_chip_takes_are_refused():
    for value in (
        '"Home"', '{"ssid":"Home"}', '["Home"]', '[{"password":"correct horse"}]', '[{"ssid":""}]',
        '[{"ssid":"' + "x" * 33 + '"}]', '[{"ssid":"' + "ü" * 17 + '"}]', '[{"ssid":5}]',
        '[{"ssid":"x","key":"correct horse"}]', '[{"ssid":"x","password":"seven77"}]',
        '[{"ssid":"x","password":"' + "x" * 64 + '"}]', '[{"ssid":"x","password":"pässword"}]',
        '[{"ssid":"x","password":5}]', "[" + ",".join(['{"ssid":"x"}'] * 9) + "]",
    ):  # fmt: skip
        assert _problem("{}", '{"wifi":' + value + "}").key.startswith("wifi"), value


def test_no_error_shows_a_networks_password():
    error = _problem("{}", '{"wifi":[{"ssid":"x","password":"secret\\u0007word"}]}')
    assert "secret" not in str(error).replace("secrets.json", "")


def test_a_table_is_kept_as_its_file_has_it_and_is_empty_without_one():
    place = _with('{"pins":{"lamp":{"pin":5,"mode":"out"}},"llm":{"retries":1}}')
    config = Config(place)
    assert config.table("pins") == {"lamp": {"pin": 5, "mode": "out"}} and config.table("senses") == {}
    config.save("llm.retries", 2)
    assert Config(place).table("pins") == {"lamp": {"pin": 5, "mode": "out"}}


def test_a_table_must_be_an_object_of_objects():
    for value in ("[]", "5"):
        assert _problem('{"pins":%s}' % value).key == "pins"
    assert _problem('{"pins":{"lamp":5}}').key == "pins.lamp"


def test_settings_of_a_group_stand_beside_the_objects_of_a_table():
    place = _with('{"senses":{"bytes":131072,"bedroom":{"kind":"code"}}}')
    config = Config(place)
    assert config.table("senses") == {"bedroom": {"kind": "code"}} and config.get("senses.bytes") == 131072
    config.save("senses.write_minutes", 4)
    config = Config(place)
    assert config.table("senses") == {"bedroom": {"kind": "code"}}
    assert (config.get("senses.bytes"), config.get("senses.write_minutes")) == (131072, 4)
