"""Edited messages: within the hour they correct the journal and what was learned, or a sentence says why not."""

import asyncio

from board import Board, Script
from channel import Network, message
from engram.llm.types import Call
from engram.memory.access import OWNER, Caller
from engram.tools.own_tool import OwnTool
from support import let_others_run

HOME = Caller("owner", "net 1", False, "")
ANN = Caller("ann", "net 2", False, "")
MONDAY, TUESDAY = "remember that the dentist is on Monday", "remember that the dentist is on Tuesday"


def _live(board):
    return [record["content"] for record in board.records.newest(OWNER)]


def _said(board):
    """The turns of the person that are there, as they are shown."""
    return [turn["text"] for turn in board.journal.later(0) if turn["role"] == "user"]


async def _say(network, mid, text, edits="", caller=HOME, **more):
    return (await network.offer(message("net:1:" + mid, text, caller, edits=edits and "net:1:" + edits, **more))).told


def _storing(*days):
    """A model that stores on which day the dentist is."""
    call = '{"content":"the dentist is on %s","tags":["dentist"]}'
    return Script(*[step for day in days for step in ([Call("c", "memory_store", call % day)], day + " it is.")])


async def test_an_edit_corrects_the_memory_and_the_journal():
    for has_model in (False, True):
        board = Board().serve(_storing("Monday", "Tuesday") if has_model else None)
        network = Network(board.inbox)
        await _say(network, "1", MONDAY)
        told = await _say(network, "1.7", TUESDAY, "1")
        assert _live(board) == ["the dentist is on Tuesday"] and _said(board) == [TUESDAY]
        assert "notice took back m1: the dentist is on Monday" in told
        assert not any("Monday" in item.text for item in board.find("dentist", OWNER))
        board.compact()
        assert not board.holds("dentist is on Monday")


async def test_an_edit_that_comes_twice_is_answered_once():
    board = Board().serve(Script("Noted.", "Corrected."))
    network = Network(board.inbox)
    await _say(network, "1", "my bike is green")
    await _say(network, "1.7", "my bike is blue", "1")
    again = await _say(network, "1.7", "my bike is blue", "1")
    assert board.model.asked == 2 and _said(board) == ["my bike is blue"] and again[-1] == "end" and len(again) == 2


async def test_an_edit_while_the_message_is_answered_waits_for_its_answer():
    begun = asyncio.Event()
    may_end = asyncio.Event()

    class Slow(Script):
        async def stream(self, request, on_text, on_retry=None):
            begun.set()
            await may_end.wait()
            return await super().stream(request, on_text, on_retry)

    board = Board().serve(Slow("Noted.", "Corrected."))
    network = Network(board.inbox)
    first = asyncio.create_task(_say(network, "1", MONDAY))
    await begun.wait()
    second = asyncio.create_task(_say(network, "1.7", TUESDAY, "1"))
    await let_others_run()
    assert board.model.asked == 0
    may_end.set()
    assert "Noted." in await first and "Corrected." in await second
    assert _said(board) == [TUESDAY]


async def test_an_edit_that_the_power_cut_off_takes_back_what_was_learned_when_it_comes_again():
    board = Board().serve()
    await _say(Network(board.inbox), "1", MONDAY)
    seq = board.journal.add(HOME, "user", "owner", TUESDAY, mid="net:1:1.7", corrects=3, redacts=(3, 4))
    board.restart()
    board.serve()
    told = await _say(Network(board.inbox), "1.7", TUESDAY, "1")
    assert told[0] == "taken t%d" % seq and _live(board) == ["the dentist is on Tuesday"]
    assert _said(board) == [TUESDAY]


async def test_the_answer_to_a_corrected_message_is_not_given_any_more():
    board = Board().serve(Script("Monday it is.", "Tuesday it is."))
    network = Network(board.inbox)
    network.is_up = False
    await _say(network, "1", "my dentist is on Monday")
    network.is_up = True
    await _say(network, "1.7", "my dentist is on Tuesday", "1")
    network.chats.clear()
    assert await board.inbox.deliveries.redeliver("net") == 0
    assert [piece for _, chat in network.chats for piece in chat.told if "Monday" in piece] == []


async def test_the_model_is_told_that_a_message_is_a_correction_and_not_shown_the_former_one():
    board = Board().serve(Script("Four.", "Five."))
    network = Network(board.inbox)
    await _say(network, "1", "what is two and zwei?")
    await _say(network, "1.7", "what is two and three?", "1")
    asked = board.model.requests[-1]
    assert asked[-1].endswith("\n(corrected) what is two and three?")
    assert not any("zwei" in text or "Four" in text for text in asked[1:])


async def test_what_was_done_is_not_done_once_more():
    board = Board().serve()
    board.records.store("My bike is green", ["bike"])
    network = Network(board.inbox)
    await _say(network, "1", "forget my bike")
    assert await _say(network, "1.7", MONDAY, "1") == [
        "refused What you asked for there was done already: send what is to change as a new message.",
        "end",
    ]
    assert _live(board) == [] and _said(board) == ["forget my bike"]


async def test_what_a_tool_did_or_may_have_done_is_not_done_once_more():
    def gate():
        raise OSError("it stuck when it was half open")

    for call, is_corrected in (
        (Call("c", "gate", "{}"), False),
        (Call("c", "file_edit", '{"file":"today","text":"it rains"}'), False),
        (Call("c", "memory_forget", '{"id":"m1"}'), False),
        (Call("c", "memory_store", '{"content":"it rains","tags":["rain"]}'), True),
        (Call("c", "memory_search", '{"query":"bike"}'), True),
    ):
        board = Board().serve(Script([call], "Done.", "Corrected."))
        board.toolbox.add(OwnTool(gate, description="Open the gate."))
        board.records.store("My bike is green", ["bike"])
        network = Network(board.inbox)
        await _say(network, "1", "do it")
        board.restart()
        board.serve(Script("Corrected."))
        told = await _say(Network(board.inbox), "1.7", "do that", "1")
        assert ("Corrected." in told) == is_corrected, (call, told)


async def test_an_edit_that_cannot_correct_is_answered_in_a_sentence():
    board = Board().serve()
    network = Network(board.inbox)
    await _say(network, "1", "hello there")
    await network.offer(message("net:2:1", "hello from me", ANN))
    await _say(network, "2", "/note it rains")
    for edited, text, caller, words in (
        ("9", "hi", HOME, "I do not have the message that you edited"),
        ("1", "hi", ANN, "I do not have the message that you edited"),
        ("1", "/memory", HOME, "An edited command is not carried out"),
        ("2", "it rains", HOME, "was done already"),
    ):
        told = await _say(network, "x" + edited, text, edited, caller)
        assert len(told) == 2 and words in told[0], told
    board.now += 3601
    told = await _say(network, "1.7", "hi", "1")
    assert "You edited a message of 1 h ago, and I correct those of the last hour" in told[0]
    assert _said(board) == ["hello there", "hello from me"]


async def test_an_edit_of_a_forgotten_message_brings_nothing_back():
    board = Board().serve()
    network = Network(board.inbox)
    await _say(network, "1", MONDAY)
    board.forgetting.forget("m1", OWNER, True)
    assert "I do not have" in (await _say(network, "1.7", TUESDAY, "1"))[0]
    assert _live(board) == []
