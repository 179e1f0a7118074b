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


async def test_the_latest_reading_has_its_age():
    model = _Model()
    model.board.now += 120
    found = await model.call(name="Outside")
    assert (found["name"], found["unit"]) == ("outside", "°C")
    assert found["latest"] == {"value": "9.2", "at": "2026-09-23 09:30", "age_minutes": 2}


async def test_the_lowest_and_the_highest_have_their_times():
    found = await _Model().call(name="outside", since="2026-09-22", until="2026-09-22")
    assert found["lowest"] == {"value": "6.0", "at": "2026-09-22 02:50"}
    assert found["highest"] == {"value": "12.0", "at": "2026-09-22 15:00"}
    assert (found["mean"], found["readings"], found["level"]) == ("9.0", 144, "minute")


async def test_a_span_has_a_bounded_number_of_rows():
    model = _Model()
    for since, until, minutes in (("2026-09-22 07:00", "2026-09-22 09:00", 5), ("yesterday", "yesterday", 60)):
        found = await model.call(name="bedroom temperature", since=since, until=until)
        assert 0 < len(found["rows"]) <= 24 and found["minutes_each"] == minutes
    assert found["rows"][3] == ["2026-09-22 03:00", "16.2", "16.0", "16.4"]
    found = await model.call(name="bedroom temperature", since="2026-01-01")
    assert [row[2:] for row in found["rows"]] == [["16.0", "22.0"]] * 2


async def test_the_level_that_is_asked_for_is_given():
    model = _Model()
    for level, highest in (("hour", "2026-09-22 15:00"), ("day", "2026-09-22 00:00")):
        found = await model.call(name="outside", level=level, since="2026-09-22", until="2026-09-22")
        assert (found["level"], found["highest"]["at"]) == (level, highest)


async def test_events_have_a_sentence_each():
    model = _Model()
    board = model.board
    board.sense_watch.limits.add(OWNER, board.senses.find("outside"), low=20)
    for _ in range(3):
        board.now += 60
        board.senses.observe("outside", 9)
        board.senses.tick()
    (event,) = (await model.call(name="outside"))["events"]
    assert event["kind"] == "low" and "below the limit of 20.0 °C" in event["text"]
    assert "events" not in await model.call(name="door")


async def test_an_error_says_which_senses_there_are():
    problem = (await _Model().call(name="cellar"))["error"]["problem"]
    assert "there are: door, bedroom temperature, outside, bedroom humidity." in problem


async def test_times_that_are_none_are_refused():
    model = _Model()
    for since in (
        "last week",
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
    found = await _Model().call(name="door", since="2026-01-02", until="2026-01-03")
    assert found["reason"] == "no readings are kept of that time; the first are of 2026-09-21."


async def test_while_the_clock_is_not_set_there_is_only_the_latest():
    model = _Model()
    model.board.now = 1000
    model.board.senses.observe("outside", 8)
    found = await model.call(name="outside")
    assert found["latest"] == {"value": "8.0"} and "the clock is not set" in found["reason"]


def test_the_tool_is_offered_to_those_who_may_see_a_sense():
    board = house("ok")
    assert "sense_recall" in [tool.name for tool in board.tools.offered(OWNER)]
    assert "sense_recall" not in [tool.name for tool in board.tools.offered(ANN)]


def test_a_board_without_a_model_has_no_tool_for_it():
    board = house()
    with raises(EngramError):
        board.toolbox.check("sense_recall", {"name": "outside"}, OWNER)
