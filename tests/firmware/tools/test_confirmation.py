"""A yes of the person: what plainly is one, and the call that waits for it."""

from engram.agent.agent import Turn
from engram.errors import EngramError
from engram.memory.access import OWNER, Caller
from engram.tools.toolbox import Confirmations, is_yes
from support import raises

ANN = Caller("ann", "chat#1", False, "")
ANN_ELSEWHERE = Caller("ann", "chat#2", False, "")

YES = (
    "yes", "  Yes. ", "YES!", "yes, please", "yep", "sure, go ahead", "ok thank you", "Do it now", "please do",
    "好", "好吧。", "好的，谢谢", "是的", "确认", "ja", "Да.", "はい", "نعم",
)  # fmt: skip
NO = (
    "", "yes?", "yes？", "ok but not now", "yes and no", "sure, later", "okay what is it", "no, yes", "yesterday", "okra",
    "I said yes yesterday", "do not do it", "the model said yes", "\"yes\"", "maybe", "yes " + "very " * 30,
    "yes, in ten minutes", "do it yourself", "Yes, open the door", "yes. Actually forget that", "sure enough it broke",
    "不", "可以吗？", "好像是的", "对不起", "好，但是先等等", "我说好", "好了", "是的，打开", "好 cancel", "😀",
)  # fmt: skip


def test_a_plain_yes_is_one():
    assert [said for said in YES if not is_yes(said)] == []


def test_a_doubt_a_question_and_anything_else_is_no_yes():
    assert [said for said in NO if is_yes(said)] == []


def _asked(seq=1, caller=OWNER, name="open", **arguments):
    confirmations = Confirmations()
    confirmations.ask(Turn(caller, seq, "open it"), name, arguments)
    return confirmations


def _says(confirmations, said, seq=2, caller=OWNER):
    turn = Turn(caller, seq, said)
    confirmations.begin_turn(turn)
    return turn


def test_a_call_runs_once_after_the_yes_of_whom_was_asked():
    confirmations = _asked(door="front")
    turn = _says(confirmations, "yes")
    assert confirmations.is_confirmed(turn, "open", {"door": "front"})
    assert not confirmations.is_confirmed(turn, "open", {"door": "front"})


def test_nothing_is_confirmed_in_the_turn_that_asked():
    confirmations = _asked()
    assert not confirmations.is_confirmed(Turn(OWNER, 1, "yes, open it"), "open", {})


def test_other_arguments_or_another_tool_are_not_confirmed_and_end_it():
    for name, arguments in (("open", {"door": "back"}), ("open", {}), ("shut", {"door": "front"})):
        confirmations = _asked(door="front")
        turn = _says(confirmations, "yes")
        assert not confirmations.is_confirmed(turn, name, arguments)
        assert not confirmations.is_confirmed(turn, "open", {"door": "front"})


def test_arguments_that_the_asker_changes_later_are_not_confirmed():
    arguments = {"door": "front"}
    confirmations = Confirmations()
    confirmations.ask(Turn(OWNER, 1, ""), "open", arguments)
    arguments["door"] = "back"
    assert not confirmations.is_confirmed(_says(confirmations, "yes"), "open", {"door": "back"})


def test_another_message_in_between_ends_it():
    confirmations = _asked()
    _says(confirmations, "what is the time", 2)
    assert not confirmations.is_confirmed(_says(confirmations, "yes", 3), "open", {})


def test_a_yes_counts_in_its_own_turn_only():
    confirmations = _asked()
    _says(confirmations, "yes", 2)
    assert not confirmations.is_confirmed(_says(confirmations, "yes", 3), "open", {})


def test_a_yes_of_another_person_or_in_another_room_counts_nothing():
    for other in (ANN_ELSEWHERE, OWNER, Caller("ann", "chat#1", True, ""), Caller("ann", "chat#1", False, "garden")):
        confirmations = _asked(caller=ANN)
        turn = _says(confirmations, "yes", caller=other)
        assert not confirmations.is_confirmed(turn, "open", {})
        assert confirmations.is_confirmed(_says(confirmations, "yes", 3, ANN), "open", {})


MINUTE = 60_000


class _Ticks:
    """The counter of milliseconds, which wraps."""

    def __init__(self):
        self.ms = (1 << 30) - 5 * MINUTE

    def __call__(self):
        return self.ms % (1 << 30)


def _asked_before(minutes):
    ticks = _Ticks()
    confirmations = Confirmations(ticks)
    confirmations.ask(Turn(OWNER, 1, "open it"), "open", {})
    for _ in range(minutes // 1440):
        ticks.ms += 1440 * MINUTE
        confirmations.tick()
    ticks.ms += minutes % 1440 * MINUTE
    return confirmations


def test_a_later_yes_runs_nothing_whatever_the_counter_says():
    days = 1440
    # After 12.4 days the counter of ticks is where it was.
    for minutes in (10, 60, 3 * days, 12 * days + 617, 40 * days):
        confirmations = _asked_before(minutes)
        assert not confirmations.is_confirmed(_says(confirmations, "yes"), "open", {}), minutes


def test_one_call_waits_at_a_time():
    confirmations = _asked()
    turn = Turn(OWNER, 1, "")
    with raises(EngramError) as caught:
        confirmations.ask(turn, "shut", {})
    assert "one question at a time: open" in str(caught.error)
    confirmations.ask(turn, "open", {})
    assert confirmations.is_confirmed(_says(confirmations, "yes"), "open", {})
