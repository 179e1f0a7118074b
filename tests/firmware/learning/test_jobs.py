"""Jobs in the background wait for quiet, and give way to whoever says something."""

import asyncio

from board import DAY, Board, Script, say
from engram import text
from engram.learning.jobs import Jobs
from engram.memory.access import OWNER
from learners import add, contents, facts, learner, read, tell
from support import wait_until

SISTER = "The user's sister Anna lives in Bonn"


class Job:
    """A job that takes as long as the test wants."""

    def __init__(self):
        self.order = []
        self.release = asyncio.Event()

    def is_due(self):
        return "done" not in self.order

    async def step(self):
        self.order.append("begins")
        try:
            await self.release.wait()
            self.order.append("done")
        finally:
            self.order.append("ends")


async def running(job, is_busy=lambda: False, quiet_ms=0):
    background = Jobs((job,), quiet_ms, is_busy)
    return background, asyncio.create_task(background.run())


async def test_nothing_begins_while_a_message_is_answered():
    job, looks = Job(), []

    def is_busy():
        looks.append(1)
        return True

    _, task = await running(job, is_busy)
    await wait_until("the third look", lambda: len(looks) == 3)
    assert job.order == []
    task.cancel()


async def test_it_gives_way_at_once_and_goes_on_later():
    job = Job()
    background, task = await running(job)
    await wait_until("the job's begin", lambda: job.order == ["begins"])
    await background.preempt()
    assert job.order == ["begins", "ends"]
    job.release.set()
    await wait_until("its second end", lambda: job.order == ["begins", "ends", "begins", "done", "ends"])
    task.cancel()


async def test_ending_it_ends_the_job():
    job = Job()
    _, task = await running(job)
    await wait_until("the job's begin", lambda: job.order == ["begins"])
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        job.order.append("cancelled")
    assert job.order == ["begins", "ends", "cancelled"]


async def test_a_message_breaks_the_reading_off_and_is_answered_first():
    order = []

    board = learner("nice", "second", facts(add("t3", SISTER), add("t5", "The user's bike is green")))
    asked = board.model.stream

    async def stream(request, on_text, on_retry=None):
        if not request.tools and order == []:
            order.append("facts asked for")
            await asyncio.Event().wait()
        order.append("reply" if request.tools else "facts")
        return await asked(request, on_text)

    board.model.stream = stream
    task = asyncio.create_task(board.jobs.run())
    await tell(board, "my sister Anna lives in Bonn")
    order.clear()
    await wait_until("the reading", lambda: order == ["facts asked for"])
    await tell(board, "my bike is green")
    assert order == ["facts asked for", "reply"]
    await wait_until("the end of the reading", lambda: not board.learning_cursor.behind)
    task.cancel()
    assert order == ["facts asked for", "reply", "facts"] and len(contents(board)) == 2


class _Scale(Script):
    """A model that finds nothing; `sizes` has the tokens of each prompt, and of its reply."""

    def __init__(self):
        super().__init__()
        self.sizes = []

    async def stream(self, request, on_text, on_retry=None):
        self.steps = ["[]"]
        reply = await super().stream(request, on_text)
        texts = self.requests.pop()
        self.sizes.append((sum([text.tokens(each) + 4 for each in texts]), request.max_tokens))
        return reply


async def test_no_call_of_learning_is_larger_than_the_window():
    for window, percent, words in ((2048, 100, "自行车很好"), (4096, 150, "велосипед ")):
        model = _Scale()
        board = Board().learn(model, extract_on=True, llm_context_tokens=window, session_messages=20)
        board.prompts.percent = percent
        for number in range(10):
            board.remember(words * 30 + str(number), ["tag-%d" % number])
        for count in (300, 40, 3) + (5,) * 24:
            say(board, words * 60, "assistant")
            say(board, words * count)
        board.notes.for_caller(OWNER).note(words * 300)
        board.notes.for_caller(OWNER).note(words * 5)
        board.now += DAY
        board.distillation.ask("owner", True)
        await read(board, 60)
        assert not board.learning_cursor.behind and not board.note_retention.waiting() and len(model.sizes) > 6
        largest = max([tokens * percent // 100 + reply for tokens, reply in model.sizes])
        assert window * 3 // 5 < largest <= window, (window, words, largest)
