"""Runs the companion's background tasks, and restarts failed ones with backoff; sets of short tasks, and events of waiters.

Tasks handle expected errors; any other one ends the task, is logged once per cause, and is shown
in /v1/health.
"""

import asyncio
import contextlib
import logging
import random
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Coroutine, Hashable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from engram_host.companion.errors import CompanionError
from engram_host.companion.logs import without_controls, without_secrets
from engram_host.sentences import SentenceTable

_log = logging.getLogger("engram.supervisor")

FAILURES = SentenceTable("task_failure")

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
    "habits",
    "http",
    "imports",
    "leases",
    "media",
    "merges",
    "mqtt",
    "replication",
)
"""Background tasks, see docs/design/companion.md; several may share a kind (`bridges matrix`)."""

FIRST_PAUSE = 0.25
LONGEST_PAUSE = 30.0
"""Limit in seconds of the backoff, which doubles with each failure."""

STEADY_SECONDS = 60.0
"""Run time after which a task counts as recovered, and its backoff starts over."""

_MOST_ERROR = 300

Work = Callable[[], Coroutine[Any, Any, None]]
Result = TypeVar("Result")
State = Literal["running", "restarting", "finished", "failed", "stopped"]


@dataclass(frozen=True)
class TaskStatus:
    """State of a task since a Unix time; `error` is its last failure."""

    name: str
    state: State
    since: int
    restarts: int
    error: str


class BackgroundTask:
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
        self._backoff = Backoff(FIRST_PAUSE, longest_pause)
        self._pause = 0.0
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
        return TaskStatus(self.name, self._state, int(self._since), self._restarts, self._error)

    @property
    def problem(self) -> str:
        if not self._failures or self._state in ("finished", "stopped"):
            return ""
        known = {"task": self.name, "error": self._error}
        if self._state == "failed":
            return FAILURES.say("ended", **known, failures=self._failures)
        if self._state == "restarting":
            return FAILURES.say("restarts", **known, seconds=f"{self._pause:.2g}", restarts=self._restarts)
        ran = time.monotonic() - self._began
        return "" if ran > STEADY_SECONDS else FAILURES.say("restarted", **known, seconds=f"{ran:.0f}")

    def start(self) -> None:
        self._timer = None
        self._began = time.monotonic()
        self._enter("running")
        self._task = asyncio.get_running_loop().create_task(self._work(), name=self.name)
        self._task.add_done_callback(self._on_end)

    async def stop(self) -> None:
        if self._task:
            self._is_stopping = True
            self._task.cancel()
        await self.finish()

    async def finish(self) -> None:
        self._is_stopping = True
        if self._timer:
            self._timer.cancel()
            self._enter("stopped")
        if self._task:
            await asyncio.wait([self._task])

    def _on_end(self, task: asyncio.Task[None]) -> None:
        # Reading the error here replaces a broad `except` in each task.
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
        # A finite task may run long and fail at its end each time.
        if not self._is_finite and time.monotonic() - self._began > STEADY_SECONDS:
            self._failures, self._logged = 0, ""
            self._backoff.reset()
        self._failures += 1
        self._pause = self._backoff.next()
        self._error = describe_error(error)
        self._on_failure(self.name)
        is_lost = self._most_failures is not None and self._failures >= self._most_failures
        self._enter("failed" if is_lost else "restarting")
        cause = type(error).__name__ + _raised_at(error)
        # Repeated equal errors must not fill the log.
        _log.log(logging.DEBUG if cause == self._logged else logging.ERROR, "%s", self.problem)
        _log.debug("how the background task %s failed:", self.name, exc_info=error)
        self._logged = cause
        if is_lost:
            self._on_lost()
        else:
            self._timer = asyncio.get_running_loop().call_later(self._pause, self._restart)

    def _restart(self) -> None:
        self._restarts += 1
        _log.info("the background task %s starts again", self.name)
        self.start()

    def _enter(self, state: State) -> None:
        self._state, self._since = state, time.time()


class Supervisor:
    def __init__(self, on_failure: Callable[[str], None] = lambda name: None):
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
        if self._tasks.get(task.name) is task:
            del self._tasks[task.name]

    def statuses(self) -> list[TaskStatus]:
        return [task.status for _, task in sorted(self._tasks.items())]

    def problems(self) -> list[str]:
        return [task.problem for _, task in sorted(self._tasks.items()) if task.problem]


class BackgroundPart:
    """A part of the companion with one background task, `_run`, from start() to stop()."""

    def __init__(self, supervisor: Supervisor, task: str, *, longest_pause: float = LONGEST_PAUSE):
        self._supervisor = supervisor
        self._task_name = task
        self._longest_pause = longest_pause
        self._task: BackgroundTask | None = None

    def start(self) -> None:
        self._task = self._supervisor.start(self._task_name, self._run, longest_pause=self._longest_pause)

    async def stop(self) -> None:
        if self._task:
            await self._task.stop()

    async def _run(self) -> None:
        raise NotImplementedError


class TaskSet:
    """Short tasks of one owner, up to `most` at once; unexpected errors are logged."""

    def __init__(self, name: str, most: int | None = None):
        self._name = name
        self._most = most
        self._tasks: set[asyncio.Task[Any]] = set()

    def begin(self, work: Coroutine[Any, Any, None]) -> bool:
        """Start work; False if there is no room for it."""
        if self._most is not None and len(self._tasks) >= self._most:
            work.close()
            return False
        self._add(work).add_done_callback(self._log_failure)
        return True

    async def complete(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Run work to its end even if the caller is cancelled."""
        task = self._add(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(self._log_failure)
            raise

    async def stop(self, seconds: float = 0.0) -> None:
        """Cancel what has not ended after some seconds."""
        if seconds and self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _add(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _log_failure(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled() and (error := task.exception()):
            _log.error("%s failed: %s", self._name, describe_error(error))


class Wakers:
    def __init__(self) -> None:
        self._waiting: dict[Hashable, set[asyncio.Event]] = defaultdict(set)

    @contextlib.contextmanager
    def waiting(self, key: Hashable) -> Iterator[asyncio.Event]:
        event = asyncio.Event()
        self._waiting[key].add(event)
        try:
            yield event
        finally:
            self._waiting[key].discard(event)
            if not self._waiting[key]:
                del self._waiting[key]

    def wake(self, key: Hashable) -> None:
        for event in self._waiting.get(key, ()):
            event.set()

    def wake_all(self) -> None:
        for key in self._waiting:
            self.wake(key)


async def wait_for_event(event: asyncio.Event, seconds: float) -> None:
    """Wait until an event is set or some seconds have passed, then clear it."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(max(seconds, 0)):
            await event.wait()
    event.clear()


@dataclass
class Backoff:
    """Pauses that double from `first` to `longest` seconds, each with up to half of it left out at random."""

    first: float
    longest: float
    pause: float = 0.0

    def next(self) -> float:
        pause = self.pause or self.first
        self.pause = min(self.longest, 2 * pause)
        return pause * random.uniform(0.5, 1)

    def reset(self) -> None:
        self.pause = 0.0


class _Ended(CompanionError):
    """A task ended without an error."""


def describe_error(error: BaseException) -> str:
    text = str(error).rstrip(".")
    if not isinstance(error, CompanionError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return without_controls(without_secrets(text))[:_MOST_ERROR] + _raised_at(error)


def _raised_at(error: BaseException) -> str:
    places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [place for place in places if "engram_host" in place[0]] or places
    return f" at {Path(own[-1][0]).name}:{own[-1][1]}" if own else ""
