"""Runs background requests to the model, one job at a time; a message preempts a job."""

import asyncio

from engram import diag
from engram.clock import Backoff, Timeout
from engram.compat import sleep_ms
from engram.errors import ArgumentError, EngramError, ModelError, ModelRefused
from engram.interrupt import start_task

_FIRST_PAUSE_MS = const(30_000)  # of a job that failed
_LONGEST_PAUSE_MS = const(3_600_000)
_ATTEMPTS = const(3)  # with which a model may give no answer that can be read, before it is asked no more
_UNREADABLE = const((400, 413, 422))  # the service refuses what is shown, not us
_LOOK_MS = const(250)  # between two looks whether there is something to do
_LONGEST_QUIET_MS = const(60_000)


class Jobs:
    """Background jobs that run after `quiet_ms` without messages, twice that after an interruption."""

    def __init__(self, jobs, quiet_ms: int, is_busy):
        self.jobs = jobs
        self._is_busy = is_busy
        self._shortest_ms = quiet_ms
        self._quiet_ms = quiet_ms
        self._quiet = Timeout()
        self._task = None
        self._is_broken_off = False

    def on_model_ok(self) -> None:
        """Retry jobs that wait for the model, as it has answered somebody."""
        for job in self.jobs:
            if job.pause.is_for_model:
                job.pause.end()

    def status_lines(self):
        for job in self.jobs:
            for line in job.status_lines():
                yield job.name, line

    def turn_over(self) -> None:
        self._quiet.begin(self._quiet_ms)

    async def preempt(self) -> None:
        """Cancel the running job, which starts over later."""
        if self._task and not self._is_broken_off:
            self._is_broken_off = True
            self._quiet_ms = min(2 * self._quiet_ms, _LONGEST_QUIET_MS)
            self._task.cancel()
        while self._task:
            await sleep_ms(0)

    async def run(self) -> None:
        while True:
            await sleep_ms(_LOOK_MS)
            if self._quiet.is_over and not self._is_busy():
                await self._work()

    async def _work(self) -> None:
        for job in self.jobs:
            if job.is_due():
                # In a task of its own: on MicroPython, one that goes on when it is cancelled within wait_for is cancelled
                # again.
                self._task = start_task(job.step)
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


# --- what jobs have in common


class Pause(Timeout):
    """A failed job's pause; `why` is the reason, or ""."""

    def __init__(self, name: str):
        super().__init__()
        self._name = name
        self._backoff = Backoff(_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS)
        self.is_for_model = False
        self.why = ""

    def fail(self, error) -> None:
        self.why = str(error)
        self.is_for_model = isinstance(error, ModelError)
        pause_ms = self._backoff.next_ms()
        self.begin(pause_ms)
        diag.info(self._name, "it waits %d s: %s" % (pause_ms // 1000, self.why))

    def end(self) -> None:
        """End the pause."""
        super().end()
        self._backoff.reset()
        self.why = ""


class Job:
    """A job that asks the model about one batch a step, and goes on without an answer after three attempts."""

    name = ""

    def __init__(self, cursor):
        self._cursor = cursor
        self.pause = Pause(self.name)
        self.refused = 0
        """Number of the model's proposals that were refused."""
        self._why_refused = ""  # the last one, without people's words
        self._attempts = 0

    async def step(self) -> None:
        try:
            await self._step()
            self._attempts = 0
            self.pause.end()
        except EngramError as error:
            self._cursor.save()  # what the call has cost
            self.pause.fail(error)

    async def _step(self) -> None:
        """Read one batch; EngramError."""
        raise NotImplementedError

    async def _answered(self, asking, batch: str) -> list:
        """Return the elements of the answer on a batch, [] after the last attempt; ArgumentError, ModelError."""
        try:
            return await asking
        except (ArgumentError, ModelRefused) as error:
            if isinstance(error, ModelRefused) and error.status not in _UNREADABLE:
                raise
            self._attempts += 1
            if self._attempts < _ATTEMPTS:
                raise
            self._refuse(batch + " passed over", str(error))
            return []

    def _refuse(self, what: str, problem: str) -> None:
        self._why_refused = "%s: %s" % (what, problem)
        self.refused += 1
        diag.info(self.name, "refused: " + self._why_refused)

    def refusal_lines(self):
        if self.refused:
            yield "%d proposals of the model were refused, the last one: %s" % (self.refused, self._why_refused)
