"""Background tasks of a companion's bridges, and their status.

One process runs a bridge, the holder of its lease: a network accepts one connection of an account.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.bridge_settings import BridgeSettings
from engram_host.companion.bridges.configured import check_bridge, complete_values
from engram_host.companion.bridges.counted import Counted
from engram_host.companion.bridges.running import BridgeStatus, Engine, RunningBridge
from engram_host.companion.errors import CompanionError, StoreUnavailable
from engram_host.companion.processes.leases import Lease
from engram_host.companion.supervisor import BackgroundTask, Supervisor

_log = logging.getLogger("engram.bridges")

TASK = "bridges"
LEASE = "bridge {}"


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
