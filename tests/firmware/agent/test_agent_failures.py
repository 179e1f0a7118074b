"""Whatever ends a turn, what came of the answer is kept and marked, and the next turn is answered."""

from engram.errors import ModelError, StoreError
from engram.llm.types import Call
from engram.memory.access import OWNER
from support import raises
from turns import Ear, kept, say, scripted

FAILURES = (
    ModelError("the link to x failed"),
    StoreError("the flash could not be read"),
)


async def test_a_failure_in_the_middle_keeps_what_came_and_marks_it():
    for failure in FAILURES:
        board = scripted(["Once upon", failure])
        outcome, _ = await say(board)
        assert (outcome.problem, outcome.reply) == (str(failure), "Once upon")
        board.restart()
        assert kept(board) == [("user", "hello", False), ("assistant", "Once upon", True)]


async def test_a_failure_after_a_tool_round_keeps_what_came_and_what_was_stored():
    call = Call("c1", "memory_store", '{"content":"The bike is green","tags":["bike"]}')
    for failure in FAILURES:
        board = scripted(["Let me see.", call], failure)
        outcome, _ = await say(board)
        assert outcome.problem == str(failure)
        assert board.records.count() == 1 and kept(board)[1] == ("assistant", "Let me see.", True)


async def test_a_channel_that_is_gone_loses_nothing_that_came():
    class Gone(Ear):
        async def text(self, piece):
            if self.heard:
                raise OSError(104)
            self.heard += piece

    board = scripted(["Once ", "upon"])
    with raises(OSError):
        await board.agent.turn(OWNER, "hello", Gone())
    assert kept(board)[1] == ("assistant", "Once upon", True)


async def test_a_reply_that_cannot_be_kept_ends_no_turn():
    board = scripted(["Hello.", lambda request: _break(board.journal)])
    outcome, _ = await say(board)
    assert outcome.reply == "Hello." and outcome.problem == ""


def _break(journal):
    def add(*arguments, **more):
        raise StoreError("the flash could not be written")

    journal.add = add
