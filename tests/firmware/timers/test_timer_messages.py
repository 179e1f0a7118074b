"""Timers in messages and commands: without a model, by the model's tool, by the rule behind its turns; and never others'."""

from board import Board, Script, error_of, lines_of
from channel import Network
from engram.llm.types import Call
from engram.memory.access import OWNER, Caller
from timed import ANN, CHAT, GROUP
from turns import say

TOMORROW = "remind me to water the plants tomorrow at 8"
W1 = "w1: on Tuesday 2026-09-22 08:00 I remind you: water the plants"


def _offline():
    board = Board().serve()
    Network(board.inbox)
    return board


def _learning(*steps):
    board = Board().learn(Script(*steps))
    Network(board.inbox)
    return board


async def test_without_a_model_a_plain_message_sets_one_and_says_when():
    board = _offline()
    _, ear = await say(board, TOMORROW, CHAT)
    assert ear.heard == W1 + " (/timers lists and removes)"
    _, ear = await say(board, "每天早上七点提醒我吃药", CHAT)
    assert ear.heard.startswith("w2: every day at 07:00, next Tuesday 2026-09-22 07:00 I remind you: 吃药")


async def test_what_cannot_be_is_answered_with_the_reason():
    board = _offline()
    assert (
        "has passed: it is Monday 2026-09-21 14:13" in (await say(board, "remind me today at 8 to go", CHAT))[1].heard
    )
    await say(board, TOMORROW, CHAT)
    assert "there already as w1" in (await say(board, TOMORROW, CHAT))[1].heard


UNREAD = ("remind me at ten to eight to leave", "提醒我八点差十分走", "remind me tomorrow to leave at half eight")
NOT_UNDERSTOOD = "I did not understand that time. Write 07:50, or: in 20 min."


async def test_a_time_that_is_not_understood_whole_is_refused_and_sets_nothing():
    for said in UNREAD:
        board = _offline()
        assert (await say(board, said, CHAT))[1].heard == NOT_UNDERSTOOD
        board.find_timers()
        assert board.timers.owned_by(CHAT) == []
        board = _learning("Sure!")
        assert (await say(board, said, CHAT))[1].notices == ["no timer: " + NOT_UNDERSTOOD]
        assert board.timers.owned_by(CHAT) == []


async def test_as_the_refusal_says_a_time_is_understood():
    for time in ("at 07:50", "in 20 min"):
        _, ear = await say(_offline(), "remind me %s to leave" % time, CHAT)
        assert "I remind you: leave" in ear.heard


async def test_a_message_that_sets_one_is_not_found_by_a_search():
    board = _offline()
    await say(board, TOMORROW, CHAT)
    assert [hit for hit, _ in board.search_turns("plants", 5, CHAT)] == []


async def test_the_rule_keeps_what_the_model_did_not():
    board = _learning("Sure!")
    _, ear = await say(board, TOMORROW, CHAT)
    assert ear.notices == [W1]


async def test_what_the_model_has_set_the_rule_does_not_set_again():
    call = Call("c", "timer", '{"action":"add","text":"Water the plants","at":"2026-09-22 08:00"}')
    board = _learning([call], "I will.")
    _, ear = await say(board, TOMORROW, CHAT)
    assert ear.notices == ["w1: on Tuesday 2026-09-22 08:00 I remind you: Water the plants"]
    assert len(board.timers.owned_by(CHAT)) == 1


async def test_rules_that_are_off_keep_nothing():
    board = Board().learn(Script("Sure!"), rules_on=False)
    _, ear = await say(board, TOMORROW, CHAT)
    assert ear.notices == [] and board.timers is None


async def _offered(board, content, caller=CHAT):
    seen = []

    def look(request):
        seen.extend(tool.name for tool in request.tools)

    board.model.steps = [[look, "ok"]]
    await say(board, content, caller)
    return "timer" in seen


async def test_the_tool_is_offered_once_a_message_may_concern_a_time_and_while_there_are_timers():
    board = Board().serve(Script())
    Network(board.inbox)
    assert not await _offered(board, "how are you?")
    assert board.toolbox is None
    assert await _offered(board, "can you remind me of things?")
    assert await _offered(board, "how are you?")
    board.find_timers()
    board.has_timer_tool, board.toolbox = False, None
    assert await _offered(board, "how are you?")


async def test_the_model_adds_lists_and_removes_in_each_form():
    calls = (
        ('{"action":"add","text":"a","in_minutes":20}', "in_minutes", "on Monday 2026-09-21 14:33"),
        ('{"action":"add","text":"b","time":"07:30","days":"weekdays"}', "time", "on weekdays at 07:30"),
        ('{"action":"add","text":"c","time":"7:30","days":"monday, fri"}', "time", "every Monday, Friday at 07:30"),
        ('{"action":"add","text":"d","every_minutes":90}', "every", "every 1 h 30 min"),
        ('{"action":"add","text":"e","kind":"ask","at":"2026-09-22T08:00"}', "at", "on Tuesday 2026-09-22 08:00"),
        ('{"action":"remove","id":"w1"}', "removed", "no more timer w1"),
    )
    board = Board().serve(Script())
    Network(board.inbox)
    board.model.steps = [[Call(str(at), "timer", call) for at, (call, _, _) in enumerate(calls)], "ok"]
    _, ear = await say(board, "set my timers", CHAT)
    assert len(ear.notices) == len(calls)
    for notice, (_, _, wanted) in zip(ear.notices, calls):
        assert wanted in notice, notice
    assert [fields["what"] for fields in board.timers.owned_by(CHAT)] == ["d", "b", "e", "c"]


async def test_a_wrong_call_says_what_would_be_right():
    board = Board().serve(Script())
    Network(board.inbox)
    wrong = (
        ('{"action":"add","text":"a"}', "give one of at, time"),
        ('{"action":"add","text":"a","at":"2026-09-22 08:00","in_minutes":5}', "give one of at, time"),
        ('{"action":"add","text":"a","at":"tomorrow"}', "local day and time"),
        ('{"action":"add","text":"a","at":"2026-09-22"}', "time of the day"),
        ('{"action":"add","text":"a","time":"25:00"}', "time of the day"),
        ('{"action":"add","text":"a","time":"07:30","days":"someday"}', "names of days"),
        ('{"action":"add","in_minutes":5}', "not empty"),
        ('{"action":"add","kind":"tool","in_minutes":5}', "goes with kind tool"),
        ('{"action":"add","tool":"lamp","in_minutes":5}', "goes with kind tool"),
        ('{"action":"add","kind":"tool","tool":"lamp","in_minutes":5}', "no tool lamp"),
        ('{"action":"remove"}', "is missing"),
        ('{"action":"remove","id":"w9"}', "w9"),
        ('{"action":"remove","id":"m1"}', "looks like w12"),
    )
    board.model.steps = [[Call(str(at), "timer", call) for at, (call, _) in enumerate(wrong)], "ok"]
    await say(board, "set my timers", CHAT)
    results = board.model.requests[-1][-len(wrong) :]
    for result, (call, why) in zip(results, wrong):
        assert "error" in result and why in result, (call, result)


def test_the_command_lists_adds_and_removes():
    board = _offline()
    assert "there are none" in lines_of(board, "/timers", CHAT)[0]
    assert lines_of(board, "/timers add tomorrow at 8 water the plants", CHAT) == [W1]
    (added,) = lines_of(board, "/timers add every day at 7 ask what is on today", CHAT)
    assert added.endswith("I answer: what is on today")
    assert lines_of(board, "/timers list", CHAT) == [
        "w2   every day at 07:00, next Tuesday 2026-09-22 07:00",
        "     ask: what is on today",
        "w1   on Tuesday 2026-09-22 08:00",
        "     say: water the plants",
    ]
    assert lines_of(board, "/timers remove w1", CHAT) == ["removed w1: water the plants"]
    for typed in ("water the plants", "at ten to eight leave", "leave at half eight", "八点差十分走"):
        assert "begin with a time" in error_of(board, "/timers add " + typed, CHAT)
    assert NOT_UNDERSTOOD in error_of(board, "/timers add remind me at ten to eight to leave", CHAT)
    assert "takes list" in error_of(board, "/timers wrong", CHAT)


def test_a_pin_and_a_tool_are_checked_when_they_are_typed():
    board = _offline()
    assert "no tool" in error_of(board, "/timers add at 22:00 pin lamp off", CHAT)

    class Toolbox:
        def check(self, name, arguments, caller, is_confirmed=False):
            self.seen = (name, arguments, is_confirmed)

    toolbox = board.toolbox = Toolbox()  # pyright: ignore[reportAttributeAccessIssue]
    (added,) = lines_of(board, "/timers add at 22:00 pin lamp 40", CHAT)
    assert toolbox.seen == ("pin_set", {"pin": "lamp", "value": 40}, True) and "I call pin_set" in added
    lines_of(board, "/timers add at 22:00 pin lamp off", CHAT)
    assert toolbox.seen == ("pin_set", {"pin": "lamp", "value": "off"}, True)
    lines_of(board, '/timers add every 60 minutes tool water {"seconds":10}', CHAT)
    assert toolbox.seen == ("water", {"seconds": 10}, True)


async def test_nobody_lists_removes_or_sets_timers_of_others():
    board = Board().serve(Script())
    Network(board.inbox)
    owners = (OWNER, ANN, GROUP)
    for caller in owners:
        board.find_timers().add(caller, _secret(caller))
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
        lines_of(board, "/timers add tomorrow at 8 mine %s" % intruder.room, intruder)
        assert all(fields["what"] == "mine " + fields["room"] for fields in board.timers.owned_by(intruder))
    for caller in owners:
        assert len([fields for fields in board.timers.owned_by(caller) if "secret" in fields["what"]]) == 1


def _secret(caller):
    from engram.timers.wanted import wanted

    return wanted("say", "secret of " + caller.room, minute=480, days=127)
