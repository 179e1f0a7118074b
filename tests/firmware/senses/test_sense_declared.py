"""What config.json says of a sense: whatever its name is written like, and before its sensor has ever been read."""

from board import remove
from engram.app import App
from engram.build import find_senses
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

    def names(self):
        return [sense.name for sense in self.board.senses.all()]

    def listed(self):
        return [line for line in self.board.sense_view.command(OWNER, "") if isinstance(line, str)]


def test_a_sensor_that_has_never_worked_is_listed_as_failing():
    cellar = _Cellar()
    cellar.board.sense_view.failing = lambda: ["cellar"]
    assert cellar.listed() == ["cellar: no reading yet; failing"]


def test_what_config_json_says_may_change_until_there_is_a_reading():
    cellar = _Cellar()
    cellar.run(_declared(unit="K", decimals=3))
    cellar.board.senses.observe("cellar", 280.125)
    assert cellar.board.senses.find("cellar").text(280125) == "280.125 K"
    cellar.board.senses.flush()
    with raises(ConfigError):
        cellar.run(_declared(unit="K", decimals=2))


def test_a_start_goes_on_where_a_sense_of_config_json_has_no_room():
    cellar = _Cellar()
    cellar.board.senses.observe("attic", 1)
    cellar.board.senses.forget("cellar")
    cellar.run({"senses": {"cellar": {"kind": "heap"}}, "senses.most": 1})
    assert cellar.names() == ["attic"]


def test_what_config_json_says_holds_for_a_sense_that_code_made_with_other_case_and_accents():
    cellar = _Cellar({})
    find_senses(cellar.board).observe("Küche", 21.4, "°C")
    cellar.run({"senses": {"kuche": {"kind": "code", "unit": "°C", "limits": {"low": 5}, "shared": True}}})
    senses = cellar.board.senses
    sense = senses.find("kuche")
    assert cellar.names() == ["Küche"] and senses.find("Küche") is sense, "the companion knows it by that name"
    assert [fields["low"] for fields in cellar.board.sense_view.limits.of_sense(sense)] == [50]
    assert senses.scope_of(sense) == ALL
    for name in ("Küche", "kuche"):
        cellar.now += 1
        assert senses.observe(name, 21) and sense.last == 210
