"""Senses in the app: nothing of them without a reading, a file or a table, and from config.json to a kept reading."""

import asyncio
import sys

from board import remove
from engram.app import App
from engram.clock import Clock
from engram.memory.access import OWNER
from engram.tools import pin_driver
from sensing import NOW
from support import folder, raises

_places = []


def _place():
    """A folder for a board; the flash has room for few, so the one before it is gone."""
    if _places:
        remove(_places.pop())
    _places.append(folder())
    return _places[0]


def _app(place, table=None, now=NOW):
    overrides = {"senses": table} if table else {}
    return App(place, overrides, clock=Clock(0, lambda: now))


async def test_a_board_without_senses_loads_nothing_of_them():
    for name in [name for name in sys.modules if name.startswith("engram.senses.")]:
        del sys.modules[name]  # of other tests
    app = _app(_place())
    assert app.board.senses is None and app.board.sampling is None
    await app._work()
    assert not [name for name in sys.modules if name.startswith("engram.senses.")]


def test_a_reading_makes_senses_and_a_start_finds_them_again():
    place = _place()
    app = _app(place)
    assert app.observe("room", 21.4, "°C") and not app.observe("Room", 21.5)
    app.board.senses.flush()
    app = _app(place)
    sense = app.board.senses.find("room")
    assert [row for _, row in app.board.senses.range(sense, 0, 1 << 31, 0)] == [(1, 214, 214, 214, 214)]


async def test_senses_of_named_pins_are_read_where_the_board_has_set_them_up():
    pin_driver.machine = None  # simulated pins
    pins = {"door": {"pin": 14, "mode": "in"}, "soil": {"pin": 7, "mode": "adc"}}
    table = {"window": {"kind": "pin", "pin": "door"}, "earth": {"kind": "adc", "pin": "soil"}}
    seconds = [NOW]
    board = App(_place(), {"senses": table, "pins": pins}, clock=Clock(0, lambda: seconds[0])).board
    from engram.senses import sampling  # what this board has loaded

    typed, read = ["on", "off"], []

    async def pause(_):
        seconds[0] += 1
        window, earth = [board.senses.find(name) for name in ("window", "earth")]
        read.append((window.text(window.last), earth.text(earth.last)))
        if not typed:
            raise asyncio.CancelledError
        list(board.pins.command(OWNER, "door " + typed.pop(0)))

    before, sampling.sleep_ms = sampling.sleep_ms, pause
    try:
        with raises(asyncio.CancelledError):
            await board.sampling.run()
    finally:
        sampling.sleep_ms = before
    assert read == [(state, "1000.0 mV") for state in ("0", "1", "0")]
