"""Runs the companion's background tasks: one that fails is started again, after pauses that grow.

    task = Supervisor().start("mqtt", self._listen)
    ...
    await task.stop()

A task handles the errors that it knows. Any other error ends it, and the supervisor, which reads how each task ended, logs
that once for each cause, shows it in /v1/health, and starts the task again.
"""

import asyncio
import logging
import time
import traceback
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from engram_host.companion.errors import CompanionError
from engram_host.companion.logs import without_controls, without_secrets
from engram_host.sentences import SentenceTable

_log = logging.getLogger("engram.supervisor")

FAILURES = SentenceTable(
    "task_failure",
    {
        "ended": "the background task {task} failed ({error}) {failures} times in a row and is not started again: restart the "
        "companion.",
        "restarts": "the background task {task} failed ({error}) and starts again within {seconds} s; restarts so far: "
        "{restarts}.",
        "restarted": "the background task {task} failed ({error}) and started again {seconds} s ago.",
    },
)

TASKS = (
    "alerts",
    "anomalies",
    "backup",
    "bridges",
    "checking",
    "conversations",
    "deliveries",
    "embedding",
    "expiry",
    "folders",
    "http",
    "imports",
    "leases",
    "media",
    "merges",
    "mqtt",
    "replication",
)
"""All background tasks by name; docs/design/companion.md says what each does. Of some there are several, such as `bridges
matrix` for a bridge: they count as one kind.
"""

FIRST_PAUSE = 0.25
LONGEST_PAUSE = 30.0
"""Seconds before a task that failed is started again; each failure doubles them."""

STEADY_SECONDS = 60.0
"""A task that has run for so long works again: its next pause is the first, and its next error is logged."""

_MOST_ERROR = 300
"""Characters of an error that are shown."""

Work = Callable[[], Coroutine[Any, Any, None]]
State = Literal["running", "restarting", "finished", "failed", "stopped"]


@dataclass(frozen=True)
class TaskStatus:
    """How a task stands: `since` is when its state began in Unix seconds, `error` what it failed with last."""

    name: str
    state: State
    since: int
    restarts: int
    error: str


class BackgroundTask:
    """A piece of work that runs beside all else until stop() or finish(), and again when it fails."""

    def __init__(
        self,
        name: str,
        work: Work,
        *,
        is_finite: bool,
        longest_pause: float,
        most_failures: int | None,
        on_failure: Callable[[str], None],
        on_lost: Callable[[], None],
    ):
        self.name = name
        self._work = work
        self._is_finite = is_finite
        self._longest_pause = longest_pause
        self._most_failures = most_failures
        self._on_failure = on_failure
        self._on_lost = on_lost
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_stopping = False
        self._state: State = "stopped"
        self._since = 0.0
        self._began = 0.0
        self._failures = 0
        self._restarts = 0
        self._error = ""
        self._logged = ""

    @property
    def status(self) -> TaskStatus:
        """How it stands now."""
        return TaskStatus(self.name, self._state, int(self._since), self._restarts, self._error)

    @property
    def problem(self) -> str:
        """The failure that it has not recovered from yet, as a sentence; "" if there is none."""
        if not self._failures or self._state in ("finished", "stopped"):
            return ""
        known = {"task": self.name, "error": self._error}
        if self._state == "failed":
            return FAILURES.say("ended", **known, failures=self._failures)
        if self._state == "restarting":
            return FAILURES.say("restarts", **known, seconds=f"{self._pause():g}", restarts=self._restarts)
        ran = time.monotonic() - self._began
        return "" if ran > STEADY_SECONDS else FAILURES.say("restarted", **known, seconds=f"{ran:.0f}")

    def start(self) -> None:
        """Begin the work."""
        self._timer = None
        self._began = time.monotonic()
        self._enter("running")
        self._task = asyncio.get_running_loop().create_task(self._work(), name=self.name)
        self._task.add_done_callback(self._on_end)

    async def stop(self) -> None:
        """Cancel the work, and wait for its end."""
        if self._task:
            self._is_stopping = True
            self._task.cancel()
        await self.finish()

    async def finish(self) -> None:
        """Wait for the work to end, which its owner has requested."""
        self._is_stopping = True
        if self._timer:
            self._timer.cancel()
            self._enter("stopped")
        if self._task:
            await asyncio.wait([self._task])

    def _on_end(self, task: asyncio.Task[None]) -> None:
        # Reading the error here, whatever it is, takes the place of a broad `except` in each task.
        error = None if task.cancelled() else task.exception()
        if self._is_stopping:
            self._enter("stopped")
            if error:
                _log.error("the background task %s failed when it was stopped: %s.", self.name, describe_error(error))
            return
        if self._is_finite and not error and not task.cancelled():
            self._enter("finished")
            return
        self._fail(error or _Ended("it was cancelled" if task.cancelled() else "it ended before its time"))

    def _fail(self, error: BaseException) -> None:
        while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]  # which a library wrapped
        # What is finite may take long and fail at its end each time.
        if not self._is_finite and time.monotonic() - self._began > STEADY_SECONDS:
            self._failures, self._logged = 0, ""
        self._failures += 1
        self._error = describe_error(error)
        self._on_failure(self.name)
        is_lost = self._most_failures is not None and self._failures >= self._most_failures
        self._enter("failed" if is_lost else "restarting")
        cause = type(error).__name__ + _raised_at(error)
        # One that fails again and again with the same error fills no log.
        _log.log(logging.DEBUG if cause == self._logged else logging.ERROR, "%s", self.problem)
        _log.debug("how the background task %s failed:", self.name, exc_info=error)
        self._logged = cause
        if is_lost:
            self._on_lost()
        else:
            self._timer = asyncio.get_running_loop().call_later(self._pause(), self._restart)

    def _restart(self) -> None:
        self._restarts += 1
        _log.info("the background task %s starts again", self.name)
        self.start()

    def _pause(self) -> float:
        return min(self._longest_pause, FIRST_PAUSE * 2 ** min(self._failures - 1, 16))

    def _enter(self, state: State) -> None:
        self._state, self._since = state, time.time()


class Supervisor:
    """Starts background tasks, and reports the state of each."""

    def __init__(self, on_failure: Callable[[str], None] = lambda name: None):
        """`on_failure(name)` is called each time that a task fails."""
        self._on_failure = on_failure
        self._tasks: dict[str, BackgroundTask] = {}

    def start(
        self,
        name: str,
        work: Work,
        *,
        is_finite: bool = False,
        longest_pause: float = LONGEST_PAUSE,
        most_failures: int | None = None,
        on_lost: Callable[[], None] = lambda: None,
    ) -> BackgroundTask:
        """Run work in the background; `name` is one of TASKS, and may have a word of its own behind it.

        Work that ends is started again, too, unless it `is_finite`. After so many failures in a row as `most_failures` it is
        started no more, and on_lost() is called.
        """
        kind = name.partition(" ")[0]
        assert kind in TASKS, name
        task = BackgroundTask(
            name,
            work,
            is_finite=is_finite,
            longest_pause=longest_pause,
            most_failures=most_failures,
            on_failure=lambda _: self._on_failure(kind),
            on_lost=on_lost,
        )
        self._tasks[name] = task
        task.start()
        return task

    def forget(self, task: BackgroundTask) -> None:
        """Show a task no more, which has stopped and does not come back."""
        if self._tasks.get(task.name) is task:
            del self._tasks[task.name]

    def statuses(self) -> list[TaskStatus]:
        """How each task stands, by name; from any thread."""
        return [task.status for _, task in sorted(self._tasks.items())]

    def problems(self) -> list[str]:
        """The failures that tasks have not recovered from yet, a sentence each."""
        return [task.problem for _, task in sorted(self._tasks.items()) if task.problem]


class _Ended(CompanionError):
    """A task ended without an error of its own."""


def describe_error(error: BaseException) -> str:
    """An error in some words for a person, with the place in this code where it was raised."""
    text = str(error).rstrip(".")
    if not isinstance(error, CompanionError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return without_controls(without_secrets(text))[:_MOST_ERROR] + _raised_at(error)


def _raised_at(error: BaseException) -> str:
    places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [place for place in places if "engram_host" in place[0]] or places
    return f" at {Path(own[-1][0]).name}:{own[-1][1]}" if own else ""
