"""Alerts: finds what is new, and sends it to addresses outside the companion, with retries and a cool-down.

Findings count as sent once keep() is called, across restarts; others are found again.
"""

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from engram_host.companion.alerts.apprise_address import URLS, read_addresses
from engram_host.companion.alerts.board_warnings import ROOM_AGAIN_PERCENT, flash_warning, is_nearly_full
from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.errors import SettingError, StoreUnavailable
from engram_host.companion.settings import AlertSettings
from engram_host.companion.store.boards.status import BoardStatusTable, percent
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.bridges.people import PeopleTable
from engram_host.companion.store.conversations.table import ConversationTable
from engram_host.companion.store.processes import Lease
from engram_host.companion.store.values import ValueTable
from engram_host.companion.supervisor import BackgroundTask, Backoff, Supervisor, wait_for_event
from engram_host.companion.types import BoundedDict
from engram_host.sentences import SentenceTable

_log = logging.getLogger("engram.alerts")

ALERT_PROBLEMS = SentenceTable("alert_problem")

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


NOTE = "alerts"  # note with the sent alerts
PUSHES_AT_ONCE = 50
PUSH_CHARACTERS = 500  # characters of a board's message in an alert
_CLOCK = "%Y-%m-%d %H:%M"


@dataclass(frozen=True)
class AlertSources:
    """Tables that a check reads; calls block."""

    boards: BoardTable
    conversations: ConversationTable
    people: PeopleTable
    status: BoardStatusTable
    values: ValueTable


class AlertWatch:
    def __init__(self, sources: AlertSources, settings: AlertSettings, started: int):
        """`started` is the time from which boards can be heard (Unix seconds): none is away before it."""
        self._sources = sources
        self._settings = settings
        self._started = started
        self._told: dict[str, Any] | None = None
        self._is_kept = True

    def look(self, now: int) -> list[Alert]:
        """Return new alerts; blocks some ms, may raise StoreUnavailable."""
        told = json.loads(json.dumps(self._told)) if self._told else self._load(now)
        alerts = [*self._boards(told, now), *self._flashes(told), *self._requests(told, now), *self._pushes(told)]
        if told != self._told:
            self._told, self._is_kept = told, False
        return alerts

    def keep(self) -> None:
        """Mark all findings as sent, for good; may raise StoreUnavailable."""
        if not self._is_kept:
            self._sources.values.put(NOTE, json.dumps(self._told))
            self._is_kept = True

    def _load(self, now: int) -> dict[str, Any]:
        """Load the sent alerts; at first, boards already away and earlier messages count as sent."""
        kept = self._sources.values.get(NOTE)
        if kept:
            return json.loads(kept)
        away = [name for name, heard in self._sources.boards.heard_times().items() if self._is_away(heard, now)]
        push = self._sources.conversations.newest_conversation()
        return {"away": dict.fromkeys(away, 0), "full": [], "push": push, "codes": []}

    def _is_away(self, heard: int, now: int) -> bool:
        return bool(self._settings.away_minutes) and now - heard >= self._settings.away_minutes * 60

    def _boards(self, told: dict[str, Any], now: int) -> Iterator[Alert]:
        away: dict[str, int] = told["away"]
        times = self._sources.boards.heard_times() if self._settings.away_minutes else {}
        for name, heard in times.items():
            if self._is_away(heard, now):
                if name not in away and now - self._started >= self._settings.away_minutes * 60:
                    away[name] = heard or now
                    text = f"{name} was heard last at {_clock(heard)}. Messages for it are kept until it is back."
                    yield Alert(f"away {name}", f"{name} away", f"{name} is away", text)
            elif since := away.pop(name, None):
                yield Alert(f"back {name}", f"{name} back", f"{name} is back", f"It was away since {_clock(since)}.")
        for name in away.keys() - times.keys():
            del away[name]  # a board that was erased

    def _flashes(self, told: dict[str, Any]) -> Iterator[Alert]:
        full: list[str] = told["full"]
        bound = self._settings.flash_percent
        uses = self._sources.status.flash_uses() if bound else {}
        for name, (used, size) in uses.items():
            part = percent(used, size)
            if name not in full and is_nearly_full(part, bound):
                full.append(name)
                yield Alert(f"full {name}", f"{name} flash", f"The flash of {name} is nearly full", flash_warning(part))
            elif name in full and not is_nearly_full(part, max(bound - ROOM_AGAIN_PERCENT, 1)):
                full.remove(name)
                text = f"{part} % of it are used."
                yield Alert(f"room {name}", f"{name} flash", f"The flash of {name} has room again", text)
        told["full"] = [name for name in full if name in uses]  # without boards that were erased

    def _requests(self, told: dict[str, Any], now: int) -> Iterator[Alert]:
        requests = self._sources.people.pairing_requests(now) if self._settings.pairing else []
        for each in requests:
            if each.code not in told["codes"]:
                who = f"{each.name} ({each.ref})" if each.name else each.ref
                text = f"{who} wants to talk. `engram people approve {each.code}` lets them in; the code is valid for an hour."
                yield Alert(f"code {each.code}", f"{each.network} codes", f"A new request on {each.network}", text)
        told["codes"] = [each.code for each in requests]

    def _pushes(self, told: dict[str, Any]) -> Iterator[Alert]:
        if not self._settings.pushes:
            told["push"] = self._sources.conversations.newest_conversation()
            return
        for number, device, said in self._sources.conversations.pushes_after(told["push"], PUSHES_AT_ONCE):
            told["push"] = number
            yield Alert(f"push {number}", f"{device} says", f"{device} says", said[:PUSH_CHARACTERS])


def _clock(seconds: int) -> str:
    return time.strftime(_CLOCK, time.localtime(seconds)) if seconds else "no time that is known"


TASK = "alerts"
LOOK_SECONDS = 15.0  # seconds between two checks; wake() triggers the next
SHORTEST_WAIT = 1.0  # seconds
MOST_OF_SUBJECT = 10  # alerts of one subject within the cool-down


class AlertService:
    def __init__(
        self,
        *,
        sources: AlertSources,
        settings: AlertSettings,
        secrets: SecretStore,
        supervisor: Supervisor,
        lease: Lease,
    ):
        self._sources = sources
        self._settings = settings
        self._secrets = secrets
        self._supervisor = supervisor
        self._lease = lease
        self._changed = asyncio.Event()
        self._reloading = asyncio.Lock()
        self._task: BackgroundTask | None = None
        self._outbox: AlertOutbox | None = None
        self._urls: str | None = None
        self._problem = ""

    def start(self) -> None:
        if self._settings.on and self._secrets.may_have(URLS, in_keyring=self._settings.keyring):
            self._task = self._supervisor.start(TASK, lambda: self._lease.run(self._run), is_finite=True)

    async def stop(self) -> None:
        if self._task:
            await self._task.stop()
            self._supervisor.forget(self._task)
        self._task = self._outbox = self._urls = None
        self._problem = ""
        self._lease.release()

    async def reload(self, settings: AlertSettings) -> None:
        """Apply new settings and addresses; alerts that no address has accepted are found again."""
        async with self._reloading:
            if settings == self._settings and await self._has_same_addresses():
                return
            await self.stop()
            self._settings = settings
            self.start()

    async def _has_same_addresses(self) -> bool:
        if self._outbox is None:
            return False
        try:
            return await asyncio.to_thread(self._find_urls) == self._urls
        except SettingError:
            return False  # the new start says so

    def flash_percent(self) -> int:
        """Bound from which a board's flash is nearly full; 0 disables the warning."""
        return self._settings.flash_percent

    def wake(self) -> None:
        self._changed.set()

    def problems(self) -> list[str]:
        return [*([self._problem] if self._problem else []), *(self._outbox.problems if self._outbox else [])]

    async def _run(self) -> None:
        try:
            self._urls = await asyncio.to_thread(self._find_urls)
            addresses = await asyncio.to_thread(read_addresses, self._urls)
        except SettingError as problem:
            self._problem = ALERT_PROBLEMS.say("none_sent", problem=str(problem))
            _log.warning("%s", self._problem)
            return
        if not addresses:
            return
        cool_down = CoolDown(self._settings.cooldown_minutes * 60, MOST_OF_SUBJECT)
        outbox = self._outbox = AlertOutbox(addresses, cool_down, MOST_OF_SUBJECT)
        watch = AlertWatch(self._sources, self._settings, int(time.time()))
        while True:
            try:
                for alert in await asyncio.to_thread(watch.look, int(time.time())):
                    outbox.add(alert)
            except StoreUnavailable as problem:
                _log.warning("no look for alerts: %s", problem, extra={"repeat": "alerts"})
            await outbox.send()
            try:
                if outbox.has_told_all:
                    await asyncio.to_thread(watch.keep)
            except StoreUnavailable as problem:
                _log.warning("sent alerts are not saved: %s", problem, extra={"repeat": "alerts"})
            await wait_for_event(self._changed, min(LOOK_SECONDS, max(outbox.seconds_left, SHORTEST_WAIT)))

    def _find_urls(self) -> str:
        return self._secrets.find(URLS, in_keyring=self._settings.keyring)
