"""A turn: what the person says is on flash first, the answer streams out and is kept; turns come one by one."""

import asyncio

from board import ROOM
from engram.errors import ArgumentError, ModelError
from engram.memory.access import OWNER
from support import let_others_run, raises, wait_until
from turns import Ear, kept, say, scripted


async def test_an_answer_streams_out_and_is_kept():
    board = scripted(["Good ", "morning."])
    outcome, ear = await say(board)
    assert (outcome.reply, outcome.problem, ear.heard) == ("Good morning.", "", "Good morning.")
    board.restart()
    assert kept(board) == [("user", "hello", False), ("assistant", "Good morning.", False)]


async def test_the_message_is_on_flash_before_the_model_is_asked():
    found = []
    board = scripted(lambda request: found.append(board.holds("zanzibar")))
    await say(board, "zanzibar")
    assert found == [True]


async def test_a_message_that_is_refused_is_not_answered():
    board = scripted()
    for content in ("", "x" * 15001):
        with raises(ArgumentError):
            await say(board, content)
    assert board.model.asked == 0 and board.journal.entries.count() == 0


async def test_an_empty_answer_is_reported_and_not_kept():
    board = scripted([])
    outcome, _ = await say(board)
    assert outcome.problem == "the model gave an empty answer; ask again."
    assert kept(board) == [("user", "hello", False)]


# --- several at once


async def test_turns_at_once_are_answered_one_after_the_other():
    class Patient(Ear):
        async def text(self, piece):
            await let_others_run()
            order.append(piece)

    order = []
    board = scripted(["a1", "a2"], ["b1", "b2"])
    tasks = [asyncio.create_task(board.agent.turn(caller, "hi", Patient())) for caller in (OWNER, ROOM)]
    for task in tasks:
        await task
    assert order == ["a1", "a2", "b1", "b2"]
    assert kept(board, ROOM)[1] == ("assistant", "b1b2", False)


class _Slow(Ear):
    """Somebody whom four turns wait for, until they may go on."""

    def __init__(self):
        super().__init__()
        self.answered, self.may_go_on = [], asyncio.Event()

    async def text(self, piece):
        self.answered.append(piece)
        await self.may_go_on.wait()

    async def begin(self, board):
        """Say four things at once."""
        self.tasks = [asyncio.create_task(board.agent.turn(OWNER, f"hi {number}", self)) for number in range(4)]
        await wait_until("the first answer, while the others wait", lambda: self.answered)

    async def end(self):
        self.may_go_on.set()
        for task in self.tasks:
            await task


async def test_too_many_at_once_are_refused():
    board, slow = scripted(), _Slow()
    await slow.begin(board)
    with raises(ModelError) as caught:
        await say(board, "one more")
    assert "too many messages are waiting" in str(caught.error)
    await slow.end()
    outcome, _ = await say(board, "now")
    assert outcome.problem == "" and len(kept(board)) == 10


async def test_a_channel_with_one_message_at_a_time_waits_however_many_do():
    board, slow = scripted(), _Slow()
    await slow.begin(board)
    patient = Ear()
    patient.may_exceed_queue = True
    task = asyncio.create_task(board.agent.turn(OWNER, "last", patient))
    await slow.end()
    assert (await task).problem == ""
    assert [text for role, text, _ in kept(board) if role == "user"][-1] == "last"
