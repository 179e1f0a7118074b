"""What config.json says of a sense: whatever its name is written like, and before its sensor has ever been read."""

from board import remove
from engram.app import App
from engram.clock import Clock
from engram.errors import ConfigError
from engram.memory.access import ALL, OWNER
from sensing import NOW
from support import folder, raises


def _declared(**fields) -> dict:
    entry: dict = {"kind": "ds18b20", "pin": 4}
    entry.update(fields)
    return {"senses": {"cellar": entry}}


THERMOMETER = _declared()


class _Cellar:
    """A board with a thermometer in the cellar, started again and again on one flash; the board before it is gone."""

    place = ""

    def __init__(self, settings=None):
        if _Cellar.place:
            remove(_Cellar.place)
        _Cellar.place = folder()
        self.now = NOW
        self.run(THERMOMETER if settings is None else settings)

    def run(self, settings):
        """Start the board."""
        self.board = App(self.place, settings, clock=Clock(0, lambda: self.now)).board

    def wait(self, minutes):
        for _ in range(minutes):
            self.now += 60
            self.board.sense_watch.tick()

    def kinds(self):
        return [fields["kind"] for fields in self.board.sense_watch.events.newest_first(OWNER)]

    def listed(self):
        return [line for line in self.board.sense_view.command(OWNER, "") if isinstance(line, str)]


def test_a_sensor_that_has_never_worked_is_listed_as_failing():
    cellar = _Cellar()
    cellar.board.sense_view.failing = lambda: ["cellar"]
    assert cellar.listed() == ["cellar: no reading yet; failing"]


def test_a_sensor_that_has_never_worked_is_silent_after_some_minutes_and_once():
    cellar = _Cellar()
    cellar.wait(10)
    assert cellar.kinds() == []
    cellar.wait(180)
    cellar.run(THERMOMETER)
    cellar.wait(180)
    assert cellar.kinds() == ["silent"]
    assert cellar.listed() == ["cellar: no reading yet; silent (e1)"]


def test_the_prompt_says_that_a_sensor_has_never_worked():
    cellar = _Cellar()
    view = cellar.board.sense_view
    view.most_tokens = 200
    cellar.wait(20)
    assert "no reading of cellar for 15 min" in view.block(OWNER)


def test_a_sensor_that_fails_after_a_restart_on_its_first_day_is_silent():
    cellar = _Cellar()
    cellar.board.senses.observe("cellar", 9.5)
    cellar.wait(5)
    cellar.board.senses.flush()
    cellar.run(THERMOMETER)
    cellar.wait(30)
    assert cellar.kinds() == ["silent"]


def test_the_first_reading_of_a_sensor_ends_its_silence():
    cellar = _Cellar()
    cellar.wait(30)
    cellar.board.senses.observe("cellar", 9.5)
    cellar.wait(2)
    cellar.board.senses.tick()
    assert ["end" in fields for fields in cellar.board.sense_watch.events.newest_first(OWNER)] == [True]


def test_what_config_json_says_may_change_until_there_is_a_reading():
    cellar = _Cellar()
    cellar.run(_declared(unit="K", decimals=3))
    cellar.board.senses.observe("cellar", 280.125)
    assert cellar.board.senses.find("cellar").text(280125) == "280.125 K"
    with raises(ConfigError):
        cellar.run(_declared(unit="K", decimals=2))


def test_a_sense_without_a_reading_is_gone_once_config_json_does_not_name_it():
    cellar = _Cellar()
    cellar.wait(30)
    cellar.run({})
    assert cellar.board.senses.names() == []
    cellar.wait(2)
    assert cellar.board.sense_watch.events.open == {}


def test_a_start_goes_on_where_a_sense_of_config_json_has_no_room():
    cellar = _Cellar()
    cellar.board.senses.observe("attic", 1)
    cellar.board.senses.forget("cellar")
    cellar.run({"senses": {"cellar": {"kind": "heap"}}, "senses.most": 1})
    assert cellar.board.senses.names() == ["attic"]


def test_what_config_json_says_holds_for_a_sense_that_code_made_with_other_case_and_accents():
    cellar = _Cellar({})
    cellar.board.find_senses().observe("Küche", 21.4, "°C")
    cellar.run({"senses": {"kuche": {"kind": "code", "unit": "°C", "limits": {"low": 5}, "shared": True}}})
    senses = cellar.board.senses
    sense = senses.find("kuche")
    assert senses.names() == ["Küche"] and senses.find("Küche") is sense, "the companion knows it by that name"
    assert [fields["low"] for fields in cellar.board.sense_watch.limits.of_sense(sense)] == [50]
    assert cellar.board.sense_view.scope_of(sense) == ALL
    for name in ("Küche", "kuche"):
        cellar.now += 1
        assert senses.observe(name, 21) and sense.last == 210


def test_the_first_reading_of_a_sense_changes_nothing_by_which_the_companion_knows_it():
    cellar = _Cellar()
    before = cellar.board.senses.find("cellar")
    cellar.now += 60
    cellar.board.senses.observe("cellar", 9.5)
    after = cellar.board.senses.find("cellar")
    assert (after.number, after.name, after.made) == (before.number, before.name, before.made)
    assert before.is_unread and not after.is_unread
