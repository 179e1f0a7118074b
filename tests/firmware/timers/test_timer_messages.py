"""Timers in messages and commands: by the model's tool and by /timers; and never others'."""

from board import Board, Script, error_of, lines_of
from channel import Network
from engram.llm.types import Call
from engram.memory.access import OWNER, Caller
from timed import ANN, CHAT, GROUP, spec
from turns import say

W1 = "w1: on Tuesday 2026-09-22 08:00 I remind you: water the plants"


def _offline():
    board = Board().serve()
    Network(board.inbox)
    return board


async def test_the_model_adds_lists_and_removes_in_each_form():
    calls = (
        ('{"action":"add","text":"a","time":"in 20 min"}', "on Monday 2026-09-21 14:33"),
        ('{"action":"add","text":"b","time":"07:30 weekdays"}', "on weekdays at 07:30"),
        ('{"action":"add","text":"c","time":"7:30 monday, fri"}', "every Monday, Friday at 07:30"),
        ('{"action":"add","text":"d","time":"every 90 min"}', "every 1 h 30 min"),
        ('{"action":"add","text":"e","kind":"ask","time":"2026-09-22T08:00"}', "on Tuesday 2026-09-22 08:00"),
        ('{"action":"remove","id":"w1"}', "removed timer w1"),
    )
    board = Board().serve(Script())
    Network(board.inbox)
    board.model.steps = [[Call(str(at), "timer", call) for at, (call, _) in enumerate(calls)], "ok"]
    _, ear = await say(board, "set my timers", CHAT)
    assert len(ear.notices) == len(calls)
    for notice, (_, wanted) in zip(ear.notices, calls):
        assert wanted in notice, notice
    assert [fields["what"] for fields in board.timers.owned_by(CHAT)] == ["d", "b", "e", "c"]


async def test_a_wrong_call_says_what_would_be_right():
    board = Board().serve(Script())
    Network(board.inbox)
    wrong = (
        ('{"action":"add","text":"a"}', "is missing"),
        ('{"action":"add","text":"a","time":"at ten to eight"}', "write in 20 min"),
        ('{"action":"add","text":"a","time":"2026-09-22"}', "write in 20 min"),
        ('{"action":"add","text":"a","time":"in 20 min or so"}', "write in 20 min"),
        ('{"action":"add","text":"a","time":"today 8:00"}', "has passed"),
        ('{"action":"add","time":"in 5 min"}', "not empty"),
        ('{"action":"add","kind":"tool","time":"in 5 min"}', "goes with kind tool"),
        ('{"action":"add","tool":"lamp","time":"in 5 min"}', "goes with kind tool"),
        ('{"action":"add","kind":"tool","tool":"lamp","time":"in 5 min"}', "no tool lamp"),
        ('{"action":"remove"}', "is missing"),
        ('{"action":"remove","id":"w9"}', "w9"),
        ('{"action":"remove","id":"m1"}', "no timer m1"),
    )
    board.model.steps = [[Call(str(at), "timer", call) for at, (call, _) in enumerate(wrong)], "ok"]
    await say(board, "set my timers", CHAT)
    results = board.model.requests[-1][-len(wrong) :]
    for result, (call, why) in zip(results, wrong):
        assert "error" in result and why in result, (call, result)


def test_the_command_lists_adds_and_removes():
    board = _offline()
    assert "there are none" in lines_of(board, "/timers", CHAT)[0]
    assert lines_of(board, "/timers add tomorrow 8:00 water the plants", CHAT) == [W1]
    lines_of(board, "/timers add 7:00 daily take the pills", CHAT)
    assert lines_of(board, "/timers list", CHAT) == [
        "w2   every day at 07:00, next Tuesday 2026-09-22 07:00",
        "     say: take the pills",
        "w1   on Tuesday 2026-09-22 08:00",
        "     say: water the plants",
    ]
    assert lines_of(board, "/timers remove w1", CHAT) == ["removed w1: water the plants"]
    for typed in ("water the plants", "at ten to eight leave", "leave at half eight", "八点差十分走", "8:00 pm leave"):
        assert "write in 20 min" in error_of(board, "/timers add " + typed, CHAT)
    assert "must be a text" in error_of(board, "/timers add tomorrow 8:00", CHAT)
    assert "takes list" in error_of(board, "/timers wrong", CHAT)


async def test_nobody_lists_removes_or_sets_timers_of_others():
    board = Board().serve(Script())
    Network(board.inbox)
    owners = (OWNER, ANN, GROUP)
    for caller in owners:
        board.timers.add(caller, _secret(caller))
    for intruder in (
        Caller("bo", "net 9", False, ""),
        Caller("bo", "net 3", False, ""),
        Caller("ann", "net 8", True, ""),
    ):
        for ref in ("w1", "w2", "w3"):
            assert ref in error_of(board, "/timers remove " + ref, intruder)
            board.model.steps = [[Call("c", "timer", '{"action":"remove","id":"%s"}' % ref)], "ok"]
            await say(board, "timer", intruder)
            assert "error" in board.model.requests[-1][-1]
        assert "secret" not in "".join(lines_of(board, "/timers", intruder))
        board.model.steps = [[Call("c", "timer", '{"action":"list"}')], "ok"]
        await say(board, "timer", intruder)
        assert "secret" not in board.model.requests[-1][-1]
        lines_of(board, "/timers add tomorrow 8:00 mine %s" % intruder.room, intruder)
        assert all(fields["what"] == "mine " + fields["room"] for fields in board.timers.owned_by(intruder))
    for caller in owners:
        assert len([fields for fields in board.timers.owned_by(caller) if "secret" in fields["what"]]) == 1


def _secret(caller):
    return spec("say", "secret of " + caller.room, minute=480, days=127)
