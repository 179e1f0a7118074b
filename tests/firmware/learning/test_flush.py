"""The flush: turns that are about to leave the window unread have a last look, in which the model keeps what should last."""

from engram.agent.agent import Origin
from engram.errors import ModelUnavailable
from engram.llm.types import Call
from engram.memory.access import OWNER
from engram.tools.own_tool import OwnTool
from learners import contents, learner, read, tell, told
from turns import Ear

STORE = Call("1", "memory_store", '{"content":"The bike is green","tags":["bike"]}')


def board_with(*steps, **settings):
    """A board whose window has four turns and whose facts are not read by themselves."""
    return learner(*steps, session_messages=4, extract_on=settings.pop("extract_on", False), **settings)


async def talk(board, count, caller=OWNER):
    """So many turns, each with what follows it."""
    for number in range(count):
        await tell(board, "message number %d" % number, caller)
        await read(board)


async def test_turns_have_a_last_look_before_they_leave():
    board = board_with("a", "b", "NO_REPLY", "c")
    await talk(board, 3)
    look, answer = board.model.requests[2:4]
    assert "message number 0" in look[-3] and "NO_REPLY" in look[-1]
    assert "message number 0" not in answer


async def test_the_model_keeps_what_should_last_and_nobody_hears_of_it():
    board = board_with("a", "b", [STORE], "NO_REPLY", "c")
    await talk(board, 2)
    assert contents(board) == ["The bike is green"]
    assert [turn["text"] for turn in board.journal.later(0)] == ["message number 0", "a", "message number 1", "b"]


async def test_others_words_and_the_replies_to_them_have_no_last_look():
    board = board_with("a", "b", "c", "NO_REPLY")
    for number, forwarded in enumerate(("Bob", "", "")):
        words = Origin(forwarded)
        await board.agent.turn(OWNER, "message number %d" % number, Ear(), words)
        await read(board)
    (look,) = [request for request in board.model.requests if "NO_REPLY" in request[-1]]
    assert "message number 1" in look and not any("message number 0" in text for text in look)
    assert "a" not in look and "b" in look


async def test_what_messages_answer_is_no_part_of_a_last_look():
    board = board_with("a", "b", "NO_REPLY", "c")
    await board.agent.turn(OWNER, "that is funny", Ear(), Origin(quoted="I live in Lyon"))
    await read(board)
    await talk(board, 2)
    answered, look = board.model.requests[1:3]
    assert any("I live in Lyon" in text for text in answered)
    assert any("that is funny" in text for text in look) and not any("I live in Lyon" in text for text in look)


async def looks_after_messages_in_a_row(count):
    """The messages that the looks after so many messages without a pause show, look by look."""
    board = learner(session_messages=6, extract_on=False)
    for number in range(count):
        await tell(board, "message number %d" % number)
    asked = board.model.asked
    await read(board)
    shown = []
    for request in board.model.requests[asked:]:
        shown.append([text[15:] for text in request if text.startswith("message number ")])
    await read(board)
    assert len(board.model.requests) == asked + len(shown), "a look is repeated"
    return shown


async def test_each_of_twelve_messages_in_a_row_that_leaves_has_its_look_the_oldest_first():
    assert await looks_after_messages_in_a_row(12) == [["0", "1", "2"], ["3", "4", "5"], ["6", "7", "8"], ["9"]]


async def test_turns_have_it_once_although_the_power_goes():
    board = board_with("a", "b", "NO_REPLY")
    await talk(board, 2)
    model = board.model
    board.restart()
    board.learn(model, session_messages=4, extract_on=False)
    board.jobs.jobs[1].turn_over(OWNER, board.journal.current(OWNER))
    await read(board)
    assert model.asked == 3


async def test_turns_that_were_read_for_facts_need_none():
    board = board_with(*["ok", "[]"] * 4, extract_on=True)
    await talk(board, 4)
    assert board.model.asked == 8


async def test_a_model_that_is_away_gets_them_later():
    board = board_with("a", "b", ModelUnavailable("the link is down"), "c", "NO_REPLY", "NO_REPLY")
    await talk(board, 2)
    assert "it waits: the link is down" in told(board)
    await talk(board, 1)
    assert "message number 0" in "".join(board.model.requests[4])


async def test_a_look_sees_and_runs_no_tool_of_a_persons_own():
    ran, offered = [], []
    look = [lambda request: offered.extend([tool.name for tool in request.tools]), Call("1", "water", "{}")]
    board = board_with("a", "b", look, "NO_REPLY")
    board.toolbox.add(OwnTool(lambda: ran.append(1), "water", "Water the plants."))
    await talk(board, 2)
    assert "memory_store" in offered and "water" not in offered and ran == []


async def test_notes_are_kept_in_lightweight_mode():
    append = Call("1", "file_append", '{"file":"MEMORY.md","text":"- the bike is green"}')
    board = board_with("a", "b", [append], "NO_REPLY", mode="lightweight")
    await talk(board, 2)
    assert "the bike is green" in board.notes.for_caller(OWNER).text("MEMORY.md")


async def test_a_full_memory_skips_it_and_says_so():
    board = board_with("a", "b")
    board.records._cap = 0
    await talk(board, 2)
    assert "memory has no room left" in told(board) and board.model.asked == 2
