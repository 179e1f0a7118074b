"""Patterns of a folder's files: what they name, and what a folder with them reads."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram_host.companion.errors import SettingError
from engram_host.companion.folders.sources import folder_sources, list_files, matches, may_match_below, read_file
from markdown_folders import place_of, settings_of, write
from one_case import in_one_case

FILES = {"a.md": "a", "log/b.md": "b", "log/2026/c.md": "c", "log/2026/d.txt": "d", "log/.e.md": "e", "zoo/f.md": "f"}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    write(root, dict(FILES))
    return root


def listed(root: Path, pattern: object) -> list[str]:
    listing = list_files(place_of(root, pattern=pattern), 1000)
    assert listing
    return sorted(listing.files)


@in_one_case(
    "pattern, found",
    [
        ("*.md", ["a.md"]),
        ("**/*.md", ["a.md", "log/2026/c.md", "log/b.md", "zoo/f.md"]),
        ("log/*.md", ["log/b.md"]),
        ("log/**", ["log/2026/c.md", "log/2026/d.txt", "log/b.md"]),
        ("log/**/*.md", ["log/2026/c.md", "log/b.md"]),
        ("**/2026/*", ["log/2026/c.md", "log/2026/d.txt"]),
        ("[ab].md", ["a.md"]),
        ("log/?.md", ["log/b.md"]),
        ("**/.e.md", []),
        ("A.md", []),
        (["zoo/*.md", "a.md"], ["a.md", "zoo/f.md"]),
    ],
)
def test_a_folder_reads_what_its_patterns_name(notes: Path, pattern: object, found: list[str]):
    assert listed(notes, pattern) == found


def test_a_file_that_no_pattern_names_is_not_read(notes: Path):
    with pytest.raises(FileNotFoundError):
        read_file(place_of(notes, pattern="log/*.md"), "a.md", 1000)


def test_a_folder_can_be_read_as_two_collections(notes: Path):
    entries = [{"path": str(notes), "name": name, "pattern": f"{name}/**"} for name in ("log", "zoo")]
    sources = folder_sources(settings_of(*entries), "test")
    assert len({source.device for source in sources}) == 2
    assert [source.path_of("zoo/zoo/f.md") for source in sources] == ["", "zoo/f.md"]


@in_one_case(
    "pattern",
    ["", "/a.md", "../a.md", "a//b.md", "a\\b.md", "x" * 201, 7, ["*.md", 7], {"a": "b"}, ["*"] * 17, "a\n.md"],
)
def test_a_pattern_that_is_none_stops_the_start(pattern: object):
    with pytest.raises(SettingError, match="pattern"):
        settings_of({"path": "/notes", "pattern": pattern})


def test_a_single_file_has_no_pattern():
    with pytest.raises(SettingError, match="has a pattern"):
        settings_of({"path": "/notes/a.md", "pattern": "*.md"})


def test_a_folder_of_memory_has_no_pattern():
    with pytest.raises(SettingError, match="has a pattern"):
        settings_of(memory=({"path": "/notes", "pattern": "*.md"},))


NAMES = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=5)


@given(pattern=st.lists(st.sampled_from(["a", "*", "**", "?", "ab"]), min_size=1, max_size=5), names=NAMES)
def test_a_file_that_is_named_is_in_folders_that_are_looked_into(pattern: list[str], names: list[str]):
    glob = "/".join(pattern)
    if matches(glob, "/".join(names)):
        assert all(may_match_below(glob, "/".join(names[:end])) for end in range(1, len(names)))


def test_a_pattern_of_many_stars_takes_no_time():
    assert not matches("/".join(["**", "*a*"] * 40), "/".join(["b" * 30] * 32))
