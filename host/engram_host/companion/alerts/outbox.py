"""Outgoing alerts: a bounded queue with backoff for each address, and a cool-down for repeats."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from engram_host.bounded import BoundedDict
from engram_host.companion.supervisor import Backoff
from engram_host.sentences import SentenceTable

_log = logging.getLogger("engram.alerts")

ALERT_PROBLEMS = SentenceTable(
    "alert_problem",
    {
        "unreached": "alerts do not reach {address}: look at its address (`engram alert test`). Retrying.",
        "none_sent": "no alert is sent: {problem}",
    },
)

MOST_WAITING = 100  # alerts queued for one address; beyond it the oldest is dropped
FIRST_PAUSE = 15.0
LONGEST_PAUSE = 900.0  # backoff limit in seconds
OLDEST_SECONDS = 24 * 3600  # older alerts that could not be sent are dropped
MOST_REMEMBERED = 1000  # alerts and subjects that the cool-down remembers


@dataclass(frozen=True)
class Alert:
    """An alert; each `key` is sent once within the cool-down, each `subject` up to a limit."""

    key: str
    subject: str
    title: str
    text: str


class Address(Protocol):
    @property
    def name(self) -> str: ...

    async def send(self, title: str, text: str) -> bool: ...


class CoolDown:
    """Passes each key once within some seconds, and each subject `most` times."""

    def __init__(self, seconds: float, most: int, now: Callable[[], float] = time.monotonic):
        self._seconds = seconds
        self._most = most
        self._now = now
        self._passed: BoundedDict[str, float] = BoundedDict(MOST_REMEMBERED)
        self._counts: BoundedDict[str, tuple[float, int]] = BoundedDict(MOST_REMEMBERED)

    def admit(self, key: str, subject: str) -> int:
        now = self._now()
        began, count = self._counts.get(subject, (now, 0))
        if now - began >= self._seconds:
            began, count = now, 0
        if now - self._passed.get(key, -self._seconds) < self._seconds or count > self._most:
            return 0
        self._passed[key] = now
        self._counts[subject] = (began, count + 1)
        return count + 1


class _Queue:
    def __init__(self, address: Address):
        self.address = address
        self.waiting: deque[tuple[float, Alert]] = deque(maxlen=MOST_WAITING)
        self._backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        self._until = 0.0
        self.problem = ""

    @property
    def seconds_left(self) -> float:
        return max(self._until - time.monotonic(), 0.0) if self.waiting else float("inf")

    async def send(self) -> None:
        while self.waiting and not self.seconds_left:
            at, alert = self.waiting[0]
            if time.monotonic() - at > OLDEST_SECONDS:
                self.waiting.popleft()
                _log.warning("an alert was not sent within a day, and is dropped: %s", alert.title)
            elif await self.address.send(alert.title, alert.text):
                self._succeed(alert)
            else:
                self._fail()

    def _succeed(self, alert: Alert) -> None:
        if self.problem:
            _log.info("alerts reach %s again", self.address.name)
        self._backoff.reset()
        self.problem = ""
        if self.waiting and self.waiting[0][1] is alert:  # else it was pushed out meanwhile
            self.waiting.popleft()

    def _fail(self) -> None:
        self._until = time.monotonic() + self._backoff.next()
        if not self.problem:
            self.problem = ALERT_PROBLEMS.say("unreached", address=self.address.name)
            _log.warning("%s", self.problem)


class AlertOutbox:
    def __init__(self, addresses: Sequence[Address], cool_down: CoolDown, most: int):
        """`most` is the limit of one subject within the cool-down."""
        self._queues = [_Queue(address) for address in addresses]
        self._cool_down = cool_down
        self._most = most

    @property
    def problems(self) -> list[str]:
        return [queue.problem for queue in self._queues if queue.problem]

    @property
    def seconds_left(self) -> float:
        return min((queue.seconds_left for queue in self._queues), default=float("inf"))

    @property
    def has_told_all(self) -> bool:
        """True if at least one address has no alert waiting."""
        return any(not queue.waiting for queue in self._queues)

    def add(self, alert: Alert) -> None:
        """Queue an alert, unless the cool-down or its subject's limit stops it."""
        number = self._cool_down.admit(alert.key, alert.subject)
        if not number:
            return
        if number > self._most:
            text = f"{self._most} alerts on this were sent; more are left out for now. The last one: {alert.title}"
            alert = Alert(alert.key, alert.subject, f"{alert.subject}: more alerts are left out", text)
        for queue in self._queues:
            queue.waiting.append((time.monotonic(), alert))

    async def send(self) -> None:
        await asyncio.gather(*(queue.send() for queue in self._queues))
