"""Pins and tools of one's own: the pages' tables are the code's, and their examples run."""

import asyncio
import inspect
import json
import re
import sys

from engram.app import App
from engram.memory.access import OWNER, Caller
from engram.tools.own_tool import OwnTool
from engram.tools.pin_config import Pin, parse_pins
from engram_host.boards import profile
from fakes import machine
from one_case import in_one_case
from pages import fences, in_backticks, plain, read, rows, section

GUIDE = "docs/guides/tools.md"
SETTINGS = "docs/reference/settings.md"
LAMP, OWN, _ = (fence.text for fence in fences(read(GUIDE), "python"))


def numbers(text: str) -> list[int]:
    """The numbers in "0 to 3, 15"."""
    found = []
    for low, high in re.findall(r"(\d+)(?: to (\d+))?", text):
        found += range(int(low), int(high or low) + 1)
    return found


def test_the_table_of_pins_that_are_never_allowed_is_the_profiles():
    told = {plain(row[0]): numbers(row[1]) for row in rows(section(read(GUIDE), "### Pins that are never allowed"))}
    assert told == {name: list(profile.load_profile(name).forbidden_pins) for name in profile.profile_names()}


@in_one_case("board", profile.profile_names())
def test_the_example_of_pins_is_taken_on_a_board_whose_pins_they_are(board: str):
    table = json.loads(fences(section(read(GUIDE), "## Pins"), "json")[0].text)["pins"]
    forbidden = profile.load_profile(board).forbidden_pins
    if board.startswith("ESP32_GENERIC_S3"):
        assert [pin.name for pin in parse_pins(table, forbidden)] == sorted(table)
    assert len(parse_pins(table, ())) == len(table)


def test_the_table_of_a_pins_fields_is_the_codes():
    told = {plain(row[0]) for row in rows(section(read(SETTINGS), "## Pins"))}
    assert told == set(Pin._fields) - {"name"}


def test_the_table_of_the_options_is_the_codes():
    told = [in_backticks(row[0])[0] for row in rows(section(read(GUIDE), "## Functions", below=False))]
    assert told == list(inspect.signature(OwnTool).parameters)[1:]


def test_the_example_of_own_code_runs(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "machine", machine)
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    app = App(str(tmp_path))
    app.load_own_code()
    toolbox = app.board.toolbox
    assert [tool.name for tool in toolbox.listed(OWNER)][-2:] == ["water", "unlock"]
    anns = toolbox.listed(Caller("ann", "chat", False, ""))
    assert [tool.name for tool in anns][-1] == "unlock" and "water" not in [tool.name for tool in anns]
    assert not asyncio.run(toolbox.call("unlock", {"door": "front"}, OWNER))[0]
    monkeypatch.setattr(sys.modules["own"].asyncio, "sleep", _no_pause)
    assert asyncio.run(toolbox.call("water", {"seconds": 5}, OWNER)) == (True, '"watered for 5 seconds"')
    assert machine.driven[-2:] == [(13, 1), (13, 0)]


def test_the_example_that_gives_others_a_pin_runs(tmp_path):
    app = App(str(tmp_path), {"pins": {"lamp": {"pin": 5, "mode": "out"}}})
    names: dict = {}
    exec(LAMP, names)
    names["setup"](app)
    others = Caller("ann", "club", True, "")
    assert asyncio.run(app.board.toolbox.call("lamp", {"state": "on"}, others)) == (True, '"on"')


async def _no_pause(seconds: int) -> None:
    assert seconds == 5
