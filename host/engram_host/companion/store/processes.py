"""Coordination of companions on one PostgreSQL: leases, notices, and settings that all of them read again.

    keeper = LeaseKeeper(database, supervisor)
    keeper.start()
    lease = keeper.lease("alerts")
    await lease.run(work)          # while this process holds it
    lease.release()
    await keeper.stop()

A lease is work that only one of several processes does: an advisory lock of PostgreSQL, which the server frees when the
connection that holds it ends. SQLite serves one process, which holds every lease.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

from engram_host.companion.errors import SettingError, StoreUnavailable
from engram_host.companion.store.database import AdvisoryLocks, Database, Notice, parse_notice
from engram_host.companion.store.values import ValueTable
from engram_host.companion.supervisor import BackgroundPart, Supervisor, TaskSet, wait_for_event

_log = logging.getLogger("engram.processes")

LOOK_SECONDS = 5.0

Work = Callable[[], Coroutine[Any, Any, None]]


class Lease:
    def __init__(self, name: str, wake_keeper: Callable[[], None] | None = None):
        self.name = name
        self.is_wanted = False
        self.is_held = False
        self.on_change: Callable[[], None] = lambda: None
        self._wake_keeper = wake_keeper
        self._changed = asyncio.Event()

    def claim(self) -> None:
        """Request the lease; it is held once no other process holds it."""
        if self.is_wanted:
            return
        self.is_wanted = True
        if self._wake_keeper:
            self._wake_keeper()
        else:
            self.set_held(True)

    def release(self) -> None:
        """Give the lease up and cancel the work under it."""
        if not self.is_wanted:
            return
        self.is_wanted = False
        self.set_held(False)
        if self._wake_keeper:
            self._wake_keeper()

    async def run(self, work: Work) -> None:
        """Run `work` while the lease is held, until it ends or the lease is released."""
        self.claim()
        while self.is_wanted:
            if not self.is_held:
                await self._changed.wait()
            elif await self._run_held(work):
                return

    async def _run_held(self, work: Work) -> bool:
        own = asyncio.current_task()
        lost = asyncio.create_task(self._changed.wait())
        running = asyncio.create_task(work(), name=own.get_name() if own else self.name)
        try:
            await asyncio.wait((running, lost), return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                running.result()
                return True
        finally:
            lost.cancel()
            running.cancel()
            await asyncio.gather(running, lost, return_exceptions=True)
        _log.info("lost the lease %s: its work stops", self.name)
        return False

    def set_held(self, is_held: bool) -> None:
        self.is_held = is_held
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
        self.on_change()


class LeasedPart(BackgroundPart):
    """A part whose task runs in one of the processes on a database."""

    def __init__(self, supervisor: Supervisor, task: str, lease: Lease):
        super().__init__(supervisor, task)
        self._lease = lease

    def start(self) -> None:
        self._task = self._supervisor.start(self._task_name, lambda: self._lease.run(self._run))

    async def stop(self) -> None:
        await super().stop()
        self._lease.release()


class PeriodicTask(LeasedPart):
    """Calls `work` in a thread after `first` seconds, then each `every` seconds."""

    def __init__(
        self, name: str, work: Callable[[], object], supervisor: Supervisor, lease: Lease, *, first: float, every: float
    ):
        super().__init__(supervisor, name, lease)
        self._work = work
        self._first = first
        self._every = every

    async def _run(self) -> None:
        await asyncio.sleep(self._first)
        while True:
            try:
                await asyncio.to_thread(self._work)
            except StoreUnavailable as problem:
                _log.warning("the task %s waits: %s", self._task_name, problem, extra={"repeat": self._task_name})
            await asyncio.sleep(self._every)


class LeaseKeeper(BackgroundPart):
    def __init__(self, database: Database, supervisor: Supervisor):
        super().__init__(supervisor, "leases", longest_pause=LOOK_SECONDS)
        self._database = database
        self._leases: dict[str, Lease] = {}
        self._wake = asyncio.Event()

    def lease(self, name: str) -> Lease:
        wake = self._wake.set if self._database.is_shared else None
        return self._leases.setdefault(name, Lease(name, wake))

    def start(self) -> None:
        if self._database.is_shared:
            super().start()

    async def stop(self) -> None:
        await super().stop()
        for lease in self._leases.values():
            lease.release()

    async def _run(self) -> None:
        while True:
            try:
                async with self._database.advisory_locks() as locks:
                    await self._keep(locks)
            except StoreUnavailable as problem:
                _log.warning("leases are lost: %s", problem, extra={"repeat": "leases"})
            finally:
                for lease in self._leases.values():
                    if lease.is_held:
                        lease.set_held(False)
            await asyncio.sleep(LOOK_SECONDS)

    async def _keep(self, locks: AdvisoryLocks) -> None:
        held: set[str] = set()
        while True:
            await locks.check()
            for lease in list(self._leases.values()):
                if lease.is_wanted and not lease.is_held and (lease.name in held or await locks.take(lease.name)):
                    held.add(lease.name)
                    if lease.is_wanted:
                        lease.set_held(True)
                elif not lease.is_wanted and lease.name in held:
                    await locks.give_back(lease.name)
                    held.discard(lease.name)
            await wait_for_event(self._wake, LOOK_SECONDS)


# --- notices


TASK = "conversations notices"

RETRY_SECONDS = 1.0

OnNotice = Callable[[Notice], None]


class NoticeListener(BackgroundPart):
    def __init__(self, database: Database, supervisor: Supervisor, listeners: Sequence[OnNotice]):
        super().__init__(supervisor, TASK)
        self._database = database
        self._listeners = listeners

    def start(self) -> None:
        if self._database.is_shared:
            super().start()

    async def _run(self) -> None:
        while True:
            try:
                async with contextlib.aclosing(self._database.notices()) as notices:
                    async for payload in notices:
                        notice = parse_notice(payload)
                        for tell in self._listeners:
                            tell(notice)
            except StoreUnavailable as problem:
                _log.warning("changes of other processes are seen later: %s", problem, extra={"repeat": "notices"})
            await asyncio.sleep(RETRY_SECONDS)


class SettingsReload:
    """Reloads the settings in all processes once one of them was asked to; also where notices may have been lost."""

    def __init__(self, table: ValueTable, reload: Callable[[], Awaitable[None]]):
        """`reload` reads and applies the settings, or raises SettingError; what has not changed goes on."""
        self._table = table
        self._reload = reload
        self._reloading = asyncio.Lock()
        self._looks = TaskSet("a reload of the settings")
        self._is_stopping = False

    async def stop(self) -> None:
        """Cancel reloads; call this before anything that a reload starts is stopped."""
        self._is_stopping = True
        await self._looks.stop()

    async def reload_all(self) -> None:
        """Reload here, then elsewhere; a SettingError changes nothing, StoreUnavailable may be raised."""
        async with self._reloading:
            await self._reload()
        await asyncio.to_thread(self._table.notify_settings)

    def take_notice(self, notice: Notice) -> None:
        if notice.kind in ("settings", "") and not self._is_stopping:
            self._looks.begin(self._follow())

    async def _follow(self) -> None:
        async with self._reloading:
            try:
                await self._reload()
            except (SettingError, StoreUnavailable) as problem:
                _log.warning("the settings are not read again: %s", problem)
