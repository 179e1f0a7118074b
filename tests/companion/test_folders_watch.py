"""What changes in a folder is noticed, however it changes."""

import asyncio
import contextlib
import logging
import shutil
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from engram.memory.access import Caller
from engram_host.companion.folders import keeping, watching
from engram_host.companion.folders.keeping import Folders
from engram_host.companion.store import choose_store
from engram_host.companion.store.base import Store
from markdown_folders import settings_of, write

SECONDS = 20.0
QUICK = 200


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one file."""
    write(tmp_path / "notes", {"a.md": "tea"})
    return tmp_path / "notes"


@contextlib.asynccontextmanager
async def kept(root: Path, **more: object) -> AsyncIterator[tuple[Folders, Store]]:
    """The folders of a companion, read once."""
    store = choose_store(f"sqlite:///{root.parent / 'c.db'}")
    store.open()
    folders = Folders(store, settings_of(root, **{"debounce_ms": QUICK, **more}), root.parent)
    folders.start()
    try:
        await until(lambda: folders.standings[0].state != "waiting")
        yield folders, store
    finally:
        await folders.stop()
        store.close()


async def until(is_so: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < end
        await asyncio.sleep(0.02)


def paths(folders: Folders, store: Store) -> list[str]:
    return [path for path, *_ in store.stamps(folders.standings[0].place.device)]


def run(root: Path, steps, **more: object) -> None:
    async def all_of_it() -> None:
        async with kept(root, **more) as (folders, store):
            await until(lambda: folders.standings[0].state in ("up to date", "not there"))
            await steps(folders, store)

    asyncio.run(all_of_it())


def test_files_that_come_change_and_go_are_noticed(root: Path):
    async def steps(folders: Folders, store: Store) -> None:
        write(root, {"b.md": "coffee"})
        await until(lambda: paths(folders, store) == ["a.md", "b.md"])
        (root / "a.md").rename(root / "c.md")
        await until(lambda: paths(folders, store) == ["b.md", "c.md"])
        (root / "b.md").unlink()
        await until(lambda: paths(folders, store) == ["c.md"])

    run(root, steps)


def test_what_is_in_a_new_folder_is_noticed(root: Path):
    async def steps(folders: Folders, store: Store) -> None:
        write(root, {"new/deep/b.md": "coffee"})
        await until(lambda: "new/deep/b.md" in paths(folders, store))
        write(root, {"new/deep/c.md": "coffee"})
        await until(lambda: "new/deep/c.md" in paths(folders, store))

    run(root, steps)


def test_a_folder_that_went_is_told_and_comes_back(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(keeping, "_POLL_SECONDS", 0.1)

    async def steps(folders: Folders, store: Store) -> None:
        shutil.rmtree(root)
        await until(lambda: folders.standings[0].state == "not there")
        assert "notes is not there" in folders.problems()[0]
        write(root, {"b.md": "coffee"})
        await until(lambda: paths(folders, store) == ["b.md"])
        write(root, {"c.md": "coffee"})
        await until(lambda: paths(folders, store) == ["b.md", "c.md"])
        assert folders.problems() == []

    run(root, steps)


def test_a_folder_that_is_exchanged_for_another_is_noticed(root: Path):
    async def steps(folders: Folders, store: Store) -> None:
        write(root.parent / "other", {"b.md": "coffee"})
        root.rename(root.parent / "old")
        (root.parent / "other").rename(root)
        await until(lambda: paths(folders, store) == ["b.md"])
        write(root, {"c.md": "coffee"})
        await until(lambda: paths(folders, store) == ["b.md", "c.md"])

    run(root, steps, rescan_seconds=1)


def test_without_events_folders_are_looked_through(root: Path, monkeypatch: pytest.MonkeyPatch):
    def no_events(*_: object, **__: object):
        raise OSError("too many watches")

    monkeypatch.setattr(watching, "awatch", no_events)
    monkeypatch.setattr(keeping, "_POLL_SECONDS", 0.1)

    async def steps(folders: Folders, store: Store) -> None:
        write(root, {"b.md": "coffee"})
        await until(lambda: paths(folders, store) == ["a.md", "b.md"])
        assert "too many watches" in folders.problems()[0]

    run(root, steps)


def test_nothing_is_read_before_a_folder_is_quiet(root: Path):
    async def steps(folders: Folders, store: Store) -> None:
        end = time.monotonic() + 1
        while time.monotonic() < end:
            write(root, {"b.md": f"coffee at {time.monotonic()}"})
            await asyncio.sleep(0.1)
            assert paths(folders, store) == ["a.md"]
        await until(lambda: paths(folders, store) == ["a.md", "b.md"])

    run(root, steps, debounce_ms=500)


def test_a_folder_at_rest_is_not_read_again_and_again(root: Path, monkeypatch: pytest.MonkeyPatch):
    listings = []
    real = keeping.list_files
    monkeypatch.setattr(keeping, "list_files", lambda *arguments: listings.append(1) or real(*arguments))

    async def steps(folders: Folders, store: Store) -> None:
        await asyncio.sleep(0.6)
        before = len(listings)
        await asyncio.sleep(0.6)
        assert len(listings) == before

    run(root, steps)


def test_a_folder_that_left_the_settings_leaves_the_store(root: Path):
    async def nothing(folders: Folders, store: Store) -> None:
        assert paths(folders, store) == ["a.md"]

    run(root, nothing)
    store = choose_store(f"sqlite:///{root.parent / 'c.db'}")
    store.open()

    async def without() -> None:
        folders = Folders(store, settings_of(), root.parent)
        folders.start()
        await until(lambda: store.sources() == [])
        await folders.stop()

    asyncio.run(without())
    store.close()


def test_a_search_that_is_refused_is_logged_with_the_scope_and_no_text(root: Path, caplog: pytest.LogCaptureFixture):
    async def steps(folders: Folders, store: Store) -> None:
        with caplog.at_level(logging.INFO, "engram.folders"):
            assert folders.searched(Caller("owner", "r", True, "")) == ()
        assert "user:owner" in caplog.text and "tea" not in caplog.text

    run(root, steps)
