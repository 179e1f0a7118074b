"""The tool sense_recall: what it gives, within its bounds, and what its errors say."""

import json

from board import ANN
from engram.agent.agent import Turn
from engram.errors import EngramError
from engram.llm.types import Call
from engram.memory.access import OWNER
from perceiving import house
from support import raises


class _Model:
    def __init__(self, **settings):
        self.board = house("ok", **settings)

    async def call(self, caller=OWNER, **arguments):
        done = await self.board.tools.answer(Call("c", "sense_recall", json.dumps(arguments)), Turn(caller, 1))
        assert len(done.result) < 2100, len(done.result)
        result = json.loads(done.result)
        return result.get("result", result)


async def test_latest_is_the_newest_reading_with_its_age():
    model = _Model()
    model.board.now += 120
    assert await model.call(name="Outside", what="latest") == {
        "name": "outside",
        "value": "9.2",
        "unit": "°C",
        "at": "2026-09-23 09:30",
        "age_minutes": 2,
    }


async def test_extremes_have_their_times():
    found = await _Model().call(name="outside", what="extremes", since="2026-09-22", until="2026-09-22")
    assert found["lowest"] == {"value": "6.0", "at": "2026-09-22 02:50"}
    assert found["highest"] == {"value": "12.0", "at": "2026-09-22 15:00"}
    assert (found["mean"], found["readings"], found["by"]) == ("9.0", 144, "minute")


async def test_a_range_has_a_bounded_number_of_rows():
    model = _Model()
    for since, until, minutes in (("2026-09-22 07:00", "2026-09-22 09:00", 5), ("2026-09-22", "2026-09-22", 60)):
        found = await model.call(name="bedroom temperature", what="range", since=since, until=until)
        assert 0 < len(found["rows"]) <= 24 and found["minutes_each"] == minutes
    assert found["rows"][3] == ["2026-09-22 03:00", "16.2", "16.0", "16.4"]
    found = await model.call(name="bedroom temperature", since="2026-01-01")
    assert [row[2:] for row in found["rows"]] == [["16.0", "22.0"]] * 2


async def test_times_are_those_of_a_switch():
    model = _Model()
    found = await model.call(name="door", what="times", since="2026-09-22", until="2026-09-22")
    assert (found["count"], len(found["on"]), found["on"][0]) == (3, 3, ["2026-09-22 07:58", "2026-09-22 08:01"])
    problem = (await model.call(name="outside", what="times"))["error"]["problem"]
    assert "open or closed" in problem


async def test_many_times_are_cut_and_counted():
    model = _Model()
    senses, board = model.board.senses, model.board
    for _ in range(200):
        board.now += 120
        senses.observe("door", 1)
        board.now += 120
        senses.observe("door", 0)
        senses.tick()
    found = await model.call(name="door", what="times", since="2026-09-23")
    assert len(found["on"]) == 20 and found["left_out"] == found["count"] - 20


async def test_events_have_a_sentence_each():
    model = _Model()
    board = model.board
    board.sense_watch.limits.add(OWNER, board.senses.find("outside"), low=20)
    for _ in range(3):
        board.now += 60
        board.senses.observe("outside", 9)
        board.senses.tick()
    (event,) = (await model.call(name="outside", what="events"))["events"]
    assert event["kind"] == "low" and "below the limit of 20.0 °C" in event["text"]
    assert (await model.call(name="door", what="events"))["events"] == []


async def test_an_error_says_which_senses_there_are():
    problem = (await _Model().call(name="cellar"))["error"]["problem"]
    assert "there are: door, bedroom temperature, outside, bedroom humidity." in problem


async def test_times_that_are_none_are_refused():
    model = _Model()
    for since in (
        "yesterday",
        "2026-02-30",
        "2026-09-22 25:00",
        "2026-09-22 7",
        "2026-09-22 07:60",
        "\0",
        "2026-09-22 07:0٣",
    ):
        problem = (await model.call(name="outside", since=since))["error"]["problem"]
        assert "must be a day such as" in problem, since
    problem = (await model.call(name="outside", since="2027-01-01"))["error"]["problem"]
    assert "must be before until" in problem


async def test_a_time_of_which_nothing_is_kept_has_a_reason():
    for what in ("range", "extremes", "times"):
        found = await _Model().call(name="door", what=what, since="2026-01-02", until="2026-01-03")
        assert found["reason"] == "nothing is kept of that time; the first readings are of 2026-09-21."


async def test_while_the_clock_is_not_set_there_is_only_the_latest():
    model = _Model()
    model.board.now = 1000
    model.board.senses.observe("outside", 8)
    assert (await model.call(name="outside", what="latest"))["value"] == "8.0"
    assert "the clock is not set" in (await model.call(name="outside"))["error"]["problem"]


def test_the_tool_is_offered_to_those_who_may_see_a_sense():
    board = house("ok")
    assert "sense_recall" in [tool.name for tool in board.make_tools().offered(OWNER)]
    assert "sense_recall" not in [tool.name for tool in board.make_tools().offered(ANN)]


def test_a_board_without_a_model_has_no_tool_for_it():
    board = house()
    with raises(EngramError):
        board.find_toolbox().check("sense_recall", {"name": "outside"}, OWNER)
