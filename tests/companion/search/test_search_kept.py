"""Indexes in files: whatever a file has become, and whatever a process was doing when it ended, a search finds what it would
find without files, and nothing that was forgotten.
"""

import gc
import os
import random
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram_host.companion.errors import UnknownDevice
from engram_host.companion.search.engine import SearchEngine
from engram_host.companion.search.indexes import kept
from engram_host.companion.search.indexes.kept import KeptIndexes
from engram_host.companion.search.indexes.vectors import quantize
from engram_host.companion.search.request import SearchResult
from engram_host.companion.search.tokenizer import Tokenizer, term_id
from extent import matrix
from index_steps import STEPS, seq_of
from search_store import (
    IDENTITY,
    Notes,
    SearchStore,
    asked,
    cache_with_files,
    embed_all,
    engine_of,
    ids,
    line_of,
    record,
    search_with,
    turn,
    vector_of,
)

pytestmark = pytest.mark.usefixtures("keep_all")

TEXTS = [
    f"green {word} in the {place}" for word in ("bike", "tea", "car") for place in ("garden", "shop", "shed", "sea")
]


@pytest.fixture
def store() -> SearchStore:
    made = SearchStore()
    made.put_all(
        "b",
        [turn(seq, TEXTS[seq % len(TEXTS)], f"s{1 + seq // 5}", ["ann", "bob"][seq % 2]) for seq in range(1, 41)],
        [record(seq, f"the {TEXTS[seq]}", tags=["home"], turns=[f"t{seq}"]) for seq in range(1, 6)]
        + [record(6, "a blue bike", supersedes="m1"), line_of(7, op="forget", id="m2", at=1)],
    )
    embed_all(made, "b")
    return made


def answers(engine: SearchEngine) -> list[SearchResult]:
    options: list[dict[str, Any]] = [{}, {"history": True, "tags": ("home",)}, {"session": "s1"}, {"use_words": False}]
    found = [engine.search(asked("green tea garden ann", explain=True, **option)) for option in options]
    return [replace(result, embed_ms=0, search_ms=0) for result in found]


def keep(store: SearchStore, folder: Path) -> Path:
    """Let a file be written; it."""
    cache = cache_with_files(store, folder)
    search_with(store, cache).search(asked("tea"))
    cache.wait_for_files()
    (path,) = folder.glob("*.index")
    return path


def reopened(store: SearchStore, folder: Path) -> SearchEngine:
    """A search of a process that has only the files."""
    return search_with(store, cache_with_files(store, folder))


def test_an_index_from_a_file_answers_as_one_from_the_lines(store: SearchStore, tmp_path: Path):
    keep(store, tmp_path)
    cache = cache_with_files(store, tmp_path)
    assert answers(search_with(store, cache)) == answers(engine_of(store, True))
    assert cache.get("b", IDENTITY)[0].is_from_file


def test_an_index_from_a_file_reads_only_the_lines_that_came_since(store: SearchStore, tmp_path: Path):
    keep(store, tmp_path)
    before = store.reads
    reopened(store, tmp_path).search(asked("tea"))
    assert store.reads == before
    store.put_all("b", [turn(41, "a new kettle")])
    assert ids(reopened(store, tmp_path).search(asked("kettle")))[0] == "t41"
    assert store.reads == before + 1


def test_arrays_of_a_file_take_no_memory_of_their_own(store: SearchStore, tmp_path: Path):
    keep(store, tmp_path)
    opened = cache_with_files(store, tmp_path).get("b", IDENTITY)[0]
    assert opened.vectors.nbytes == 0 and opened.postings.nbytes < 70_000  # the tail's room


def test_a_mapped_index_says_what_it_takes(store: SearchStore, tmp_path: Path):
    store.put_all("b", [turn(seq, TEXTS[seq % len(TEXTS)], f"s{1 + seq // 20}") for seq in range(41, 1001)])
    keep(store, tmp_path)
    files, device, words = KeptIndexes(tmp_path, Notes(store), 1 << 30), store.device("b"), Tokenizer()
    files.open(device, words)  # what all indexes share is not this one's
    gc.collect()
    tracemalloc.start()
    index = files.open(device, words)
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert index and 0.8 < index.nbytes / taken < 1.25


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.one_of(STEPS, st.sampled_from(["keep", "reopen"])), max_size=30))
def test_an_index_that_is_kept_and_opened_again_and_again_answers_as_a_new_one(
    steps: list[Any], tmp_path_factory: pytest.TempPathFactory
):
    folder = tmp_path_factory.mktemp("indexes")
    store = SearchStore()
    store.put_all("b", [turn(1, "green tea")])
    cache = cache_with_files(store, folder)
    for step in steps:
        if step == "reopen":
            cache.wait_for_files()
            cache = cache_with_files(store, folder)
        elif step in ("search", "keep"):
            search_with(store, cache).search(asked("tea"))
            if step == "keep":
                cache.wait_for_files()
        elif step == "embed":
            embed_all(store, "b")
        else:
            store.put("b", step[0], *((step[1], None) if isinstance(step[1], int) else (seq_of(step[1]), step[1])))
    assert answers(search_with(store, cache)) == answers(engine_of(store, True))
    cache.wait_for_files()
    assert answers(reopened(store, folder)) == answers(engine_of(store, True))


# --- damage


def check_damaged(store: SearchStore, folder: Path, content: bytes, expected: list[SearchResult]) -> None:
    """The answers with a file of this content are those of the lines."""
    path = keep(store, folder)
    # In its place, never into it: what has it mapped still would end the process.
    damaged = folder / "damaged"
    damaged.write_bytes(content)
    damaged.replace(path)
    cache = cache_with_files(store, folder)
    assert answers(search_with(store, cache)) == expected
    cache.wait_for_files()


def test_a_file_that_is_cut_anywhere_is_made_again(store: SearchStore, tmp_path: Path):
    whole = keep(store, tmp_path).read_bytes()
    expected = answers(engine_of(store, True))
    for length in [0, 1, 15, 16, 17, *random.Random(1).sample(range(len(whole)), 25), len(whole) - 1]:
        check_damaged(store, tmp_path, whole[:length], expected)


def test_a_file_with_a_changed_bit_anywhere_is_made_again_or_says_the_same(store: SearchStore, tmp_path: Path):
    whole = keep(store, tmp_path).read_bytes()
    expected = answers(engine_of(store, True))
    for at in random.Random(2).sample(range(8 * len(whole)), 60):
        changed = bytearray(whole)
        changed[at // 8] ^= 1 << at % 8
        check_damaged(store, tmp_path, bytes(changed), expected)


def test_a_file_of_another_version_of_the_program_is_not_used(
    store: SearchStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    keep(store, tmp_path)
    monkeypatch.setattr(kept, "__version__", "999")
    assert not cache_with_files(store, tmp_path).get("b", IDENTITY)[0].is_from_file


def test_a_file_that_is_newer_than_a_database_that_was_restored_is_not_used(store: SearchStore, tmp_path: Path):
    keep(store, tmp_path)
    notes = dict(store.notes)
    store.put("b", "journal", 3, None)
    store.put_all("b", [turn(41, "green tea")])
    keep(store, tmp_path)
    store.notes = notes  # as the database was when it was backed up; it has gone on since, by other versions
    assert not cache_with_files(store, tmp_path).get("b", IDENTITY)[0].is_from_file


def test_files_used_longest_ago_leave_when_all_are_too_many_bytes(store: SearchStore, tmp_path: Path):
    size = keep(store, tmp_path).stat().st_size
    for age, name in enumerate(("c", "d", "e"), start=1):
        store.put_all(name, [turn(seq, TEXTS[seq % len(TEXTS)]) for seq in range(1, 41)])
        for path in tmp_path.glob("*.index"):
            os.utime(path, (1000 * age, 1000 * age))
        cache = cache_with_files(store, tmp_path, 2 * size)
        cache.get(name, None)
        cache.wait_for_files()
    files = KeptIndexes(tmp_path, Notes(store), 2 * size)
    assert files.has("e") and not files.has("b") and files.nbytes <= 2 * size


# --- what is forgotten


def has_part_of(data: bytes, word: str, text: str) -> bool:
    """Whether bytes have the number of a word, or the vector of a text."""
    codes, _ = quantize(vector_of(text)[None])
    return term_id(word).to_bytes(8, "little", signed=True) in data or codes.tobytes() in data


def secret(store: SearchStore, folder: Path) -> Path:
    """A file of a board that has a secret."""
    store.put_all("b", [turn(41, "xylophone lessons", who="zoe")])
    store.embed("b", "journal", 41, vector_of("xylophone lessons"))
    path = keep(store, folder)
    assert has_part_of(path.read_bytes(), "xylophon", "xylophone lessons") and b"zoe" in path.read_bytes()
    store.put("b", "journal", 41, None)
    return path


def assert_forgotten(store: SearchStore, folder: Path) -> None:
    found = reopened(store, folder).search(asked("xylophone lessons", limit=100, history=True))
    assert "t41" not in ids(found)


@pytest.mark.parametrize("is_in_memory", [False, True])
def test_a_sweep_takes_what_has_left_the_database_out_of_the_file(
    store: SearchStore, tmp_path: Path, is_in_memory: bool
):
    path = secret(store, tmp_path)
    cache = cache_with_files(store, tmp_path)
    if is_in_memory:
        cache.get("b", IDENTITY)
        cache.wait_for_files()
    cache.sweep()
    data = path.read_bytes()
    assert not has_part_of(data, "xylophon", "xylophone lessons") and b"zoe" not in data
    assert_forgotten(store, tmp_path)
    assert cache_with_files(store, tmp_path).get("b", IDENTITY)[0].is_from_file


def test_a_search_takes_what_has_left_the_database_out_of_the_file(store: SearchStore, tmp_path: Path):
    path = secret(store, tmp_path)
    cache = cache_with_files(store, tmp_path)
    cache.get("b", IDENTITY)
    cache.wait_for_files()
    assert not has_part_of(path.read_bytes(), "xylophon", "xylophone lessons")


class Killed(BaseException):
    """The process ends here."""


def dies_before(call: Callable[..., Any]) -> Callable[..., Any]:
    def killed(*values: Any, **options: Any) -> Any:
        raise Killed

    return killed


def dies_after(call: Callable[..., Any]) -> Callable[..., Any]:
    def killed(*values: Any, **options: Any) -> Any:
        call(*values, **options)
        raise Killed

    return killed


@pytest.mark.parametrize(
    "step, dies", matrix(["write_image", "put", "replace", "fsync", "map_image"], [dies_before, dies_after])
)
def test_a_process_that_is_killed_at_any_step_leaves_nothing_to_be_found(
    store: SearchStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, dies: Callable[..., Any]
):
    secret(store, tmp_path)
    places: dict[str, Any] = {"write_image": kept, "map_image": kept, "fsync": os, "replace": Path, "put": SearchStore}
    name = "put_note" if step == "put" else step
    with monkeypatch.context() as patch:
        patch.setattr(places[step], name, dies(getattr(places[step], name)))
        with pytest.raises(Killed):
            cache_with_files(store, tmp_path).sweep()
    assert_forgotten(store, tmp_path)
    cache_with_files(store, tmp_path).sweep()
    for path in tmp_path.glob("*.index"):
        assert not has_part_of(path.read_bytes(), "xylophon", "xylophone lessons")


def test_a_file_that_was_never_finished_is_removed(store: SearchStore, tmp_path: Path):
    keep(store, tmp_path)
    left = tmp_path / "left.1-2.tmp"
    left.write_bytes(b"something")
    os.utime(left, (1000, 1000))
    cache_with_files(store, tmp_path).sweep()
    assert not left.exists()


def test_a_full_disk_leaves_no_file_with_what_was_forgotten(
    store: SearchStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = secret(store, tmp_path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    cache_with_files(store, tmp_path).sweep()
    assert not path.exists() and not list(tmp_path.glob("*.tmp"))
    assert_forgotten(store, tmp_path)


def test_the_file_of_a_board_that_was_erased_is_removed(store: SearchStore, tmp_path: Path):
    path = keep(store, tmp_path)
    store.drop("b")
    cache_with_files(store, tmp_path).sweep()
    assert not path.exists()


def test_a_search_for_a_board_that_was_erased_removes_its_file(store: SearchStore, tmp_path: Path):
    path = keep(store, tmp_path)
    store.drop("b")
    with pytest.raises(UnknownDevice):
        cache_with_files(store, tmp_path).get("b", IDENTITY)
    assert not path.exists()
