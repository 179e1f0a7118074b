"""The tool sense_recall: what it gives, within its bounds, and what its errors say."""

import json

from engram.agent.agent import Turn
from engram.llm.types import Call
from engram.memory.access import OWNER
from perceiving import house


class _Model:
    def __init__(self, **settings):
        self.board = house("ok", **settings)

    async def call(self, caller=OWNER, **arguments):
        done = await self.board.toolbox.answer(Call("c", "sense_recall", json.dumps(arguments)), Turn(caller, 1))
        assert len(done.result) < 2100, len(done.result)
        result = json.loads(done.result)
        return result.get("result", result)


async def test_the_latest_reading_has_its_time():
    model = _Model()
    model.board.now += 120
    found = await model.call(name="Outside")
    assert (found["name"], found["unit"]) == ("outside", "°C")
    assert found["latest"] == {"value": "9.2", "at": "2026-09-23 09:30"}


async def test_the_lowest_and_the_highest_have_their_times():
    found = await _Model().call(name="outside", days="2026-09-22")
    assert found["lowest"] == {"value": "6.0", "at": "2026-09-22 02:50"}
    assert found["highest"] == {"value": "12.0", "at": "2026-09-22 15:00"}
    assert (found["mean"], found["readings"]) == ("9.0", 144)


async def test_a_day_has_rows_of_hours_and_more_have_rows_of_several():
    model = _Model()
    found = await model.call(name="bedroom temperature", days="yesterday")
    assert len(found["rows"]) == 24 and found["hours_each"] == 1
    assert found["rows"][3] == ["2026-09-22 03:00", "16.2", "16.0", "16.4"]
    found = await model.call(name="bedroom temperature", days="September")
    assert found["hours_each"] == 18 and 2 < len(found["rows"]) <= 31


async def test_what_is_unusual_now_has_a_sentence():
    model = _Model()
    board = model.board
    board.sense_view.set_limit(OWNER, "outside", low=20)
    for _ in range(3):
        board.now += 60
        board.senses.observe("outside", 9)
        board.senses.tick()
    (event,) = (await model.call(name="outside"))["unusual now"]
    assert "outside was below 20.0 °C" in event
    assert "unusual now" not in await model.call(name="door")


async def test_days_that_are_none_are_refused():
    model = _Model()
    for days in ("2026-02-30", "soon", "7", "\0"):
        assert "must name days such as" in (await model.call(name="outside", days=days))["error"]["problem"], days
    assert "are to come" in (await model.call(name="outside", days="2027-01-01"))["error"]["problem"]


async def test_a_time_of_which_nothing_is_kept_has_a_reason():
    found = await _Model().call(name="door", days="2026-01-02")
    assert found["reason"] == "no readings are kept of that time."


async def test_while_the_clock_is_not_set_there_is_only_the_latest():
    model = _Model()
    model.board.now = 1000
    model.board.senses.observe("outside", 8)
    found = await model.call(name="outside")
    assert found["latest"] == {"value": "8.0"} and "the clock is not set" in found["reason"]
