"""Background task that finds and sends alerts, if there are addresses."""

import asyncio
import logging
import time

from engram_host.companion.alerts.apprise_address import URLS, read_addresses
from engram_host.companion.alerts.outbox import ALERT_PROBLEMS, AlertOutbox, CoolDown
from engram_host.companion.alerts.watch import AlertSources, AlertWatch
from engram_host.companion.auth.secrets import SecretStore
from engram_host.companion.bridge_types import PairingRequest
from engram_host.companion.errors import SettingError, StoreUnavailable
from engram_host.companion.processes import Lease
from engram_host.companion.settings import AlertSettings
from engram_host.companion.supervisor import BackgroundTask, Supervisor, wait_for_event

_log = logging.getLogger("engram.alerts")

TASK = "alerts"
LOOK_SECONDS = 15.0  # seconds between two checks; wake() triggers the next
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

    def note_request(self, request: PairingRequest) -> None:
        self.wake()

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
                await outbox.send()
                if outbox.has_told_all:
                    await asyncio.to_thread(watch.keep)
            except StoreUnavailable as problem:
                _log.warning("no look for alerts: %s", problem, extra={"repeat": "alerts"})
            await wait_for_event(self._changed, min(LOOK_SECONDS, outbox.seconds_left))

    def _find_urls(self) -> str:
        return self._secrets.find(URLS, in_keyring=self._settings.keyring)
