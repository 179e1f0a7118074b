"""Senses in the app: nothing of them without a reading, a file or a table, and from config.json to a kept reading."""

import sys

from engram.app import App
from engram.clock import Clock
from engram.errors import ConfigError
from engram.lazy import unload
from sensing import NOW
from support import folder, raises


def _app(place, table=None):
    overrides = {"senses": table} if table else {}
    return App(place, overrides, clock=Clock(0, lambda: NOW))


async def test_a_board_without_senses_loads_nothing_of_them():
    unload("senses")
    app = _app(folder())
    assert app.board.senses is None and app.board.sampling is None
    await app._work()
    assert not [name for name in sys.modules if name.startswith("engram.senses.")]


def test_a_reading_makes_senses_and_a_start_finds_them_again():
    place = folder()
    app = _app(place)
    assert app.observe("room", 21.4, "°C") and not app.observe("Room", 21.5)
    app.board.senses.flush()
    app = _app(place)
    sense = app.board.senses.find("room")
    assert [row for _, row in app.board.senses.range(sense.number, 0, 1 << 31, 0)] == [(1, 214, 214, 214, 214)]


def test_config_json_declares_senses_and_makes_what_reads_them():
    app = _app(folder(), {"battery": {"kind": "code", "unit": "V", "decimals": 2}})
    app.observe("battery", 3.71)
    sense = app.board.senses.find("battery")
    assert sense.text(sense.last) == "3.71 V" and app.board.sampling is None
    assert _app(folder(), {"heap": {"kind": "heap"}}).board.sampling is not None


def test_a_wrong_sense_stops_the_start():
    with raises(ConfigError) as caught:
        _app(folder(), {"room": {"kind": "dht23"}})
    assert str(caught.error).startswith("config: senses.room: kind: must be one of adc, pin")
