"""Background tasks of a companion's bridges, and their status.

Errors that a person has to fix stop a bridge; any other error is retried with backoff up to a minute. One process runs
a bridge, the holder of its lease: a network accepts one connection of an account.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.bridge_settings import BridgeSettings
from engram_host.companion.bridges.errors import BridgeError, BridgeUnavailable, NetworkAway, SignInRefused
from engram_host.companion.bridges.kinds import (
    KINDS,
    check_bridge,
    complete_values,
    load_network,
    make_network,
    redact_values,
)
from engram_host.companion.bridges.network import BridgeHost, BridgeWatch, Network
from engram_host.companion.errors import CompanionError, SettingError, StoreUnavailable
from engram_host.companion.store.processes import Lease
from engram_host.companion.supervisor import BackgroundTask, Backoff, Supervisor, describe_error
from engram_host.sentences import SentenceTable

_log = logging.getLogger("engram.bridges")

BRIDGE_PROBLEMS = SentenceTable("bridge_problem")

TASK = "bridges"
LEASE = "bridge {}"

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
STEADY_SECONDS = 60.0
STOP_SECONDS = 5.0

_sleep = asyncio.sleep

# away: will be retried; stopped: a person has to act; elsewhere: another process has the lease.
BridgeState = Literal["starting", "connected", "away", "stopped", "off", "elsewhere"]

# A message received, a message sent, or a connection that ended.
Counted = Literal["in", "out", "failure"]


class Engine(Protocol):
    """The engine, as bridges see it."""

    async def forget(self, bridge: str) -> None:
        """Remove all data of a former bridge; may raise StoreUnavailable."""
        ...

    def attach(self, bridge: BridgeSettings, network: Network, watch: BridgeWatch) -> BridgeHost:
        """Connect a bridge's network to the engine, and return its host."""
        ...

    async def detach(self, bridge: str) -> None:
        """Refuse all that the bridge's host is still given."""
        ...


@dataclass(frozen=True)
class BridgeStatus:
    """A bridge's status; `since` and the last activity are Unix seconds, 0 for never."""

    name: str
    network: str
    state: BridgeState
    since: int
    reason: str = ""
    account: str = ""
    starts: int = 0
    received: int = 0
    sent: int = 0
    heard: int = 0

    @property
    def problem(self) -> str:
        if self.state == "stopped":
            return BRIDGE_PROBLEMS.say("stopped", bridge=self.name, reason=self.reason)
        if self.state == "away":
            minutes = int(time.time() - self.since) // 60
            if minutes:
                return BRIDGE_PROBLEMS.say("away_long", bridge=self.name, minutes=minutes, reason=self.reason)
            return BRIDGE_PROBLEMS.say("away", bridge=self.name, reason=self.reason)
        return ""


class RunningBridge:
    """A bridge that runs until cancelled, or until a person has to act."""

    def __init__(
        self,
        settings: BridgeSettings,
        values: Callable[[], Mapping[str, str]],
        engine: Engine,
        count: Callable[[Counted], None],
    ):
        """`values()` blocks and may raise SettingError; `count` is called for each message and failure."""
        self.settings = settings
        self.status = BridgeStatus(settings.name, settings.network, "starting", int(time.time()))
        self._values = values
        self._engine = engine
        self._count = count
        self._logged = ""
        self._connected_at = 0.0
        self._left: asyncio.Task[None] | None = None

    async def run(self) -> None:
        backoff = Backoff(FIRST_PAUSE, LONGEST_PAUSE)
        while True:
            values: Mapping[str, str] = {}
            self._connected_at = 0.0
            try:
                values = await asyncio.to_thread(self._values)
                await self._connect(values)
            except (SignInRefused, BridgeUnavailable, SettingError) as problem:
                self._fail("stopped", self._sentence(problem, values))
                return
            # A library may raise whatever it likes: no bridge takes down another.
            except Exception as error:  # noqa: BLE001
                self._fail("away", self._sentence(error, values))
            if self._connected_at and time.monotonic() - self._connected_at >= STEADY_SECONDS:
                backoff.reset()
            await _sleep(backoff.next())

    # --- for the engine

    def note_connected(self, account: str) -> None:
        if self.status.state != "connected":
            self._update(state="connected", since=int(time.time()), reason="")
            _log.info("the bridge %s is connected as %s", self.settings.name, account)
        self._connected_at = self._connected_at or time.monotonic()
        self._update(account=account, heard=int(time.time()))
        self._logged = ""

    def note_received(self) -> None:
        self._update(received=self.status.received + 1, heard=int(time.time()))
        self._count("in")

    def note_sent(self) -> None:
        self._update(sent=self.status.sent + 1)
        self._count("out")

    # --- the connection

    async def _connect(self, values: Mapping[str, str]) -> None:
        if self._left and not self._left.done():
            raise NetworkAway("its former connection does not end; restart the companion if that lasts.")
        name, kind = self.settings.name, self.settings.network
        await asyncio.to_thread(load_network, kind)
        network = make_network(kind, values)
        host = self._engine.attach(self.settings, network, self)
        self._update(starts=self.status.starts + 1)
        # A separate task, so that a library that cancels its task does not cancel this one.
        task = asyncio.get_running_loop().create_task(_run_network(network, host), name=f"bridges {name} connection")
        try:
            await asyncio.wait([task])
        finally:
            await self._engine.detach(name)
            await self._end(task)
        if task.cancelled():
            raise NetworkAway("its connection was cancelled.")
        raise task.exception() or NetworkAway("its connection ended.")

    async def _end(self, task: asyncio.Task[None]) -> None:
        task.cancel()
        _, left = await asyncio.wait([task], timeout=STOP_SECONDS)
        if left:
            self._left = task
            task.add_done_callback(_forget_outcome)
            _log.error("the connection of the bridge %s does not end: no longer waiting for it", self.settings.name)

    def _fail(self, state: BridgeState, reason: str) -> None:
        self._count("failure")
        if self.status.state != state:
            self._update(state=state, since=int(time.time()))
        self._update(reason=reason)
        # A repeated failure is logged once.
        level = logging.DEBUG if reason == self._logged else logging.WARNING
        _log.log(level, "%s", self.status.problem)
        self._logged = reason

    def _sentence(self, error: BaseException, values: Mapping[str, str]) -> str:
        text = str(error) if isinstance(error, (BridgeError, SettingError)) else describe_error(error)
        text = redact_values(" ".join(text.split()), KINDS[self.settings.network], values)
        return text if text.endswith((".", "!", "?")) else f"{text}."

    def _update(self, **changed: str | int) -> None:
        self.status = replace(self.status, **changed)  # pyright: ignore[reportArgumentType]


async def _run_network(network: Network, host: BridgeHost) -> None:
    try:
        await network.run(host)
    except SystemExit as error:  # asyncio would end the whole companion with it
        raise NetworkAway(f"its library wanted to end the program ({error}).") from None


def _forget_outcome(task: asyncio.Task[None]) -> None:
    if not task.cancelled():
        task.exception()


class BridgeRunner:
    def __init__(
        self,
        bridges: Sequence[BridgeSettings],
        secrets: SecretStore,
        engine: Engine,
        supervisor: Supervisor,
        lease_of: Callable[[str], Lease],
        count: Callable[[Counted], None] = lambda what: None,
    ):
        """`count` is called for each message and failure. Raise SettingError for invalid settings."""
        self.check(bridges)
        self._lease_of = lease_of
        self._secrets = secrets
        self._engine = engine
        self._supervisor = supervisor
        self._count = count
        self._wanted = {each.name: each for each in bridges}
        self._running: dict[str, tuple[RunningBridge, BackgroundTask, object]] = {}
        self._watch: BackgroundTask | None = None
        self._changing = asyncio.Lock()
        self._named = set(self._wanted)
        self._began = int(time.time())

    def start(self) -> None:
        if self._wanted and not self._watch:
            self._watch = self._supervisor.start(TASK, self._run)

    async def stop(self) -> None:
        if self._watch:
            await self._watch.stop()
            self._watch = None
        async with self._changing:
            await asyncio.gather(*(self._stop_bridge(name) for name in list(self._running)))

    async def reload(self, bridges: Sequence[BridgeSettings]) -> None:
        """Apply new settings: unchanged bridges go on. SettingError changes nothing."""
        self.check(bridges)
        self._wanted = {each.name: each for each in bridges}
        self.start()
        await self._apply()

    @staticmethod
    def check(bridges: Sequence[BridgeSettings]) -> None:
        for each in bridges:
            check_bridge(each)

    def statuses_of_board(self, device: str) -> list[BridgeStatus]:
        reach = {
            name for name, each in self._wanted.items() if each.is_on and (not each.boards or device in each.boards)
        }
        return [status for status in self._statuses() if status.name in reach]

    def statuses(self) -> list[BridgeStatus]:
        return list(self._statuses())

    def problems(self) -> list[str]:
        return [status.problem for status in self._statuses() if status.problem]

    def _statuses(self) -> Iterator[BridgeStatus]:
        for name, settings in sorted(self._wanted.items()):
            if name in self._running and self._lease_of(LEASE.format(name)).is_held:
                yield self._running[name][0].status
            else:
                state = "elsewhere" if name in self._running else "starting" if settings.is_on else "off"
                yield BridgeStatus(name, settings.network, state, self._began)

    async def _run(self) -> None:
        await self._apply()
        await asyncio.get_running_loop().create_future()  # until it is cancelled

    async def _apply(self) -> None:
        async with self._changing:
            wanted = {name: each for name, each in self._wanted.items() if each.is_on}
            states = {name: await asyncio.to_thread(self._fingerprint, each) for name, each in wanted.items()}
            old = [
                name for name, (bridge, _, state) in self._running.items() if not self._may_stay(bridge, state, states)
            ]
            await asyncio.gather(*(self._stop_bridge(name) for name in old))
            await self._forget_gone()
            for name in wanted.keys() - self._running.keys():
                self._start_bridge(wanted[name], states[name])

    async def _forget_gone(self) -> None:
        """Remove the data of former bridges; unknown ones may be another companion's."""
        for name in sorted(self._named - self._wanted.keys()):
            try:
                await self._engine.forget(name)
                self._named.discard(name)
            except StoreUnavailable as problem:
                _log.warning("what is kept of the bridge %s is removed later: %s", name, problem)
        self._named |= self._wanted.keys()

    def _may_stay(self, bridge: RunningBridge, state: object, states: Mapping[str, object]) -> bool:
        return states.get(bridge.settings.name) == state and bridge.status.state != "stopped"

    def _fingerprint(self, settings: BridgeSettings) -> object:
        values: object = None
        with contextlib.suppress(CompanionError):  # the bridge says what is wrong with them
            values = complete_values(settings, self._secrets)
        return settings, values

    def _start_bridge(self, settings: BridgeSettings, state: object) -> None:
        bridge = RunningBridge(settings, lambda: complete_values(settings, self._secrets), self._engine, self._count)
        lease = self._lease_of(LEASE.format(settings.name))
        task = self._supervisor.start(f"{TASK} {settings.name}", lambda: lease.run(bridge.run), is_finite=True)
        self._running[settings.name] = bridge, task, state

    async def _stop_bridge(self, name: str) -> None:
        _, task, _ = self._running.pop(name)
        await task.stop()
        self._lease_of(LEASE.format(name)).release()
        self._supervisor.forget(task)
