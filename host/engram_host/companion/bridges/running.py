"""One running bridge: reconnects its network, and keeps its status.

Errors that a person has to fix stop it; any other error is retried with backoff up to a minute.
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from engram_host.companion.bridge_settings import BridgeSettings
from engram_host.companion.bridges.configured import account_of, redact_values
from engram_host.companion.bridges.counted import Counted, CountedHost, CountedNetwork, Traffic
from engram_host.companion.bridges.errors import BridgeError, BridgeUnavailable, NetworkAway, SignInRefused
from engram_host.companion.bridges.kinds import KINDS, load_network, make_network
from engram_host.companion.bridges.network import BridgeHost, Network
from engram_host.companion.errors import SettingError
from engram_host.companion.supervisor import describe_error
from engram_host.sentences import SentenceTable

_log = logging.getLogger("engram.bridges")

BRIDGE_PROBLEMS = SentenceTable(
    "bridge_problem",
    {
        "stopped": "the bridge {bridge} does not run: {reason} `engram bridge reload` starts it again.",
        "away": "the bridge {bridge} is away, and tried again: {reason}",
        "away_long": "the bridge {bridge} is away for {minutes} min, and tried again: {reason}",
    },
)

FIRST_PAUSE = 1.0
# Backoff limit in seconds; up to half of a pause is left out at random to spread reconnections.
LONGEST_PAUSE = 60.0
STEADY_SECONDS = 60.0
STOP_SECONDS = 5.0

_sleep = asyncio.sleep

# away: will be retried; stopped: a person has to act; elsewhere: another process has the lease.
BridgeState = Literal["starting", "connected", "away", "stopped", "off", "elsewhere"]


class Engine(Protocol):
    async def claim(self, bridge: str, account: str) -> None:
        """Bind a bridge to an account and remove data of a former one; may raise StoreUnavailable."""
        ...

    async def forget(self, bridge: str) -> None:
        """Remove all data of a former bridge; may raise StoreUnavailable."""
        ...

    def attach(self, bridge: str, kind: str, network: Network, boards: Sequence[str] = ()) -> BridgeHost:
        """Connect a bridge's network to the engine, and return its host; it reaches all boards if none are named."""
        ...

    async def detach(self, bridge: str) -> None: ...


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
        self._values = values
        self._engine = engine
        self._traffic = Traffic(count)
        self._count = count
        self._state: BridgeState = "starting"
        self._since = time.time()
        self._reason = self._logged = ""
        self._account = ""
        self._starts = 0
        self._connected_at = 0.0
        self._left: asyncio.Task[None] | None = None

    @property
    def status(self) -> BridgeStatus:
        settings, traffic = self.settings, self._traffic
        shown = self._state, int(self._since), self._reason, self._account, self._starts
        return BridgeStatus(settings.name, settings.network, *shown, traffic.received, traffic.sent, int(traffic.heard))

    async def run(self) -> None:
        pause = FIRST_PAUSE
        while True:
            values: Mapping[str, str] = {}
            self._connected_at = 0.0
            try:
                values = await asyncio.to_thread(self._values)
                await self._connect(values)
            except (SignInRefused, BridgeUnavailable, SettingError) as problem:
                self._fail("stopped", self._sentence(problem, values))
                return
            except Exception as error:  # noqa: BLE001 - a library may raise whatever it likes: no bridge takes down another
                self._fail("away", self._sentence(error, values))
            if self._connected_at and time.monotonic() - self._connected_at >= STEADY_SECONDS:
                pause = FIRST_PAUSE
            await _sleep(pause * random.uniform(0.5, 1))
            pause = min(LONGEST_PAUSE, pause * 2)

    async def _connect(self, values: Mapping[str, str]) -> None:
        if self._left and not self._left.done():
            raise NetworkAway("its former connection does not end; restart the companion if that lasts.")
        name, kind = self.settings.name, self.settings.network
        await asyncio.to_thread(load_network, kind)
        network = make_network(kind, values)
        await self._engine.claim(name, account_of(self.settings))
        counted = CountedNetwork(network, self._traffic)
        host = CountedHost(self._engine.attach(name, kind, counted, self.settings.boards), self._traffic)
        host.on_connected = self._on_connected
        self._starts += 1
        # A separate task, so that a library that cancels its task does not cancel this one.
        task = asyncio.get_running_loop().create_task(_run_network(network, host), name=f"bridges {name} connection")
        try:
            await asyncio.wait([task])
        finally:
            host.end()
            await self._end(task)
            await self._engine.detach(name)
        if task.cancelled():
            raise NetworkAway("its connection was cancelled.")
        raise task.exception() or NetworkAway("its connection ended.")

    async def _end(self, task: asyncio.Task[None]) -> None:
        task.cancel()
        _, left = await asyncio.wait([task], timeout=STOP_SECONDS)
        if left:
            self._left = task
            task.add_done_callback(_forget_outcome)
            _log.error(
                "the connection of the bridge %s does not end: nobody waits for it any more.", self.settings.name
            )

    def _on_connected(self, account: str) -> None:
        if self._state != "connected":
            self._enter("connected", "")
            _log.info("the bridge %s is connected as %s", self.settings.name, account)
        self._connected_at = self._connected_at or time.monotonic()
        self._account, self._logged = account, ""

    def _fail(self, state: BridgeState, reason: str) -> None:
        self._count("failure")
        if self._state != state:
            self._enter(state, reason)
        self._reason = reason
        # A repeated failure is logged once.
        level = logging.DEBUG if reason == self._logged else logging.WARNING
        _log.log(level, "%s", self.status.problem)
        self._logged = reason

    def _sentence(self, error: BaseException, values: Mapping[str, str]) -> str:
        text = str(error) if isinstance(error, (BridgeError, SettingError)) else describe_error(error)
        text = redact_values(" ".join(text.split()), KINDS[self.settings.network], values)
        return text if text.endswith((".", "!", "?")) else f"{text}."

    def _enter(self, state: BridgeState, reason: str) -> None:
        self._state, self._since, self._reason = state, time.time(), reason


async def _run_network(network: Network, host: BridgeHost) -> None:
    try:
        await network.run(host)
    except SystemExit as error:  # asyncio would end the whole companion with it
        raise NetworkAway(f"its library wanted to end the program ({error}).") from None


def _forget_outcome(task: asyncio.Task[None]) -> None:
    if not task.cancelled():
        task.exception()
