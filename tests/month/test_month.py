"""A simulated month: three people and a group, restarts and power cuts; caps hold, and nothing acknowledged is lost."""

import json
from pathlib import Path

import pytest

import get_micropython
import life
import month

pytestmark = pytest.mark.xdist_group("month")


@pytest.fixture(autouse=True, scope="module")
def micropython_32() -> None:
    if not get_micropython.usable(get_micropython.HOME / "32", 32):
        pytest.skip("there is no 32-bit MicroPython for this machine")


def _exports(flash: Path) -> dict[str, list[str]]:
    return {who: month.contents(flash, who) for who in life.MARKS}


def _keeps_its_promises(flash: Path, played: month.Month) -> None:
    for day in played.days:
        assert day["records"] <= life.SETTINGS["records.most"], day
        assert day["records_bytes"] <= life.SETTINGS["records.bytes"], day
        assert day["trash_bytes"] <= life.SETTINGS["records.trash_bytes"], day
        assert day["notes_bytes"] <= life.SETTINGS["notes.bytes"], day
        # A segment more, until the oldest leaves.
        assert day["journal_bytes"] <= life.SETTINGS["journal.bytes"] * 9 // 8, day
    exports = _exports(flash)
    for who, lines in exports.items():
        assert not [line for line in lines for other in life.MARKS if _is_of_another(line, who, other)]
    live = {ref: who for who, lines in exports.items() for ref in _ids(lines)}
    lost = {ref: who for ref, who in played.remembered.items() if ref not in live and ref not in played.undone}
    assert not lost, lost
    turns = [line.removeprefix("turn ") for line in exports["owner"] if line.startswith("turn ")]
    _are_the_last(turns, played.said)


def _is_of_another(line: str, who: str, other: str) -> bool:
    return line.startswith("{") and other not in (who, "group") and life.MARKS[other] in line


def _ids(lines: list[str]) -> set[str]:
    return {json.loads(line)["id"] for line in lines if line.startswith('{"id":')}


def _are_the_last(turns: list[str], said: list[str]) -> None:
    """Of what was said and acknowledged, the last ones are in the journal, in order and without a hole."""
    at = len(said)
    for turn in reversed(turns):
        if at and turn == said[at - 1]:
            at -= 1
    assert len(said) - at >= min(len(said), 100), (at, said[at - 3 : at])


def _plays_twice_alike(folder: Path, days: int, turns: int) -> month.Month:
    flashes = [folder / "one.bin", folder / "two.bin"]
    played = [month.play(flash, days, turns, seed=days) for flash in flashes]
    _keeps_its_promises(flashes[0], played[0])
    assert played[0].days == played[1].days
    assert _exports(flashes[0]) == _exports(flashes[1])
    return played[0]


def test_some_days_keep_their_promises_and_give_the_same_memory_when_they_are_played_again(tmp_path):
    played = _plays_twice_alike(tmp_path, 2, 16)
    assert played.starts > 2


@pytest.mark.soak
def test_a_month_keeps_its_promises_and_gives_the_same_memory_when_it_is_played_again(tmp_path):
    played = _plays_twice_alike(tmp_path, life.DAYS, life.TURNS)
    assert played.cuts > 10 and played.reminders
