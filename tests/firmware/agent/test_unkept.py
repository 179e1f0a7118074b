"""Conversations that are not kept: nothing of them is on flash, and the model is shown them from RAM."""

from board import Board, Script, error_of, lines_of
from channel import Network, message
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
    Call("2", "note_add", '{"text":"quicksilver"}'),
    Call("3", "timer", '{"action":"add","text":"quicksilver","time":"in 20 min"}'),
    Call("4", "profile_edit", '{"file":"user.md","action":"append","text":"quicksilver"}'),
]


class _PowerFailure(Exception):
    """What ends a test's board in the middle."""


def _cut(_request):
    raise _PowerFailure


async def _offer(board, *messages):
    """Offer messages until the power fails, numbered from 0; what was told of each."""
    told = []
    for number, content in enumerate(messages):
        told.append([])
        try:
            told[-1] = (await Network(board.inbox).offer(message("net:1:%d" % number, content, NET))).told
        except _PowerFailure:
            break
    return told


async def test_nothing_that_is_said_is_on_flash_wherever_the_power_fails():
    for cut in range(4):
        begin = ("/mode off", "Do not remember this conversation.")[cut % 2]
        said = (begin, "a heliotrope", "remember that it is marzipan", "what is it?")
        steps = ["heliotrope!", KEEPING, "zeppelin", "ok"]
        steps.insert(cut, [_cut])
        board = Board().learn(Script(*steps))
        count = len(await _offer(board, *said))
        if cut == 3:
            await read(board)
        board.restart()
        board.learn(Script("Late.", "Late.", "Late."))
        for told in await _offer(board, *said[:count]):
            assert "Late." not in told
        assert count == (2, 4, 4, 4)[cut] and not any(board.holds(word) for word in WORDS)
        assert not board.records.count() and not board.timers.table.rows


async def test_the_model_is_shown_the_conversation_from_ram_until_a_new_session():
    board = Board().serve(Script(), session_messages=6)
    await say(board, "a bicycle")
    assert lines_of(board, "/mode off") == [BEGUN] and lines_of(board, "/mode")[1] == NOTICE
    for content in ("a heliotrope", "a marzipan", "a zeppelin"):
        assert (await say(board, content))[1].notices == [NOTICE]
    shown = [each.split("\n")[-1] for each in board.model.requests[-1]][-6:]
    assert shown[1:] == ["a heliotrope", "ok", "a marzipan", "ok", "a zeppelin"] and shown[0] != "ok"
    lines_of(board, "/session new")
    assert not (await say(board, "a tulip"))[1].notices and board.holds("tulip")
    assert "zeppelin" not in str(board.model.requests[-1])


async def test_what_is_to_be_remembered_is_refused_and_a_timers_words_still_remind():
    board = Board().serve(Script())
    board.timers.add(OWNER, spec("say", "buy brushes", words="paint shop"))
    lines_of(board, "/mode off")
    assert "not remember" in (await say(board, "remember that it is marzipan"))[1].heard and not board.model.asked
    assert (await say(board, "the paint shop"))[1].notices == [NOTICE, "reminder: buy brushes (w1)"]
    board.agent.model = None
    assert NOTICE in (await say(board, "a zeppelin"))[1].heard


async def test_it_is_of_one_room_alone_and_anybody_there_may_begin_and_end_it():
    board = Board().serve(Script())
    lines_of(board, "/mode off", NET)
    await say(board, "a heliotrope")
    assert board.holds("heliotrope") and NOTICE not in lines_of(board, "/mode")
    lines_of(board, "/mode full", NET)
    assert "owner" in error_of(board, "/mode lightweight", NET)
    await say(board, "a zeppelin", NET)
    assert board.holds("zeppelin")


async def test_what_it_takes_of_the_heap_is_bounded():
    board = Board().serve(Script())
    turns = board.journal.unkept
    for number in range(16):
        lines_of(board, "/mode off", Caller("p%d" % number, "net 1", False, ""))
        for _ in range(3):
            turns.add(Caller("p%d" % number, "net 1", False, ""), "user", "p", "ä" * 7000)
    assert sum(len(turn["text"].encode()) for turn in turns._turns) <= 16384
    assert "16 conversations" in error_of(board, "/mode off")
