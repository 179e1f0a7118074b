"""Indexes that several use at once: threads of one worker, and workers that share the files of one folder and one database."""

import errno
import gc
import os
import resource
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram_host.companion.search.indexes import cache as caching
from engram_host.companion.search.indexes import kept, mapping
from engram_host.companion.search.indexes.cache import IndexCache
from engram_host.companion.search.indexes.kept import KeptIndexes, make_image
from engram_host.companion.search.tokenizer import Tokenizer
from engram_host.companion.types import Device
from index_steps import STEPS, seq_of
from one_case import in_one_case
from search_store import (
    IDENTITY,
    Notes,
    SearchStore,
    asked,
    cache_with_files,
    embed_all,
    engine_of,
    ids,
    search_with,
    turn,
    vector_of,
)
from waiting import SECONDS

pytestmark = pytest.mark.usefixtures("keep_all")

LATER = 0.2
"""Seconds that a thread gets for what it must not do."""


@pytest.fixture
def store() -> SearchStore:
    made = SearchStore()
    made.put_all("b", [turn(seq, f"green tea number{seq}") for seq in range(1, 41)])
    embed_all(made, "b")
    return made


def files_of(store: SearchStore, folder: Path) -> KeptIndexes:
    """The files as one more worker has them."""
    return KeptIndexes(folder, Notes(store), 1 << 30)


def keep(store: SearchStore, folder: Path) -> Path:
    """Let a file be written; it."""
    cache = cache_with_files(store, folder)
    cache.get("b", IDENTITY)
    cache.wait_for_files()
    (path,) = folder.glob("*.index")
    return path


def is_usable(store: SearchStore, folder: Path) -> bool:
    """Whether the board's file is opened by a worker that has just started."""
    return files_of(store, folder).open(store.device("b"), Tokenizer()) is not None


# --- threads of one worker


@pytest.mark.parametrize("has_file", [False, True])
def test_of_several_who_wait_for_one_cold_index_one_loads_it(
    store: SearchStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_file: bool
):
    if has_file:
        keep(store, tmp_path)
        store.put_all("b", [turn(41, "more tea")])
    cache = cache_with_files(store, tmp_path) if has_file else IndexCache(store)
    place, name = (KeptIndexes, "open") if has_file else (caching, "DeviceIndex")
    load, second, reads = getattr(place, name), threading.Barrier(2), store.reads

    def load_with_another(*values: Any) -> Any:
        with suppress(threading.BrokenBarrierError):
            second.wait(LATER)
            raise AssertionError("two load the same index")
        return load(*values)

    with monkeypatch.context() as patch, ThreadPoolExecutor(4) as threads:
        patch.setattr(caching, "_UNKEPT_SHARE", 1)  # no new file takes the place of what was loaded
        patch.setattr(place, name, load_with_another)
        found = [*threads.map(lambda _: cache.get("b", IDENTITY)[0], range(4))]
    assert len({id(index) for index in found}) == 1 and store.reads == reads + 1


def test_a_search_does_not_wait_until_a_sweep_has_written_the_file(
    store: SearchStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    keep(store, tmp_path)
    store.put("b", "journal", 5, None)
    cache = cache_with_files(store, tmp_path)
    is_saving, is_searched = threading.Event(), threading.Event()
    save = KeptIndexes.save

    def save_slowly(*values: Any) -> bool:
        is_saving.set()
        assert is_searched.wait(SECONDS), "the search waits for the disk"
        return save(*values)

    monkeypatch.setattr(KeptIndexes, "save", save_slowly)
    with ThreadPoolExecutor(1) as thread:
        sweep = thread.submit(cache.sweep)
        assert is_saving.wait(SECONDS)
        cache.get("b", IDENTITY)
        is_searched.set()
        sweep.result()


# --- descriptors, and a disk that cannot be read


def descriptors() -> int:
    return len(os.listdir("/dev/fd"))


@contextmanager
def no_descriptor_left() -> Iterator[None]:
    """As when connections have taken all: no further file can be opened."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open(os.devnull, os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_an_index_that_is_mapped_keeps_no_descriptor(store: SearchStore, tmp_path: Path):
    keep(store, tmp_path)
    gc.collect()  # what tests before this one have left open
    before = descriptors()
    index = files_of(store, tmp_path).open(store.device("b"), Tokenizer())
    assert index and descriptors() == before


def test_a_map_ends_with_the_last_array_that_has_a_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    ended: list[tuple[int, int]] = []
    monkeypatch.setattr(mapping._libc, "munmap", lambda *place: ended.append(place))
    path = tmp_path / "file"
    path.write_bytes(b"abcdef")
    with path.open("rb") as file:
        part = mapping.map_file(file.fileno(), 6)[2:4]
    assert bytes(part) == b"cd" and not ended
    del part
    assert [size for _, size in ended] == [6]


def test_what_changes_in_a_map_does_not_change_the_file(tmp_path: Path):
    path = tmp_path / "file"
    path.write_bytes(b"abcdef")
    with path.open("rb") as file:
        mapping.map_file(file.fileno(), 6)[0] = 0
    assert path.read_bytes() == b"abcdef"


def test_a_file_that_cannot_be_mapped_is_an_error(tmp_path: Path):
    with pytest.raises(OSError), (tmp_path / "file").open("wb") as file:
        mapping.map_file(file.fileno(), 6)


def search(cache: IndexCache) -> None:
    assert ids(search_with(cache._store, cache).search(asked("number7")))[0] == "t7"  # pyright: ignore[reportArgumentType]


def sweep(cache: IndexCache) -> None:
    cache.sweep()


@pytest.mark.parametrize("use", [search, sweep])
def test_without_a_free_descriptor_files_stay(store: SearchStore, tmp_path: Path, use: Callable[[IndexCache], None]):
    keep(store, tmp_path)
    cache = cache_with_files(store, tmp_path)
    with no_descriptor_left():
        use(cache)
        cache.wait_for_files()
    assert is_usable(store, tmp_path)


@in_one_case("step", ["map_image", "read_facts"])
@in_one_case("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EACCES])
@in_one_case("use", [search, sweep])
def test_a_file_that_cannot_be_read_now_stays(
    store: SearchStore,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    use: Callable[[IndexCache], None],
    number: int,
    step: str,
):
    path = keep(store, tmp_path)

    def fail(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(kept, step, fail)
        patch.setattr(kept, "write_image", fail)
        cache = cache_with_files(store, tmp_path)
        use(cache)
        cache.wait_for_files()
    assert path.exists() and is_usable(store, tmp_path)


def test_a_file_that_cannot_be_written_leaves_the_former_one(
    store: SearchStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    keep(store, tmp_path)
    store.put_all("b", [turn(seq, "more tea") for seq in range(41, 61)])

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        cache = cache_with_files(store, tmp_path)
        cache.get("b", IDENTITY)
        cache.wait_for_files()
    assert is_usable(store, tmp_path) and not list(tmp_path.glob("*.tmp"))


def test_more_indexes_than_the_system_has_maps_for_leave(store: SearchStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(caching, "MOST_INDEXES", 2)
    for name in ("c", "d"):
        store.put_all(name, [turn(1, "tea")])
    cache = IndexCache(store)
    for name in ("b", "c", "b", "d"):
        cache.get(name, None)
    assert cache.board_names == ["b", "d"]


# --- workers that share a folder


def test_a_file_that_is_newer_than_what_a_worker_has_read_stays(store: SearchStore, tmp_path: Path):
    earlier = store.device("b")
    store.put_all("b", [turn(41, "more tea")])
    keep(store, tmp_path)
    assert files_of(store, tmp_path).open(earlier, Tokenizer()) is None
    assert is_usable(store, tmp_path)


class HookedNotes(Notes):
    """Notes of a database that is slow to answer: `then` runs once the number of a file is written."""

    def __init__(self, store: SearchStore, then: Callable[[], None]):
        super().__init__(store)
        write = self.put

        def put(name: str, value: str) -> None:
            write(name, value)
            then()

        self.put = put


def save_while(store: SearchStore, folder: Path, meanwhile: Callable[[KeptIndexes, Device], Any]) -> Any:
    """Save a board's index, and let another worker do something between its number and its file; what that gives."""
    device = store.device("b")
    image = make_image(IndexCache(store).get("b", IDENTITY)[0])
    with ThreadPoolExecutor(1) as thread:
        others: list[Any] = []

        def then() -> None:
            others.append(thread.submit(meanwhile, files_of(store, folder), device))
            with suppress(TimeoutError):  # it waits for this one, as it has to
                others[0].result(LATER)

        assert KeptIndexes(folder, HookedNotes(store, then), 1 << 30).save(device, image)
        return others[0].result(SECONDS)


def test_a_file_that_two_workers_write_at_once_can_be_used(store: SearchStore, tmp_path: Path):
    image = make_image(IndexCache(store).get("b", IDENTITY)[0])
    assert save_while(store, tmp_path, lambda files, device: files.save(device, image))
    assert is_usable(store, tmp_path)


def test_a_worker_that_opens_a_file_while_another_one_replaces_it_gets_the_new_one(store: SearchStore, tmp_path: Path):
    keep(store, tmp_path)
    assert save_while(store, tmp_path, lambda files, device: files.open(device, Tokenizer())) is not None
    assert is_usable(store, tmp_path)


def test_workers_that_start_at_once_agree_on_the_folders_number(store: SearchStore, tmp_path: Path):
    folder = tmp_path / "indexes"
    with ThreadPoolExecutor(8) as threads:
        found = {*threads.map(lambda _: files_of(store, folder).folder_id, range(64))}
    assert found == {files_of(store, folder).folder_id}


@in_one_case("content", [b"", b"0123", b"\xff" * 16])
def test_a_damaged_number_of_the_folder_is_made_again(store: SearchStore, tmp_path: Path, content: bytes):
    (tmp_path / "id").write_bytes(content)
    keep(store, tmp_path)
    assert is_usable(store, tmp_path)


def test_workers_that_search_and_sweep_at_once_find_all_lines_and_their_file_stays(store: SearchStore, tmp_path: Path):
    workers = [cache_with_files(store, tmp_path) for _ in range(3)]

    def use(cache: IndexCache) -> list[str]:
        found = search_with(store, cache).search(asked("tea", limit=100, use_meaning=False))
        cache.sweep()
        cache.wait_for_files()
        return sorted(ids(found))

    there = {f"t{seq}" for seq in range(1, 41)}
    with ThreadPoolExecutor(len(workers)) as threads:
        for round in range(12):
            new, gone = 41 + round, 1 + round
            store.put_all("b", [turn(new, f"green tea number{new}")])
            store.embed("b", "journal", new, vector_of("green tea"))
            store.put("b", "journal", gone, None)
            there = there - {f"t{gone}"} | {f"t{new}"}
            assert [*threads.map(use, workers)] == [sorted(there)] * len(workers)
            assert is_usable(store, tmp_path)


USES = st.tuples(st.sampled_from(["search", "keep", "sweep", "restart"]), st.integers(0, 1))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.one_of(STEPS, USES), max_size=30))
def test_two_workers_on_one_folder_find_what_a_new_index_finds(
    steps: list[Any], tmp_path_factory: pytest.TempPathFactory
):
    folder = tmp_path_factory.mktemp("indexes")
    store = SearchStore()
    store.put_all("b", [turn(1, "green tea")])
    workers = [cache_with_files(store, folder) for _ in range(2)]
    request = asked("green tea", limit=100, history=True)
    for step in steps:
        if step == "embed":
            embed_all(store, "b")
        elif step[0] in ("records", "journal"):
            store.put("b", step[0], *((step[1], None) if isinstance(step[1], int) else (seq_of(step[1]), step[1])))
        elif step[0] in ("search", "keep", "sweep", "restart"):
            name, number = step
            if name == "restart":
                workers[number].wait_for_files()
                workers[number] = cache_with_files(store, folder)
            elif name == "sweep":
                workers[number].sweep()
            else:
                search_with(store, workers[number]).search(request)
                if name == "keep":
                    workers[number].wait_for_files()
    expected = engine_of(store, True).search(request)
    for cache in workers:
        assert search_with(store, cache).search(request).hits == expected.hits
        cache.wait_for_files()
    assert search_with(store, cache_with_files(store, folder)).search(request).hits == expected.hits
