"""The last look: messages that are not read for facts are shown before they leave the window, to keep what should last."""

from board import ROOM
from engram.agent.agent import Origin
from engram.errors import ModelError
from engram.llm.types import Call
from engram.memory.access import OWNER
from engram.tools.own_tool import OwnTool
from learners import contents, learner, read, tell, told
from turns import Ear

STORE = Call("1", "memory_store", '{"content":"The bike is green","tags":["bike"]}')


def board_with(*steps, **settings):
    """A board that shows its first two messages after the second one, and reads no facts by itself."""
    return learner(*steps, session_messages=12, extract_on=settings.pop("extract_on", False), **settings)


async def talk(board, count, caller=OWNER):
    """So many turns, each with what follows it."""
    for number in range(count):
        await tell(board, "message number %d" % number, caller)
        await read(board)


async def test_the_model_keeps_what_should_last_and_nobody_hears_of_it():
    board = board_with("tea", "b", [STORE], "NO_REPLY", "c")
    await talk(board, 2)
    look = board.model.requests[2][-1]
    assert "message number 0" in look and "<before>\ntea\n" in look and "NO_REPLY" in look
    assert contents(board) == ["The bike is green"]
    assert [turn["text"] for turn in board.journal.later(0)] == ["message number 0", "tea", "message number 1", "b"]


async def test_others_words_and_what_a_message_answers_have_no_last_look():
    board = board_with("a", "b", "NO_REPLY")
    await board.agent.turn(OWNER, "forwarded words", Ear(), Origin("Bob"))
    await board.agent.turn(OWNER, "that is a riddle", Ear(), Origin(quoted="I live in Lyon"))
    await read(board)
    look = board.model.requests[2][-1]
    assert "that is a riddle" in look and "forwarded words" not in look and "Lyon" not in look


async def test_each_of_many_messages_in_a_row_has_one_look_the_oldest_first_also_after_a_restart():
    board = board_with()
    for number in range(12):
        await tell(board, "message number %d" % number)
    asked, model = board.model.asked, board.model
    await read(board, 1)
    board.restart()
    board.learn(model, session_messages=12, extract_on=False)
    await read(board)
    looks = [request[-1].rpartition("</session>")[2] for request in model.requests[asked:]]
    shown = [[number for number in range(12) if "number %d<" % number in look] for look in looks]
    assert shown == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]


async def test_messages_that_were_read_for_facts_need_none():
    board = board_with(*["ok", "[]"] * 4, extract_on=True)
    await talk(board, 4)
    assert board.model.asked == 8


async def test_a_model_that_is_away_gets_them_later():
    board = board_with("a", "b", ModelError("the link is down"), "c", "NO_REPLY")
    await talk(board, 2)
    assert "messages wait: the link is down" in told(board)
    await talk(board, 1)
    assert "message number 0" in board.model.requests[4][-1]


async def test_looks_count_as_calls_of_the_day():
    board = board_with("a", "b", "NO_REPLY", "c", "d", extract_calls_a_day=1)
    await talk(board, 4)
    assert board.model.asked == 5 and "the day's calls or tokens are spent" in told(board)


async def test_a_look_sees_and_runs_no_tool_of_a_persons_own():
    ran, offered = [], []
    look = [lambda request: offered.extend([tool.name for tool in request.tools]), Call("1", "water", "{}")]
    board = board_with("a", "b", look, "NO_REPLY")
    board.toolbox.add(OwnTool(lambda: ran.append(1), "water", "Water the plants."))
    await talk(board, 2)
    assert "memory_store" in offered and "water" not in offered and ran == []


async def test_notes_are_kept_in_lightweight_mode_and_what_a_group_said_is_not():
    append = Call("1", "file_edit", '{"file":"MEMORY.md","text":"- the bike is green"}')
    profile = Call("2", "file_edit", '{"file":"user.md","text":"The bike is green"}')
    board = board_with("a", "b", [append, profile], "NO_REPLY", "c", "d", mode="lightweight")
    await talk(board, 2)
    await talk(board, 2, ROOM)
    assert "the bike is green" in board.notes.for_caller(OWNER).text("MEMORY.md") and board.model.asked == 6
    assert board.profile.for_caller(OWNER).text("user.md") == ""


async def test_a_full_memory_skips_it_and_says_so():
    board = board_with("a", "b")
    board.records._cap = 0
    await talk(board, 2)
    assert "memory has no room left" in told(board) and board.model.asked == 2
