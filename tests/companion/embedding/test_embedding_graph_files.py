"""Graphs in files: whole or not used, built again when in doubt, written at once or not at all."""

import hashlib
import logging
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engram_host.companion.embedding.engines.graph_files import GraphFiles
from one_case import in_one_case

GRAPH = b"a graph" * 1000


class Builder:
    """Counts how often it builds."""

    def __init__(self, graph: bytes = GRAPH):
        self.builds = 0
        self._graph = graph

    def __call__(self) -> bytes:
        self.builds += 1
        return self._graph


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "graphs"


@pytest.fixture
def kept(folder: Path) -> Path:
    """The file of a graph that was built before."""
    GraphFiles(folder).open("model-full", "key", Builder())
    return folder / "model-full-key.graph"


def test_a_graph_is_built_once(folder: Path, kept: Path):
    again = Builder()
    assert GraphFiles(folder).open("model-full", "key", again) == GRAPH
    assert again.builds == 0


@in_one_case(
    "damage",
    [
        lambda whole: b"",
        lambda whole: whole[:20],
        lambda whole: whole[:-1],
        lambda whole: whole + b"x",
        lambda whole: bytes([whole[0] ^ 1]) + whole[1:],
        lambda whole: whole[:-1] + bytes([whole[-1] ^ 1]),
    ],
)
def test_a_damaged_graph_is_thrown_away_and_built_again(folder: Path, kept: Path, damage):
    kept.write_bytes(damage(kept.read_bytes()))
    again = Builder()
    assert GraphFiles(folder).open("model-full", "key", again) == GRAPH
    assert again.builds == 1
    assert kept.read_bytes() == hashlib.sha256(GRAPH).digest() + GRAPH


def test_another_key_replaces_the_graphs_of_the_same_name(folder: Path, kept: Path):
    GraphFiles(folder).open("model-int8", "key", Builder())
    GraphFiles(folder).open("model-full", "newer", Builder())
    assert sorted(path.name for path in folder.iterdir()) == ["model-full-newer.graph", "model-int8-key.graph"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_write_that_fails_leaves_nothing_and_the_graph_is_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, call: str
):
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, fail)
    with caplog.at_level(logging.WARNING):
        assert GraphFiles(folder).open("model-full", "key", Builder()) == GRAPH
    assert list(folder.iterdir()) == []
    assert "No space left on device" in caplog.text


def test_a_file_where_the_folder_should_be_is_reported(folder: Path, caplog: pytest.LogCaptureFixture):
    folder.write_bytes(b"")
    with caplog.at_level(logging.WARNING):
        assert GraphFiles(folder).open("model-full", "key", Builder()) == GRAPH
    assert "is built at each start" in caplog.text


def test_without_a_folder_nothing_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert GraphFiles(None).open("model-full", "key", Builder()) == GRAPH
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_after_an_hour(folder: Path):
    folder.mkdir()
    old, young = folder / "model-full-key1.tmp", folder / "model-full-key2.tmp"
    for path in (old, young):
        path.write_bytes(b"half")
    two_hours_ago = time.time() - 7200
    os.utime(old, (two_hours_ago, two_hours_ago))
    GraphFiles(folder).open("model-full", "key", Builder())
    assert sorted(path.name for path in folder.iterdir()) == ["model-full-key.graph", "model-full-key2.tmp"]


WRITE = """
import sys
from pathlib import Path
from engram_host.companion.embedding.engines.graph_files import GraphFiles
graph = bytes(range(256)) * 40_000
for number in range(20):
    assert GraphFiles(Path(sys.argv[1])).open("model-full", str(number % 3), lambda: graph) == graph
"""


def test_processes_at_once_read_and_write_whole_graphs(folder: Path):
    path = ":".join(place for place in sys.path if place)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, str(folder)], env={"PYTHONPATH": path}, stderr=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    errors = [writer.communicate(timeout=120)[1] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0], errors
    assert all("damaged" not in error for error in errors)
    assert [path for path in folder.iterdir() if path.suffix == ".tmp"] == []
