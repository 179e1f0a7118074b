"""Ctrl-C as on a chip, a KeyboardInterrupt in whatever task runs: the app stops at once, and goes on when it is told to."""

import asyncio

from engram.app import App
from engram.interrupt import interruptible, start_task
from support import folder, let_others_run, raises


def endless(told):
    """A channel that never ends by itself."""

    async def run():
        told.append("runs")
        try:
            await asyncio.Event().wait()
        finally:
            told.append("ended")

    return run


def strike(*_):
    raise KeyboardInterrupt


def test_it_stops_when_ctrl_c_strikes_work_in_the_background_and_goes_on():
    app = App(folder())
    told = []
    app.add_channel("endless", endless(told))
    tick = app.board.eviction.tick
    for _ in range(2):
        app.board.eviction.tick = strike
        app.run()
        app.board.eviction.tick = tick
    assert told == ["runs", "ended"] * 2
    app.memory.store("The bike is green", ["bike"])
    assert app.board.records.entries.count() == 1


class Lost:
    """A task that asyncio has lost, as when Ctrl-C strikes asyncio itself."""

    is_cancelled = False

    def done(self):
        return False

    def cancel(self):
        self.is_cancelled = True


def test_a_task_that_does_not_end_is_left_behind():
    task = Lost()
    asyncio.run(App(folder())._cancel([task], most_ms=20))
    assert task.is_cancelled


def test_without_an_app_that_runs_ctrl_c_goes_its_way():
    async def main():
        with raises(KeyboardInterrupt):
            await interruptible(work)

    async def work():
        strike()

    asyncio.run(main())


def test_a_task_that_is_cancelled_before_it_begins_does_nothing():
    told = []

    async def work():
        told.append("begun")

    async def main():
        task = start_task(work)
        task.cancel()
        await let_others_run()
        assert task.done() and not told

    asyncio.run(main())
