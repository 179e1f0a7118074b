"""Timers that ask the agent or call a tool: once each, within their budget of model calls, and never for others."""

import asyncio

from engram.errors import ArgumentError, ModelError, StoreError
from engram.llm.types import Call
from engram.memory.access import OWNER
from engram.timers.timers import checked_call
from support import raises, wait_until
from timed import ANN, CHAT, DAY, EIGHT, GROUP, HOUR, MINUTE, Timed, script, spec


class Toolbox:
    """Stands for the toolbox, and takes only what that takes."""

    def __init__(self):
        self.called = []
        self.answer = True, '"ok"'
        self.waits_for: asyncio.Event | None = None

    def check(self, name, arguments, caller):
        if name not in ("lamp", "pump") or not isinstance(arguments, dict):
            raise ArgumentError("tool", "there is no tool %s." % name)
        if caller.principal != "owner" or caller.group:
            raise ArgumentError("tool", "%s may not be used here." % name)
        if name == "pump":
            raise ArgumentError(name, "runs only after a yes of the person.")

    async def call(self, name, arguments, caller):
        try:
            self.check(name, arguments, caller)
        except ArgumentError as error:
            return False, str(error)
        self.called.append((name, arguments, caller.principal))
        if self.waits_for:
            await self.waits_for.wait()
        return self.answer


def _asking(*steps, **settings):
    return Timed(script(*steps), **settings)


def _is_busy(timed):
    return timed.timers.runner._busy != ""


async def _told(timed, seconds, step=MINUTE):
    """What was told while time went on, once no turn is under way."""
    told = []
    while seconds > 0:
        told += await timed.pass_time(min(seconds, step), step)
        if _is_busy(timed):
            await wait_until("the turn is over", lambda: not _is_busy(timed))
            await timed.look()
            told += timed.told()
        seconds -= step
    return told


async def test_the_agent_is_asked_as_who_set_it_and_its_answer_is_told_and_kept_once():
    timed = _asking("Nothing is on today.")
    timed.add(ANN, "ask", "what is on today?", at=EIGHT)
    assert await _told(timed, EIGHT - timed.board.now + 2 * MINUTE) == [("net 2", "Nothing is on today.")]
    assert "what is on today?" in timed.board.model.requests[0][-1]
    journal = timed.board.journal
    turns = [journal.turn(seq) for seq in journal.window(journal.current(ANN), 10)]
    assert [(turn["role"], turn["who"], turn["text"]) for turn in turns] == [
        ("user", "ann", "what is on today?"),
        ("assistant", "engram", "Nothing is on today."),
    ]
    assert turns[1]["mid"] == "timer:w1:%d" % EIGHT and turns[1]["to"] == "net 2"
    assert await _told(timed, DAY, HOUR) == [] and timed.board.model.asked == 1


async def test_a_model_that_fails_is_told_once():
    timed = _asking(ModelError("the model is away."), "too late")
    timed.add(CHAT, "ask", "think of something", at=EIGHT)
    told = await _told(timed, EIGHT - timed.board.now + HOUR)
    assert told == [("net 1", "could not answer: think of something; the model is away. (w1)")]
    assert timed.board.model.asked == 1


async def test_a_turn_that_the_power_cut_off_is_told_and_not_begun_again():
    timed = _asking("never heard", "never asked")
    timed.add(CHAT, "ask", "how is it?", at=EIGHT)
    timed.board.now = EIGHT
    await timed.timers.run_due()
    await wait_until("it is asked", lambda: timed.board.journal.newest >= 3)
    timed.timers.runner.stop()
    timed.restart()
    told = await _told(timed, 2 * MINUTE)
    assert told == [("net 1", "how is it? was broken off: look whether it was carried out (w1)")]
    assert timed.board.model.asked <= 1


async def test_an_answer_that_the_flash_did_not_take_is_told_as_broken_off():
    timed = _asking("Fine.")
    timed.add(CHAT, "ask", "how is it?", at=EIGHT)
    keep = timed.board.inbox.deliveries.keep

    def fail(*_, **__):
        raise StoreError("there is no room.")

    timed.board.inbox.deliveries.keep = fail
    await _told(timed, EIGHT - timed.board.now)
    timed.board.inbox.deliveries.keep = keep
    (told,) = await _told(timed, 2 * MINUTE)
    assert told[1].startswith("how is it? was broken off")


async def test_a_timers_turn_sets_no_timers():
    timed = _asking([Call("c", "timer", '{"action":"add","text":"more","time":"every 5 min"}')], "No.")
    timed.add(CHAT, "ask", "do it again", at=EIGHT)
    await _told(timed, EIGHT - timed.board.now + 2 * MINUTE)
    assert "sets no timers" in timed.board.model.requests[-1][-1] and not timed.timers.owned_by(CHAT)


# --- tools


def _calling(**settings):
    timed = Timed(None, **settings)
    timed.toolbox = Toolbox()
    timed.restart()
    return timed


def _add_call(timed, caller=CHAT, tool="lamp", arguments='{"value":1}', **when):
    return timed.timers.add(caller, spec("tool", "%s %s" % (tool, arguments), **when))


async def test_a_tool_is_called_once_and_nothing_is_said_of_it():
    timed = _calling()
    _add_call(timed, minute=480, days=127)
    assert await _told(timed, EIGHT - timed.board.now + HOUR) == []
    assert timed.toolbox.called == [("lamp", {"value": 1}, "owner")]
    assert await _told(timed, DAY) == [] and len(timed.toolbox.called) == 2


async def test_a_call_that_fails_is_told():
    timed = _calling()
    timed.toolbox.answer = False, "the lamp is broken."
    _add_call(timed, at=EIGHT)
    told = await _told(timed, EIGHT - timed.board.now + HOUR)
    assert told == [("net 1", 'lamp {"value":1} failed: the lamp is broken. (w1)')]
    assert len(timed.toolbox.called) == 1 and timed.timers.owned_by(CHAT) == []


async def test_a_call_under_way_when_the_power_failed_is_not_made_again_and_told():
    timed = _calling()
    timed.toolbox.waits_for = asyncio.Event()
    _add_call(timed, at=EIGHT)
    await timed.pass_time(EIGHT - timed.board.now + MINUTE, MINUTE)
    assert len(timed.toolbox.called) == 1
    timed.timers.runner.stop()
    timed.restart()
    told = await _told(timed, 2 * MINUTE)
    wanted = 'lamp {"value":1} was broken off: look whether it was carried out (w1)'
    assert told == [("net 1", wanted)] and len(timed.toolbox.called) == 1


async def test_a_call_that_is_late_is_not_made_and_told():
    timed = _calling()
    _add_call(timed, at=EIGHT)
    timed.board.now = EIGHT + 3 * HOUR
    timed.restart()
    told = await _told(timed, 2 * MINUTE)
    wanted = 'lamp {"value":1} was due Tuesday 2026-09-22 08:00, 3 h 1 min ago, and was not carried out (w1)'
    assert told == [("net 1", wanted)] and timed.toolbox.called == []


async def test_who_may_use_a_tool_is_asked_when_it_is_due_too():
    timed = _calling()
    _add_call(timed, ANN, at=EIGHT)
    _add_call(timed, GROUP, at=EIGHT)
    _add_call(timed, CHAT, "pump", "{}", at=EIGHT)
    told = await _told(timed, EIGHT - timed.board.now + 10 * MINUTE)
    assert [text for _, text in told if "may not be used here" in text or "after a yes" in text] and len(told) == 3
    assert timed.toolbox.called == []


def test_what_may_not_be_called_is_refused_when_it_is_set():
    timed = _calling()
    board = timed.board
    for name, arguments, caller in (
        ("door", "{}", CHAT),
        ("lamp", "[1]", CHAT),
        ("lamp", "{", CHAT),
        ("lamp", "{}", ANN),
        ("lamp", "{}", GROUP),
        ("pump", "{}", CHAT),
        ("timer", "{}", CHAT),
    ):
        with raises(ArgumentError):
            checked_call(board.toolbox, name, arguments, caller)
    assert checked_call(board.toolbox, "lamp", "{ }", OWNER) == "lamp {}"
