"""Runs requests to the model in the background, one job at a time. A message preempts a job."""

import asyncio

from engram.compat import const, sleep_ms
from engram.interrupt import interruptible
from engram.lazy import lazy
from engram.learning.backoff import Timeout

_LOOK_MS = const(250)  # between two looks whether there is something to do
_LONGEST_QUIET_MS = const(60_000)


class Jobs:
    """Runs jobs, each with is_due() and step(), once nobody has said anything for `quiet_ms`.

    `is_busy()` tells whether a message is being answered. After a job was broken off the quiet has to last twice as long, so
    that a lively talk does not pay for one broken call after the other.
    """

    def __init__(self, jobs, quiet_ms: int, is_busy):
        self.jobs = jobs
        self._is_busy = is_busy
        self._shortest_ms = quiet_ms
        self._quiet_ms = quiet_ms
        self._quiet = Timeout()
        self._task = None
        self._is_broken_off = False

    def on_model_ok(self) -> None:
        """The model has answered somebody."""
        for job in self.jobs:
            job.on_model_ok()

    def status_lines(self):
        """Yield (name, line) on how the jobs go, for /stats."""
        for job in self.jobs:
            for line in job.status_lines():
                yield job.name, line

    def turn_over(self) -> None:
        """A message was answered."""
        self._quiet.begin(self._quiet_ms)

    async def preempt(self) -> None:
        """Break off the job that is under way; it is done again later."""
        if self._task and not self._is_broken_off:
            self._is_broken_off = True
            self._quiet_ms = min(2 * self._quiet_ms, _LONGEST_QUIET_MS)
            self._task.cancel()
        while self._task:
            await sleep_ms(0)

    async def run(self) -> None:
        """Do what is to be done, for ever."""
        while True:
            await sleep_ms(_LOOK_MS)
            if self._quiet.is_over and not self._is_busy():
                await self._work()

    async def _work(self) -> None:
        for job in self.jobs:
            if job.is_due():
                # In a task of its own: on MicroPython, one that is cancelled within wait_for and goes on is cancelled again.
                self._task = asyncio.create_task(interruptible(job.step()))
                with lazy("learning", "agent", "llm.answering", "text.phrases", "text.secrets"):
                    await self._finish(self._task)
                return

    async def _finish(self, task) -> None:
        try:
            await task
            self._quiet_ms = self._shortest_ms
        except asyncio.CancelledError:
            if not self._is_broken_off:
                raise
        finally:
            self._task = None
            self._is_broken_off = False
