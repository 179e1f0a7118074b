"""What changes in a folder is noticed, however it changes."""

import asyncio
import contextlib
import logging
import selectors
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from engram.memory.access import Caller
from engram_host.companion.folders import service, watcher
from engram_host.companion.folders.service import FolderService
from engram_host.companion.processes.leases import Lease
from engram_host.companion.settings import FoldersSettings
from engram_host.companion.store import CompanionStore, choose_store
from engram_host.companion.supervisor import Supervisor
from markdown_folders import settings_of, write
from waiting import wait_until_async

QUICK = 200


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one file."""
    write(tmp_path / "notes", {"a.md": "tea"})
    return tmp_path / "notes"


@contextlib.asynccontextmanager
async def kept(root: Path, **more: object) -> AsyncIterator[tuple[FolderService, CompanionStore]]:
    """The folders of a companion, read once."""
    store = choose_store(f"sqlite:///{root.parent / 'c.db'}")
    store.open()
    folders = service_of(store, settings_of(root, **{"debounce_ms": QUICK, **more}), root.parent)
    folders.start()
    try:
        await wait_until_async("the first look", lambda: folders.standings[0].state != "waiting")
        yield folders, store
    finally:
        await folders.stop()
        store.close()


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


def run(root: Path, steps, **more: object) -> None:
    async def all_of_it() -> None:
        async with kept(root, **more) as (folders, store):
            await wait_until_async(
                "the first reading", lambda: folders.standings[0].state in ("up to date", "not there")
            )
            await steps(folders, store)

    asyncio.run(all_of_it())


def test_files_that_come_change_and_go_are_noticed(root: Path):
    async def steps(folders: FolderService, store: CompanionStore) -> None:
        write(root, {"b.md": "coffee"})
        await wait_until_async("the change", lambda: paths(folders, store) == ["a.md", "b.md"])
        (root / "a.md").rename(root / "c.md")
        await wait_until_async("the change", lambda: paths(folders, store) == ["b.md", "c.md"])
        (root / "b.md").unlink()
        await wait_until_async("the change", lambda: paths(folders, store) == ["c.md"])

    run(root, steps)


def test_what_is_in_a_new_folder_is_noticed(root: Path):
    async def steps(folders: FolderService, store: CompanionStore) -> None:
        write(root, {"new/deep/b.md": "coffee"})
        await wait_until_async("the change", lambda: "new/deep/b.md" in paths(folders, store))
        write(root, {"new/deep/c.md": "coffee"})
        await wait_until_async("the change", lambda: "new/deep/c.md" in paths(folders, store))

    run(root, steps)


def test_a_folder_that_went_is_reported_and_comes_back(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(service, "_POLL_SECONDS", 0.1)

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


def test_a_folder_that_is_exchanged_for_another_is_noticed(root: Path):
    async def steps(folders: FolderService, store: CompanionStore) -> None:
        write(root.parent / "other", {"b.md": "coffee"})
        root.rename(root.parent / "old")
        (root.parent / "other").rename(root)
        await wait_until_async("the change", lambda: paths(folders, store) == ["b.md"])
        write(root, {"c.md": "coffee"})
        await wait_until_async("the change", lambda: paths(folders, store) == ["b.md", "c.md"])

    run(root, steps, rescan_seconds=1)


def test_without_events_folders_are_looked_through(root: Path, monkeypatch: pytest.MonkeyPatch):
    def no_events(*_: object, **__: object):
        raise OSError("too many watches")

    monkeypatch.setattr(watcher, "awatch", no_events)
    monkeypatch.setattr(service, "_POLL_SECONDS", 0.1)

    async def steps(folders: FolderService, store: CompanionStore) -> None:
        write(root, {"b.md": "coffee"})
        await wait_until_async("the change", lambda: paths(folders, store) == ["a.md", "b.md"])
        assert "too many watches" in folders.problems()[0]

    run(root, steps)


class JumpingLoop(asyncio.SelectorEventLoop):
    """A loop whose clock jumps to the next timer in place of waiting for it."""

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(_JumpingSelector(self._advance))

    def time(self) -> float:
        """Seconds since the loop began."""
        return self._now

    def _advance(self, seconds: float) -> None:
        self._now += seconds


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self, advance: Callable[[float], None]):
        super().__init__()
        self._advance = advance

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._advance(timeout or 0)
        return super().select(0)


def heard_after(monkeypatch: pytest.MonkeyPatch, changes: int, pause: float, debounce: float) -> float:
    """The seconds after which changes of a file are told, of which one comes after each pause."""

    async def change(*which: object, **how: object) -> AsyncIterator[set[tuple[object, str]]]:
        for _ in range(changes):
            await asyncio.sleep(pause)
            yield {(None, "/notes/b.md")}
        await asyncio.Event().wait()

    async def work() -> float:
        watch = watcher.FolderWatcher(debounce)
        assert await watch.watch_folders([("/notes", 1)])
        assert await watch.wait(60) == {"/notes/b.md"}
        now = asyncio.get_running_loop().time()
        assert watch._task
        watch._task.cancel()
        return now

    monkeypatch.setattr(watcher, "awatch", change)
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        return runner.run(work())


def test_nothing_is_read_before_a_folder_is_quiet(monkeypatch: pytest.MonkeyPatch):
    assert heard_after(monkeypatch, changes=10, pause=0.1, debounce=0.5) == pytest.approx(1 + 0.5)


def test_a_folder_that_never_rests_is_read_after_ten_debounces(monkeypatch: pytest.MonkeyPatch):
    assert heard_after(monkeypatch, changes=1000, pause=0.1, debounce=0.5) == pytest.approx(0.1 + 10 * 0.5)


def test_a_folder_at_rest_is_not_read_again_and_again(root: Path, monkeypatch: pytest.MonkeyPatch):
    """Reading is no change: all that is heard is what another one wrote, and for each time that something is heard there is
    one listing at most.
    """
    listings, heard = [], []
    list_files, awatch = service.list_files, watcher.awatch
    monkeypatch.setattr(service, "list_files", lambda *arguments: listings.append(1) or list_files(*arguments))

    async def noting(*arguments: Any, **options: Any) -> AsyncIterator[Any]:
        async for group in awatch(*arguments, **options):
            heard.append({path for _, path in group})
            yield group

    monkeypatch.setattr(watcher, "awatch", noting)

    async def steps(folders: FolderService, store: CompanionStore) -> None:
        at_first = len(listings)
        for count in (1, 2):
            # Events come in order: with this one all came that the reading before it had caused.
            write(root, {f"new {count}.md": "coffee"})
            await wait_until_async("the change", lambda: len(paths(folders, store)) == 1 + count)  # noqa: B023
        # What is late of the first one may have led to a listing in which the second one was seen before it was heard.
        written = {str(root / "new 1.md"), str(root / "new 2.md")}
        await wait_until_async("both are heard, and nothing else", lambda: set[str]().union(*heard) == written)
        assert len(listings) - at_first <= len(heard)

    run(root, steps)


def test_a_folder_that_left_the_settings_leaves_the_store(root: Path):
    async def nothing(folders: FolderService, store: CompanionStore) -> None:
        assert paths(folders, store) == ["a.md"]

    run(root, nothing)
    store = choose_store(f"sqlite:///{root.parent / 'c.db'}")
    store.open()

    async def without() -> None:
        folders = service_of(store, settings_of(), root.parent)
        folders.start()
        await wait_until_async("what was read of it has left", lambda: store.boards.sources() == [])
        await folders.stop()

    asyncio.run(without())
    store.close()


def test_a_search_that_is_refused_is_logged_with_the_scope_and_no_text(root: Path, caplog: pytest.LogCaptureFixture):
    async def steps(folders: FolderService, store: CompanionStore) -> None:
        with caplog.at_level(logging.INFO, "engram.folders"):
            assert folders.searchable_folders(Caller("owner", "r", True, "")) == ()
        assert "user:owner" in caplog.text and "tea" not in caplog.text

    run(root, steps)
