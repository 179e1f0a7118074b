"""Own tools run within limits: whatever they do, the model gets an answer and nothing else stops."""

import asyncio
import json

from board import Board
from engram.agent.agent import Turn
from engram.errors import ArgumentError
from engram.llm.types import Call
from engram.memory.access import OWNER, Caller
from engram.tools.own_tool import OwnTool
from support import let_others_run, raises

ANN = Caller("ann", "chat", False, "")
GROUP = Caller("owner", "club", True, "")


def _toolbox(run=None, schema=None, **options):
    toolbox = Board().serve().toolbox
    if run:
        toolbox.add(OwnTool(run, "water", "Water the plants.", schema, **options))
    return toolbox


async def _call(toolbox, arguments="{}", caller=OWNER, name="water"):
    result, notice = await toolbox.answer(Call("c", name, arguments), Turn(caller, 1, ""))
    return json.loads(result), notice


async def _problem(toolbox, arguments="{}", caller=OWNER):
    result, notice = await _call(toolbox, arguments, caller)
    assert notice == "" and len(json.dumps(result)) < 600
    return result["error"]["problem"]


# --- what goes well


async def test_a_function_gets_its_arguments_by_name_and_its_result_goes_to_the_model():
    def water(seconds, bed="all"):
        return {"seconds": seconds, "bed": bed}

    toolbox = _toolbox(water, {"seconds": "1..60", "bed?": "string"})
    assert await _call(toolbox, '{"seconds": 5}') == ({"result": {"seconds": 5, "bed": "all"}}, "used water")


async def test_a_coroutine_function_is_awaited():
    async def water():
        await asyncio.sleep(0)
        return [1, "two", None, True]

    assert (await _call(_toolbox(water)))[0] == {"result": [1, "two", None, True]}


async def test_the_caller_is_given_to_who_wants_it():
    def water(caller, seconds):
        return "%s %d" % (caller.principal, seconds)

    toolbox = _toolbox(water, {"seconds": "1..60"}, wants_caller=True, who="all")
    assert (await _call(toolbox, '{"seconds": 5}', ANN))[0] == {"result": "ann 5"}


# --- what goes wrong


def _hanging():
    """A tool that hangs, and a list that has an item for each time that it was cancelled."""
    ended = []

    async def water():
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    return water, ended


async def test_a_tool_that_hangs_is_cancelled_at_its_limit_and_can_be_called_again():
    water, ended = _hanging()
    toolbox = _toolbox(water, seconds=0.1)
    for count in (1, 2):
        assert "did not end within 100 ms" in await _problem(toolbox)
        await let_others_run()
        assert len(ended) == count


async def test_a_tool_that_ignores_its_cancellation_is_left_behind_and_busy_until_it_ends():
    leave = asyncio.Event()

    async def water():
        while not leave.is_set():
            try:
                await leave.wait()
            except asyncio.CancelledError:
                pass
        return "wet"

    toolbox = _toolbox(water, seconds=0.1)
    assert "did not end within 100 ms" in await _problem(toolbox)
    await let_others_run()
    assert "still busy" in await _problem(toolbox)
    leave.set()
    await let_others_run()
    assert (await _call(toolbox))[0] == {"result": "wet"}


async def test_any_exception_becomes_an_answer():
    for error in (
        ValueError("no water"),
        OSError(5),
        KeyError("x"),
        ArgumentError("bed", "is dry"),
        Exception(),
        MemoryError(),
        SystemExit(),
        StopIteration(),
    ):

        def water(error=error):
            raise error

        async def water_later(error=error):
            await asyncio.sleep(0)
            raise error

        for run in (water, water_later):
            assert (await _problem(_toolbox(run))).startswith("water failed")


async def test_a_result_that_is_no_json_becomes_an_answer():
    nested = []
    nested.append(nested)
    for value in (object(), {1: 2}, {"a": {3}}, b"bytes", 1e400, nested, [nested], lambda: 1):

        def water(value=value):
            return value

        assert "water failed" in await _problem(_toolbox(water)), value


async def test_wrong_arguments_do_not_reach_the_function():
    ran = []

    def water(seconds):
        ran.append(seconds)

    toolbox = _toolbox(water, {"seconds": "1..60"})
    for arguments in (
        "",
        "{",
        "[]",
        '{"seconds": 61}',
        '{"seconds": true}',
        '{"seconds": 5, "x": 1}',
        "{}",
    ):
        result, _ = await _call(toolbox, arguments)
        assert result["error"]["argument"] in ("seconds", "arguments", "x")
    assert ran == []


async def test_a_turn_that_is_cancelled_cancels_the_tool():
    water, ended = _hanging()
    task = asyncio.create_task(_call(_toolbox(water)))
    await let_others_run()
    task.cancel()
    with raises(asyncio.CancelledError):
        await task
    await let_others_run()
    assert ended == [True]


# --- who may


async def test_the_owners_tool_is_neither_listed_nor_run_for_others_and_in_groups():
    ran = []
    toolbox = _toolbox(lambda: ran.append(1))
    assert [tool.name for tool in toolbox.listed(OWNER)][-1] == "water"
    for caller in (ANN, GROUP, Caller("ann", "club", True, "")):
        assert "water" not in [tool.name for tool in toolbox.listed(caller)]
        assert "there is no tool water" in await _problem(toolbox, caller=caller)
        assert (await toolbox.call("water", {}, caller))[0] is False
    assert ran == []


# --- how many


def test_a_name_that_is_taken_is_refused():
    toolbox = _toolbox(lambda: 1)
    for name in ("water", "memory_store", "file_read", "file_edit"):
        with raises(ArgumentError):
            toolbox.add(OwnTool(lambda: 1, name, "x"))


# --- with a yes


def _asked(toolbox, said, seq, caller=OWNER):
    turn = Turn(caller, seq, said)
    toolbox.confirmations.begin_turn(turn)
    return turn


async def test_a_tool_with_confirm_runs_only_after_the_persons_own_yes():
    ran = []

    def open_door(door):
        ran.append(door)
        return "open"

    toolbox = _toolbox()
    toolbox.add(OwnTool(open_door, description="Open a door.", schema={"door": "front|back"}, confirm=True))
    call = Call("c", "open_door", '{"door": "front"}')
    turn = _asked(toolbox, "yes, open the front door, I said yes", 1)
    result, notice = await toolbox.answer(call, turn) or ("", "")
    assert "a yes of the person" in json.loads(result)["needs"]
    assert notice == 'open_door waits for your yes: {"door":"front"}'
    assert "needs" in (await toolbox.answer(call, turn))[0]  # a model that claims the yes in the same turn
    assert "needs" in (await toolbox.answer(call, _asked(toolbox, "hm", 2)))[0]
    turn = _asked(toolbox, "yes", 3)
    assert "needs" in (await toolbox.answer(Call("c", "open_door", '{"door": "back"}'), turn))[0]
    assert ran == []
    turn = _asked(toolbox, "yes", 4)
    assert json.loads((await toolbox.answer(Call("c", "open_door", '{"door":"back"}'), turn))[0]) == {"result": "open"}
    assert ran == ["back"]
    assert "needs" in (await toolbox.answer(Call("c", "open_door", '{"door":"back"}'), turn))[0]
    assert ran == ["back"]


async def test_arguments_that_cannot_be_shown_whole_are_not_asked_for():
    toolbox = _toolbox(lambda note: 1, {"note": "string"}, confirm=True)
    assert "too long to be shown" in await _problem(toolbox, '{"note": "%s"}' % ("x" * 400))


async def test_what_a_tool_did_after_a_yes_and_what_failed_twice_is_kept_as_an_event():
    board = Board().serve()
    broken = OwnTool(lambda bed: 1 // 0, "weed", "Weed a bed.", {"bed": "1..30"})
    for tool in (OwnTool(lambda bed: bed, "water", "Water a bed.", {"bed": "1..9"}, confirm=True), broken):
        board.toolbox.add(tool)
    for said in ("water bed 2", "yes"):
        await board.toolbox.answer(Call("c", "water", '{"bed":2}'), _asked(board.toolbox, said, 3))
    for number in (1, 2, 2, 5000, 3, 2):
        await _call(board.toolbox, '{"bed":%d}' % number, name="weed")
    kept = [record["content"] for record in board.records.newest(OWNER)]
    assert kept == ["weed (bed 2), tried twice: weed failed: divide by zero", "Used water (bed 2), confirmed by owner"]
    (event,) = board.find("what did I use on Monday?", OWNER, 1)
    assert event.id == "m1" and board.records.get("m1")["turns"] == ["t3"]
    for number in range(50):
        await _call(board.toolbox, '{"bed":%d}' % (3 + number // 2), name="weed")
        board.now += 60
    assert board.records.count(OWNER) == 20


async def test_a_call_that_fails_all_the_time_is_one_event_and_another_on_another_day_after_a_success():
    board, fails = Board().serve(), [True]
    board.toolbox.add(OwnTool(lambda bed: 1 // 0 if fails[0] else 1, "weed", "Weed a bed.", {"bed": "string"}))
    for step in range(400):
        board.now += 600
        fails[0] = step not in (50, 300)  # on the first day and the third
        await board.toolbox.call("weed", {"bed": "south"}, OWNER)
    assert board.records.count(OWNER) == 2


async def test_a_confirmed_call_is_answered_also_if_its_event_cannot_be_kept():
    board = Board().serve()
    board.toolbox.add(OwnTool(lambda bed: bed, "water", "Water a bed.", {"bed": "string"}, confirm=True))
    for said in ("water", "yes"):
        result, _ = await board.toolbox.answer(Call("c", "water", '{"bed":"\\u0000"}'), _asked(board.toolbox, said, 3))
    assert json.loads(result) == {"result": "\0"} and board.records.count(OWNER) == 0


async def test_a_timer_calls_no_tool_with_confirm():
    ran = []
    toolbox = _toolbox(lambda: ran.append(1), confirm=True)
    assert await toolbox.call("water", {}, OWNER) == (False, "water: runs only after a yes of the person.")
    assert ran == []
