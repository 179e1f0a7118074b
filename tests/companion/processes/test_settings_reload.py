"""Workers that share a database read their settings again together, also when a notice about that was lost."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator

import pytest

from engram_host.companion.errors import SettingError
from engram_host.companion.store import choose_store, processes
from engram_host.companion.store.database import Notice
from engram_host.companion.store.postgres import hear_notices
from engram_host.companion.store.processes import NoticeListener, SettingsReload
from engram_host.companion.supervisor import Supervisor
from hearing_workers import play
from postgres_server import PostgresServer, cut_notices
from waiting import wait_until_async


class Worker:
    """The settings of one worker: `reloads` counts how often they were read again, `may_hear` lets it listen for notices."""

    def __init__(self, url: str):
        self.store = choose_store(url)
        self.store.open()
        self.reloads = 0
        self.problem = ""
        self.heard: list[Notice] = []
        self.may_hear = asyncio.Event()
        self.may_hear.set()
        self.settings = SettingsReload(self.store.values, self._reload)
        self.store.database.notices = lambda: self._notices(url)
        listeners = self.settings.take_notice, self.heard.append
        self.listener = NoticeListener(self.store.database, Supervisor(), listeners)

    async def stop(self) -> None:
        await self.settings.stop()

    async def _reload(self) -> None:
        if self.problem:
            raise SettingError("people.join", self.problem)
        self.reloads += 1

    async def _notices(self, url: str) -> AsyncGenerator[str, None]:
        await self.may_hear.wait()
        async with contextlib.aclosing(hear_notices(url)) as found:
            async for payload in found:
                yield payload


@pytest.fixture
def url(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(processes, "RETRY_SECONDS", 0.01)
    postgres.clear()
    return postgres.url


def test_a_reload_at_one_worker_is_a_reload_at_each(url: str):
    async def script(first: Worker, second: Worker) -> None:
        before = first.reloads, second.reloads
        await first.settings.reload_all()
        await wait_until_async("the other one reads them too", lambda: second.reloads > before[1])
        assert first.reloads > before[0]

    play(lambda: Worker(url), script)


def test_settings_that_changed_while_no_notice_was_heard_are_read_when_notices_are_heard_again(url: str):
    async def script(first: Worker, second: Worker) -> None:
        second.may_hear.clear()
        cut_notices(url)
        await first.settings.reload_all()
        before = second.reloads
        second.may_hear.set()
        await wait_until_async("the other one reads them too", lambda: second.reloads > before)

    play(lambda: Worker(url), script)


def test_settings_that_cannot_be_meant_at_one_worker_are_refused_there_and_read_once_they_are_mended(
    url: str, caplog: pytest.LogCaptureFixture
):
    async def script(first: Worker, second: Worker) -> None:
        second.problem = "has to be true or false."
        await first.settings.reload_all()
        await wait_until_async("the refusal", lambda: "the settings are not read again: people.join" in caplog.text)
        with pytest.raises(SettingError, match="has to be true or false"):
            await second.settings.reload_all()
        second.problem, before = "", second.reloads
        await first.settings.reload_all()
        await wait_until_async("the other one reads them", lambda: second.reloads > before)

    play(lambda: Worker(url), script)
