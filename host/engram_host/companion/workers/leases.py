"""The leases of one worker: kept up while they are wanted, and work that runs only while one is held.

keeper = LeaseKeeper(store, identity, supervisor)
keeper.start()
lease = keeper.lease("alerts")
await lease.run(work)          # whenever this worker is the one that holds it
lease.release()
await keeper.stop()
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store.workers.leases import LeaseTable
from engram_host.companion.supervisor import BackgroundTask, Supervisor

_log = logging.getLogger("engram.leases")

TASK = "leases"

LOOK_SECONDS = 5.0
"""Between two looks whether a wanted lease has become free."""

MARGIN_SECONDS = 2.0
"""So long before its end a lease counts as lost: what runs under it needs time to stop."""

Result = TypeVar("Result")
Work = Callable[[], Coroutine[Any, Any, None]]


class Identity(Protocol):
    """Who a worker is."""

    id: str

    def has_ended(self, holder: str) -> bool:
        """Whether a worker has certainly ended."""
        ...


class Lease(Protocol):
    """What only one worker does, as the part that does it sees it."""

    name: str

    @property
    def is_held(self) -> bool:
        """Whether this worker is the one."""
        ...

    @property
    def fence(self) -> int:
        """What notes under it are written with."""
        ...

    async def run(self, work: Work) -> None:
        """Run work whenever this worker is the one, until the work ends or the lease is released."""
        ...

    def release(self) -> None:
        """Leave it to others."""
        ...


class WorkerLease:
    """A lease as one worker sees it; its keeper brings it up to date."""

    def __init__(self, name: str, wake_keeper: Callable[[], None]):
        self.name = name
        self._fence = 0
        self.is_wanted = False
        self._wake_keeper = wake_keeper
        self._changed = asyncio.Event()
        self._is_held = False
        self._lost: asyncio.Future[None] | None = None
        """Done once what runs now has to end."""
        self._end: asyncio.TimerHandle | None = None

    @property
    def is_held(self) -> bool:
        """Whether this worker holds it now."""
        return self._is_held

    @property
    def fence(self) -> int:
        """What notes under it are written with."""
        return self._fence

    def release(self) -> None:
        """Want it no more: the work under it is cancelled, and the keeper returns it."""
        if self.is_wanted:
            self.is_wanted = False
            self.lose()
            self._notify()  # who waits for it waits no more
            self._wake_keeper()

    async def run(self, work: Work) -> None:
        """Run work whenever the lease is held, and cancel it when it is lost; ends with the work, or when it is released."""
        self.is_wanted = True
        self._wake_keeper()
        while self.is_wanted:
            if not self._is_held:
                await self._changed.wait()
            elif await self._run_held(work):
                return

    async def _run_held(self, work: Work) -> bool:
        """Run work until it ends or the lease is lost; whether it has ended."""
        self._lost = lost = asyncio.get_running_loop().create_future()
        own = asyncio.current_task()
        running = asyncio.create_task(work(), name=own.get_name() if own else self.name)
        try:
            await asyncio.wait((running, lost), return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                running.result()
                return True
        finally:
            lost.cancel()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        _log.info("the lease %s is lost: its work stops", self.name)
        return False

    # --- for the keeper

    def extend(self, fence: int, seconds: float) -> None:
        """It is held for some seconds more."""
        if self._end:
            self._end.cancel()
        self._end = asyncio.get_running_loop().call_later(seconds, self.lose)
        if not self._is_held or self.fence != fence:
            self._is_held, self._fence = True, fence
            self._notify()

    def lose(self) -> None:
        """It is held no more."""
        if self._end:
            self._end.cancel()
            self._end = None
        if self._is_held:
            self._is_held = False
            self._notify()

    def _notify(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
        if self._lost and not self._lost.done():
            self._lost.set_result(None)


class LeaseKeeper:
    """Renews the leases that a worker holds, and takes those that it wants once nobody else holds them."""

    def __init__(self, table: LeaseTable, identity: Identity, supervisor: Supervisor):
        self._table = table
        self._identity = identity
        self._supervisor = supervisor
        self._seconds = table.database.lease_seconds
        self._leases: dict[str, WorkerLease] = {}
        self._until: dict[str, float] = {}
        """When the leases end that the database has under this worker's name, by the monotonic clock."""
        self._wake = asyncio.Event()
        self._task: BackgroundTask | None = None
        # A thread of its own: searches may keep all others busy for longer than a lease holds.
        self._thread = ThreadPoolExecutor(1, "leases")

    @property
    def worker(self) -> str:
        """The id of the worker whose leases these are."""
        return self._identity.id

    def lease(self, name: str) -> WorkerLease:
        """The lease of a name, the same one each time."""
        return self._leases.setdefault(name, WorkerLease(name, self._wake.set))

    def start(self) -> None:
        """Begin to take and renew."""
        self._task = self._supervisor.start(TASK, self._run, longest_pause=LOOK_SECONDS)

    async def stop(self) -> None:
        """Return all leases."""
        if self._task:
            await self._task.stop()
        for lease in self._leases.values():
            lease.release()
        if self._until:
            try:
                await self._in_thread(lambda: self._table.return_leases(self._identity.id))
            except StoreUnavailable as problem:
                _log.info("leases are returned by their end: %s", problem)
        self._thread.shutdown(wait=False)

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            try:
                await self._return_unwanted()
                await self._take_wanted()
            except StoreUnavailable as problem:
                _log.warning("leases are not renewed: %s", problem, extra={"repeat": "leases"})
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._pause()):
                    await self._wake.wait()

    async def _return_unwanted(self) -> None:
        names = [name for name in self._until if not self._leases[name].is_wanted]
        if names:
            await self._in_thread(lambda: self._table.return_leases(self._identity.id, names))
            for name in names:
                del self._until[name]

    async def _take_wanted(self) -> None:
        now = time.monotonic()
        renew_before = now + self._seconds * 3 / 4
        wanted = [lease for lease in self._leases.values() if lease.is_wanted]
        due = [lease.name for lease in wanted if self._until.get(lease.name, 0.0) <= renew_before]
        if not due:
            return
        own = self._identity
        held = await self._in_thread(lambda: self._table.hold_leases(own.id, due, self._seconds, own.has_ended))
        for name in due:
            lease = self._leases[name]
            if name not in held:
                self._until.pop(name, None)
                lease.lose()
                continue
            # Counted from before it was asked for: the database's time began later.
            self._until[name] = now + self._seconds
            if lease.is_wanted:
                lease.extend(held[name], self._until[name] - MARGIN_SECONDS - time.monotonic())

    def _pause(self) -> float:
        """Seconds until there is something to do."""
        wanted = [lease for lease in self._leases.values() if lease.is_wanted]
        is_waiting = any(not lease.is_held for lease in wanted)
        return LOOK_SECONDS if is_waiting else max(LOOK_SECONDS, self._seconds / 4)

    async def _in_thread(self, call: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)
