"""What is read of a folder: its own Markdown files, and never anything outside, whatever is put in the way."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram_host.companion.errors import FileUnreadable, SettingError
from engram_host.companion.folder_settings import FoldersSettings
from engram_host.companion.folders.sources import folder_sources, list_files, read_file
from markdown_folders import place_of, settings_of, write
from one_case import in_one_case

SECRET = b"the secret is 4711"
MOST = 2_000_000


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder of notes, beside something that is nobody's business."""
    write(tmp_path, {"secret.md": SECRET, "outside/secret.md": SECRET})
    root = tmp_path / "notes"
    write(root, {"a.md": "a", "sub/b.md": "b", "c.txt": "c", ".hidden/d.md": "d", ".e.md": "e"})
    return root


def listed(root: Path) -> list[str]:
    listing = list_files(place_of(root), 1000)
    assert listing
    return sorted(listing.files)


def test_markdown_files_are_listed_and_hidden_ones_are_not(notes: Path):
    assert listed(notes) == ["a.md", "sub/b.md"]


def test_a_folder_of_memory_has_its_file_and_what_is_below_memory(notes: Path):
    write(notes, {"MEMORY.md": "m", "memory/2026-01-01.md": "d", "memory/deep/x.md": "x"})
    (place,) = folder_sources(FoldersSettings(memory=(str(notes),)), "test")
    listing = list_files(place, 1000)
    assert listing and sorted(listing.files) == ["MEMORY.md", "memory/2026-01-01.md", "memory/deep/x.md"]


def test_a_single_file_is_a_folder_of_its_own(notes: Path):
    (place,) = folder_sources(settings_of(notes / "a.md"), "test")
    listing = list_files(place, 1000)
    assert listing and list(listing.files) == ["a.md"]
    assert (place.citation("a.md"), place.path_of("a.md"), place.path_of("sub/b.md")) == ("a.md", "a.md", "")


def test_links_are_not_listed_but_counted(notes: Path):
    for target in ("secret.md", "outside"):
        (notes / f"{target}-link.md").symlink_to(notes.parent / target)
        (notes / f"{target}-link").symlink_to(notes.parent / target)
    listing = list_files(place_of(notes), 1000)
    assert listing and sorted(listing.files) == ["a.md", "sub/b.md"] and listing.links == 4


def test_the_folder_itself_may_be_a_link(notes: Path):
    link = notes.parent / "link"
    link.symlink_to(notes)
    assert listed(link) == ["a.md", "sub/b.md"]


@in_one_case("name", ["link.md", "link/secret.md", "sub/link.md", "sub/link/secret.md"])
def test_a_link_is_not_read(notes: Path, name: str):
    target = notes.parent / ("secret.md" if name.endswith("link.md") else "outside")
    (notes / name.removesuffix("/secret.md")).symlink_to(target)
    with pytest.raises(FileNotFoundError):
        read_file(place_of(notes), name, MOST)


def test_a_pipe_is_not_waited_for(notes: Path):
    os.mkfifo(notes / "pipe.md")
    assert "pipe.md" not in listed(notes)
    with pytest.raises(FileNotFoundError):
        read_file(place_of(notes), "pipe.md", MOST)


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from(["..", ".", "", "sub", "a.md", "secret.md", "outside", "\0", "~", "notes"]), max_size=6)
)
def test_no_path_leads_out(tmp_path_factory: pytest.TempPathFactory, parts: list[str]):
    root = tmp_path_factory.mktemp("out", numbered=True) / "notes"
    write(root.parent, {"secret.md": SECRET, "outside/secret.md": SECRET, "notes/a.md": "a", "notes/sub/a.md": "a"})
    for path in ("/".join(parts), str(root / "/".join(parts)) if "\0" not in parts else "x"):
        with suppress(FileNotFoundError):
            assert read_file(place_of(root), path, MOST).data == b"a"


_SWAP = """
import os, sys
real, aside, outside = sys.argv[1:]
while True:
    os.rename(real, aside)
    os.symlink(outside, real)
    os.unlink(real)
    os.rename(aside, real)
"""


def test_a_link_that_is_swapped_in_while_files_are_read_is_never_followed(notes: Path):
    """Another process changes between a folder and a link to the outside as fast as it can."""
    write(notes, {"swap/secret.md": "mine"})
    swapped = [str(path) for path in (notes / "swap", notes / "aside", notes.parent / "outside")]
    place = place_of(notes)
    read_count = refused = 0
    end = time.monotonic() + 20
    with subprocess.Popen([sys.executable, "-c", _SWAP, *swapped]) as other:
        try:
            while (read_count < 500 or refused < 500) and time.monotonic() < end:
                try:
                    assert read_file(place, "swap/secret.md", MOST).data == b"mine"
                    read_count += 1
                except FileNotFoundError:
                    refused += 1
        finally:
            other.kill()
    assert read_count and refused


def test_a_file_that_is_too_large_is_reported_with_its_size(notes: Path):
    write(notes, {"big.md": b"x" * 5000})
    with pytest.raises(FileUnreadable, match=r"notes/big.md has 5000 bytes"):
        read_file(place_of(notes), "big.md", 4000)


def test_more_files_than_allowed_are_reported(notes: Path):
    listing = list_files(place_of(notes), 1)
    assert listing and len(listing.files) == 1 and "more than 1 file;" in listing.problems[0]


@in_one_case(
    "path",
    ["notes", "../notes", "", "/a/../b", "~nobody-of-that-name/x", 5, {"scope": "all"}, {"path": "/a", "x": "y"}],
)
def test_a_path_that_cannot_be_meant_stops_the_start(path: object):
    with pytest.raises(SettingError, match=r"folders\.paths"):
        settings_of(path)


@in_one_case("scope", ["", "everybody", "user:", "ws:a:b", "user:a b", "@all"])
def test_a_scope_that_is_none_stops_the_start(scope: str):
    with pytest.raises(SettingError, match="scope"):
        settings_of({"path": "/notes", "scope": scope})


def test_two_folders_of_one_name_are_distinguished():
    assert [place.name for place in folder_sources(settings_of("/a/notes", "/b/notes"), "test")] == ["notes", "notes-2"]


def test_one_folder_twice_stops_the_start():
    with pytest.raises(SettingError, match="twice"):
        folder_sources(settings_of("/a/notes", "/a/notes"), "test")
