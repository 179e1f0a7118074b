"""What changes in a folder is noticed, however it changes."""

import asyncio
import contextlib
import logging
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from companion_store import opened_store
from engram.memory.access import Caller
from engram_host.companion.folders.service import FolderService
from engram_host.companion.settings import FoldersSettings
from engram_host.companion.store import CompanionStore, choose_store
from engram_host.companion.store.processes import Lease
from engram_host.companion.supervisor import Supervisor
from markdown_folders import settings_of, write
from waiting import wait_until_async


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one file."""
    write(tmp_path / "notes", {"a.md": "tea"})
    return tmp_path / "notes"


@contextlib.asynccontextmanager
async def kept(root: Path) -> AsyncIterator[tuple[FolderService, CompanionStore]]:
    """The folders of a companion, read once."""
    with opened_store(root.parent) as store:
        folders = service_of(store, settings_of(root, rescan_seconds=1), root.parent)
        folders.start()
        try:
            await wait_until_async("the first look", lambda: folders.standings[0].state != "waiting")
            yield folders, store
        finally:
            await folders.stop()


def test_a_folder_that_another_process_reads_says_so(root: Path):
    store = choose_store(f"sqlite:///{root.parent / 'c.db'}")
    folders = service_of(store, settings_of(root), root.parent)
    owner = Caller("owner", "phone", False, "")
    assert [one.state for one in folders.visible_folders(owner)] == ["elsewhere"]


def service_of(store: CompanionStore, settings: FoldersSettings, home: Path) -> FolderService:
    return FolderService(
        boards=store.boards,
        folders=store.folders,
        settings=settings,
        home=home,
        supervisor=Supervisor(),
        lease_of=Lease,
    )


def paths(folders: FolderService, store: CompanionStore) -> list[str]:
    return [path for path, *_ in store.folders.stamps(folders.standings[0].place.device)]


def run(root: Path, steps) -> None:
    async def all_of_it() -> None:
        async with kept(root) as (folders, store):
            await wait_until_async(
                "the first reading", lambda: folders.standings[0].state in ("up to date", "not there")
            )
            await steps(folders, store)

    asyncio.run(all_of_it())


def test_a_folder_that_went_is_reported_and_comes_back(root: Path):
    async def steps(folders: FolderService, store: CompanionStore) -> None:
        shutil.rmtree(root)
        await wait_until_async("it is seen that the folder went", lambda: folders.standings[0].state == "not there")
        assert "notes is not there" in folders.problems()[0]
        write(root, {"b.md": "coffee"})
        await wait_until_async("the change", lambda: paths(folders, store) == ["b.md"])
        write(root, {"c.md": "coffee"})
        await wait_until_async("the change", lambda: paths(folders, store) == ["b.md", "c.md"])
        assert folders.problems() == []

    run(root, steps)


def test_a_folder_that_left_the_settings_leaves_the_store(root: Path):
    async def nothing(folders: FolderService, store: CompanionStore) -> None:
        assert paths(folders, store) == ["a.md"]

    run(root, nothing)

    async def without() -> None:
        with opened_store(root.parent) as store:
            folders = service_of(store, settings_of(), root.parent)
            folders.start()
            await wait_until_async("what was read of it has left", lambda: store.boards.sources() == [])
            await folders.stop()

    asyncio.run(without())


def test_a_search_that_is_refused_is_logged_with_the_scope_and_no_text(root: Path, caplog: pytest.LogCaptureFixture):
    async def steps(folders: FolderService, store: CompanionStore) -> None:
        with caplog.at_level(logging.INFO, "engram.folders"):
            assert folders.searchable_folders(Caller("owner", "r", True, "")) == []
        assert "user:owner" in caplog.text and "tea" not in caplog.text

    run(root, steps)
