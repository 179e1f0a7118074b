"""What is kept of a folder: passages as lines, their places apart from them, on both databases."""

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion_store import opened_store
from engram import log_line, text
from engram_host.companion.folders import indexer
from engram_host.companion.folders.indexer import FolderIndexer, FolderProgress
from engram_host.companion.folders.sources import FolderSource, list_files
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.vectors import Identity, StoredVector
from engram_host.companion.types import SeqRange
from markdown_folders import place_of, read_into, settings_of, write

IDENTITY = Identity("test", 4, 1)
SECTIONS = "\n".join(f"# Part {number}\n\n" + f"words of part {number} " * 60 for number in range(8))


@pytest.fixture
def place(tmp_path: Path) -> FolderSource:
    """A folder that is empty."""
    (tmp_path / "notes").mkdir()
    return place_of(tmp_path / "notes")


def lines(store: CompanionStore, place: FolderSource) -> dict[int, dict]:
    """All passages, by seq."""
    device = store.boards.device(place.device)
    span = SeqRange(place.device, "records", device.logs["records"].epoch, 0, log_line.MAX_SEQ)
    return {seq: log_line.decode(line) for seq, line in store.boards.lines(span)}


def texts(store: CompanionStore, place: FolderSource) -> set[str]:
    return {line["content"] for line in lines(store, place).values()}


def embed_all(store: CompanionStore, place: FolderSource) -> None:
    vectors = [StoredVector("records", seq, b"d" * 16, np.ones(4, np.float32)) for seq in lines(store, place)]
    store.vectors.put_vectors(place.device, IDENTITY, vectors)


def with_vector(store: CompanionStore, place: FolderSource) -> set[int]:
    return {stored.seq for _, stored in store.vectors.vectors(place.device, IDENTITY, 0)}


def settle(place: FolderSource) -> None:
    """Let the files be older than the time in which a change might go unseen."""
    for path in place.root.rglob("*.md"):
        os.utime(path, (time.time() - 100, time.time() - 100))


def test_a_folder_is_no_board(store: CompanionStore, place: FolderSource):
    write(place.root, {"a.md": "tea"})
    read_into(store, place)
    assert store.boards.devices() == [] and [source.name for source in store.boards.sources()] == [place.device]


def test_lines_put_in_at_the_beginning_make_no_passage_of_another_section_new(
    store: CompanionStore, place: FolderSource
):
    write(place.root, {"a.md": SECTIONS})
    read_into(store, place)
    embed_all(store, place)
    everything = with_vector(store, place)
    write(place.root, {"a.md": "# Before\n\n" + "something new " * 70 + "\n" + SECTIONS})
    read_into(store, place)
    kept = with_vector(store, place)
    assert len(everything) > 4 and len(everything - kept) <= 1


def test_what_is_the_same_is_not_read_again(
    store: CompanionStore, place: FolderSource, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(indexer, "_JUST_NOW_SECONDS", 0)
    write(place.root, {"a.md": "tea"})
    read_into(store, place)
    version = store.boards.device(place.device).version
    monkeypatch.setattr(indexer, "read_file", None)
    assert read_into(store, place).passages == 1
    assert store.boards.device(place.device).version == version


def test_a_file_that_stays_too_large_is_reported_each_time_and_stored_once(store: CompanionStore, place: FolderSource):
    write(place.root, {"big.md": b"x" * 5000})
    settings, stored = settings_of(place.root, most_file_bytes=4000), []
    first, second = (read_into(store, place, settings, stored.append) for _ in range(2))
    assert len(stored) == 1 and first.problems == second.problems != []


def test_a_change_that_leaves_size_and_time_of_a_new_file_is_seen(
    store: CompanionStore, place: FolderSource, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(indexer, "_JUST_NOW_SECONDS", 600)
    write(place.root, {"a.md": "green"})
    status = (place.root / "a.md").stat()
    read_into(store, place)
    write(place.root, {"a.md": "black"})
    os.utime(place.root / "a.md", ns=(status.st_atime_ns, status.st_mtime_ns))
    read_into(store, place)
    assert texts(store, place) == {"black"}


def test_what_was_taken_out_of_a_file_leaves_the_database(tmp_path: Path, place: FolderSource):
    with opened_store(tmp_path) as store:
        write(place.root, {"a.md": "the safe opens with 90125"})
        read_into(store, place)
        write(place.root, {"a.md": "nothing to see"})
        read_into(store, place)
        assert not any(b"90125" in path.read_bytes() for path in tmp_path.glob("companion.db*"))


def test_another_scope_is_written_without_embedding_anything_again(store: CompanionStore, place: FolderSource):
    write(place.root, {"a.md": SECTIONS})
    read_into(store, place)
    embed_all(store, place)
    before = with_vector(store, place)
    read_into(store, place_of(place.root, scope="all"))
    assert {line["scope"] for line in lines(store, place).values()} == {"all"} and with_vector(store, place) == before


@pytest.mark.parametrize(("data", "why"), [(b"caf\xe9", "UTF-8"), (b"a\0b", "zero bytes"), (b"x" * 5000, "5000 bytes")])
def test_a_file_that_is_no_text_or_too_large_is_reported_and_others_are_read(
    store: CompanionStore, place: FolderSource, data: bytes, why: str
):
    write(place.root, {"bad.md": data, "good.md": "tea"})
    progress = read_into(store, place, settings_of(place.root, most_file_bytes=4000))
    assert texts(store, place) == {"tea"}
    (problem,) = progress.problems
    assert problem.startswith("notes/bad.md") and why in problem


@pytest.mark.parametrize("bound, most", [("FILES_AT_ONCE", 3), ("BYTES_AT_ONCE", 13)])
def test_a_stop_after_each_group_loses_nothing_and_the_rest_comes_later(
    store: CompanionStore, place: FolderSource, monkeypatch, bound: str, most: int
):
    monkeypatch.setattr(indexer, bound, most)
    write(place.root, {f"{number}.md": f"tea {number}" for number in range(10)})
    settle(place)
    counts = []
    for _ in range(4):
        stop = threading.Event()
        listing = list_files(place, 100)
        assert listing
        FolderIndexer(store.folders, settings_of(place.root), stop).bring_up_to_date(
            place, listing, FolderProgress(), stop.set
        )
        counts.append(len(lines(store, place)))
    assert counts == [3, 6, 9, 10]


def test_a_folder_that_is_removed_leaves_nothing(store: CompanionStore, place: FolderSource):
    write(place.root, {"a.md": "tea"})
    read_into(store, place)
    embed_all(store, place)
    store.folders.drop_folder(place.device)
    assert (
        store.boards.sources() == []
        and store.folders.stamps(place.device) == []
        and store.vectors.cached(IDENTITY, [b"d" * 16]) == {}
    )


@given(
    st.text(
        st.one_of(
            st.sampled_from("a\n\t\x00\x1f\x7f\x80\x9f\xa0\u2029\u202a\u202e\u2065\u2066\u2069\u206a"), st.characters()
        )
    )
)
def test_what_a_terminal_is_not_shown_is_what_the_board_does_not_show(told: str):
    shown = told.encode("utf-8", "replace").decode()
    assert indexer.printable(shown) == text.printable(shown)
