"""Conversations that are not kept: nothing of them is on flash, and the model is shown them from RAM."""

import asyncio

from board import Board, Script, error_of, lines_of
from channel import Network, PowerFailure, cut, message, restarted
from engram.llm.types import Call
from engram.memory.access import OWNER, Caller
from engram.memory.journal.unkept import BEGUN, NOTICE
from learners import read
from timed import spec
from turns import say

NET = Caller("ann", "net 1", False, "")
WORDS = ("heliotrope", "marzipan", "zeppelin", "quicksilver")
KEEPING = [
    Call("1", "memory_store", '{"content":"quicksilver","tags":["a"]}'),
    Call("2", "timer", '{"action":"add","text":"quicksilver","time":"in 20 min"}'),
]


async def _offer(board, *messages):
    """Offer messages until the power fails, numbered from 0; what was told of each."""
    told = []
    try:
        for number, content in enumerate(messages):
            told.append([])
            told[-1] = (await Network(board.inbox).offer(message("net:1:%d" % number, content, NET))).told
    except PowerFailure:
        pass
    return told


async def test_nothing_that_is_said_is_on_flash_wherever_the_power_fails():
    for at in range(4):
        begin = ("/mode off", "Do not remember this conversation.")[at % 2]
        said = (begin, "a heliotrope", "remember that it is marzipan", "what is it?")
        steps = ["heliotrope!", KEEPING, "zeppelin", "ok"]
        steps.insert(at, [cut])
        board = Board().learn(Script(*steps))
        count = len(await _offer(board, *said))
        await read(board)
        assert "Late." not in str(await _offer(restarted(board, "Late.", "Late."), *said[:count]))
        assert count == (2, 4, 4, 4)[at] and not any(board.holds(word) for word in WORDS)
        assert not board.records.count() and not board.timers.table.rows


async def test_the_model_is_shown_the_conversation_from_ram_until_a_new_session():
    board = Board().serve(Script(), session_messages=6)
    board.remember("my zeppelin is red", ["a"])
    await say(board, "a bicycle")
    board.agent.remote_search = board.remote_search = object()  # pyright: ignore  # fails if it is asked
    assert lines_of(board, "/mode off") == [BEGUN] and lines_of(board, "/mode")[1] == NOTICE
    for content in ("a heliotrope", "a marzipan", "a zeppelin"):
        assert (await say(board, content))[1].notices == [NOTICE]
    shown = [each.split("\n")[-1] for each in board.model.requests[-1]][-6:]
    assert shown[1:] == ["a heliotrope", "ok", "a marzipan", "ok", "a zeppelin"] and shown[0] != "ok"
    assert "is red" in str(board.model.requests[-1]) and "is red" in lines_of(board, "/recall zeppelin")[0]
    assert "no session s99" in error_of(board, "/session switch s99") and lines_of(board, "/mode")[1] == NOTICE
    assert board.records.uses.usage_of(1)[0] == 0 and lines_of(board, "/session new")[0].endswith("is kept again")
    board.agent.remote_search = None
    assert not (await say(board, "a tulip"))[1].notices and board.holds("tulip")
    assert "zeppelin" not in str(board.model.requests[-1])


async def test_it_is_of_one_room_whose_people_may_end_it_and_there_timers_words_still_remind():
    board = Board().serve(Script())
    board.timers.add(NET, spec("say", "buy brushes", words="paint shop"))
    lines_of(board, "/mode off", NET)
    await say(board, "a heliotrope")
    assert board.holds("heliotrope") and NOTICE not in lines_of(board, "/mode")
    assert (await say(board, "the paint shop", NET))[1].notices == [NOTICE, "reminder: buy brushes (w1)"]
    assert "do not remember" in (await say(board, "remember that it is marzipan", NET))[1].heard
    lines_of(board, "/mode full", NET)
    assert "owner" in error_of(board, "/mode lightweight", NET)
    await say(board, "a zeppelin", NET)
    assert board.holds("zeppelin")


async def test_what_follows_the_sentence_is_a_message_of_its_own_and_no_tool_that_writes_is_offered():
    board = Board().serve(Script([Call("1", "sense_limit", '{"sense":"outside","low":3}')], "Call her."))
    board.find_senses().observe("outside", 1)
    _, ear = await say(board, "[A photo] Do not remember this conversation. My sister is ill, what should I do?")
    assert ear.heard == "Call her." and ear.notices == [NOTICE] and not board.holds("sister")
    assert board.model.requests[0][-1].endswith("[A photo] My sister is ill, what should I do?")
    assert not board.sense_view.limits.of_caller(OWNER)


async def test_a_message_that_comes_twice_has_its_answer_from_ram_and_a_kept_one_that_is_edited_goes():
    board = Board().serve(Script(*WORDS))
    network = Network(board.inbox, is_confirming=False)
    await network.offer(message("net:1:0", "a tulip", NET))
    lines_of(board, "/mode off", NET)
    edited = message("net:1:1", "a rose", NET, edits="net:1:0")
    assert WORDS[1] in (await network.offer(edited)).told and not list(board.journal.later(0))
    assert (await network.offer(edited)).told[1:] == ["kept", WORDS[1], "end"]
    told = (await Network(restarted(board).inbox, is_confirming=False).offer(edited)).told
    assert told[1:] == ["refused nothing of that conversation was kept: say it again.", "end"]


async def test_a_message_that_waits_for_its_answer_stays_kept():
    board = Board().serve(Script([lambda _request: lines_of(board, "/mode off", NET), "ok"]))
    network = Network(board.inbox)
    await asyncio.gather(*[network.offer(message("net:1:%d" % at, "tulip %d" % at, NET)) for at in (1, 2)])
    assert board.journal.seen.find("net:1:2")["text"] == "tulip 2"


async def test_what_it_takes_of_the_heap_is_bounded():
    board = Board().serve(Script())
    turns = board.journal.unkept
    for number in range(16):
        caller = Caller("p%d" % number, "net 1", False, "")
        lines_of(board, "/mode off", caller)
        turns.add(caller, "user", "p", "ä" * 7000)
    assert sum(len(turn["text"].encode()) for turn in turns._turns) <= 16384
    assert "16 conversations" in error_of(board, "/mode off")
