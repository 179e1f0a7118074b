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


async def test_a_day_has_rows_of_hours_and_more_have_rows_of_several():
    model = _Model()
    found = await model.call(name="bedroom temperature", days="yesterday")
    assert len(found["rows"]) == 24 and found["hours_each"] == 1
    assert found["rows"][3] == ["2026-09-22 03:00", "16.2", "16.0", "16.4"]
    found = await model.call(name="bedroom temperature", days="September")
    assert found["hours_each"] == 18 and 2 < len(found["rows"]) <= 31


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
