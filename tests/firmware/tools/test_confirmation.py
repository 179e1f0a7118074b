"""A yes of the person: what plainly is one, and the call that waits for it."""

from engram.agent.agent import Turn
from engram.errors import EngramError
from engram.memory.access import OWNER, Caller
from engram.tools.confirmation import Confirmations, is_yes
from support import raises

ANN = Caller("ann", "chat#1", False, "")
ANN_ELSEWHERE = Caller("ann", "chat#2", False, "")

YES = (
    "yes",
    "Yes.",
    "YES!",
    "  yes  ",
    "yes please",
    "yes, please",
    "yeah",
    "yep",
    "sure",
    "sure, go ahead",
    "ok",
    "OK!",
    "okay, do it",
    "ok thank you",
    "do it",
    "Do it now",
    "go ahead",
    "please do",
    "of course",
    "confirmed",
    "好",
    "好的",
    "好吧。",
    "好的，谢谢",
    "可以",
    "是的",
    "行",
    "确认",
    "確認",
    "没问题",
    "当然",
    "ja",
    "Да.",
    "はい",
    "نعم",
)
NO = (
    "",
    "yes?",
    "Yes ?",
    "yes？",
    "ok but not now",
    "ok, but first tell me why",
    "yes but wait",
    "yes, no, stop",
    "yes and no",
    "yes, don't",
    "yes don’t do it",
    "sure, later",
    "ok so where were we",
    "ok tell me a joke",
    "okay what is it",
    "no",
    "no, yes",
    "not yes",
    "I said yes yesterday",
    "yesterday",
    "yesno",
    "okra",
    "surely",
    "do not do it",
    "don't",
    "the model said yes",
    "\"yes\"",
    "maybe",
    "why",
    "cancel",
    "yes " + "very " * 30,
    "yes, in ten minutes",
    "yes, tomorrow",
    "sure, at eight",
    "yes, tell me more first",
    "do it yourself",
    "right, where were we",
    "great",
    "不",
    "不行",
    "可以吗",
    "可以吗？",
    "好吗",
    "是不是",
    "好像是的",
    "好吃",
    "对不起",
    "行李在哪里",
    "好，但是先等等",
    "可以的话",
    "别",
    "没有",
    "我说好",
    "好了",
    "行了，够了",
    "对了",
    "好，五分钟后",
    "可以，明天",
    "好，再说吧",
    "好，算了",
    "yes，但是不要",
    "Yes, open the door",
    "definitely a bad idea",
    "certainly a mistake",
    "sure enough it broke",
    "yes. Actually forget that",
    "yes abort",
    "yes, ignore",
    "yes, skip it",
    "yes, nevermind",
    "yes, keep the door shut",
    "yes, use the back door",
    "yes, make it 5 seconds",
    "of course you would",
    "是的，打开",
    "好的，改成前门",
    "好，锁上",
    "好的，我改主意了",
    "好的，放弃",
    "是的，我反对",
    "可以，拒绝",
    "好，撤销",
    "对，太危险",
    "好 cancel",
    "😀",
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


def test_words_that_are_not_the_persons_own_confirm_nothing():
    confirmations = _asked()
    turn = Turn(OWNER, 2)
    confirmations.begin_turn(turn)
    assert not confirmations.is_confirmed(turn, "open", {})


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


def test_a_yes_within_ten_minutes_counts():
    for minutes in (0, 9):
        confirmations = _asked_before(minutes)
        assert confirmations.is_confirmed(_says(confirmations, "yes"), "open", {})


def test_a_later_yes_runs_nothing_whatever_the_counter_says():
    days = 1440
    # After 12.4 days the counter of ticks is where it was.
    for minutes in (10, 60, 3 * days, 12 * days + 617, 40 * days):
        confirmations = _asked_before(minutes)
        assert not confirmations.is_confirmed(_says(confirmations, "yes"), "open", {}), minutes


def test_what_was_asked_again_after_it_expired_waits_as_long():
    confirmations = _asked_before(11)
    confirmations.ask(Turn(OWNER, 2), "open", {})
    assert confirmations.is_confirmed(_says(confirmations, "yes", 3), "open", {})


def test_a_turn_of_more_than_ten_minutes_runs_what_was_confirmed_at_its_start():
    ticks = _Ticks()
    confirmations = Confirmations(ticks)
    confirmations.ask(Turn(OWNER, 1, "open it"), "open", {})
    turn = _says(confirmations, "yes")
    ticks.ms += 11 * MINUTE
    confirmations.tick()
    assert confirmations.is_confirmed(turn, "open", {})


def test_one_call_waits_at_a_time():
    confirmations = _asked()
    turn = Turn(OWNER, 1, "")
    with raises(EngramError) as caught:
        confirmations.ask(turn, "shut", {})
    assert "one question at a time: open" in str(caught.error)
    confirmations.ask(turn, "open", {})
    assert confirmations.is_confirmed(_says(confirmations, "yes"), "open", {})


def test_as_many_callers_wait_as_are_allowed_and_another_is_dropped():
    confirmations = Confirmations()
    callers = [Caller("p%d" % number, "chat", False, "") for number in range(9)]
    for caller in callers:
        confirmations.ask(Turn(caller, 1, ""), "open", {})
    found = [confirmations.is_confirmed(_says(confirmations, "yes", 2, caller), "open", {}) for caller in callers]
    assert found.count(True) == 8 and found[-1]
