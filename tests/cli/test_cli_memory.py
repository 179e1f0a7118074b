"""What boards remember, from the command line: a real companion, and a board that ran beside it and is switched off now."""

import json
import os
import pty
import subprocess
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_case import engram, fine
from engram_host.simulator import board as sim
from told_board import Told, told_board

TELLINGS = ("remember that my bike is green", "remember that Ada drinks tea")
MEMORIES = 3
"""Those of the tellings, and the one that took the place of the first."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    with told_board(tmp_path_factory.mktemp("cli"), TELLINGS, "my bike is blue now") as told:
        yield told


@pytest.fixture
def home(told: Told) -> tuple[str, str]:
    return "--home", str(told.companion.home)


def _memories(home: tuple[str, str], *words: str) -> list[dict]:
    return fine("list", *home, "--json", *words).json["entries"]


def test_a_search_that_is_not_sure_says_so(home):
    unsure = fine("search", "bike zebra quagga okapi gnu impala", *home, "--words")
    assert "nothing certain was found" in unsure.err and "my bike" in unsure.out
    assert "certain" not in fine("search", "my bike", *home, "--words").err


def test_an_empty_search_names_words_and_not_stems(home):
    empty = fine("search", "databases", "--words", *home).out
    assert empty == "nothing found: none of the words (databases) stands in an entry that may be shown here.\n"


def test_list_takes_filters(home):
    assert _memories(home, "--tag", "nothing-has-this") == []
    assert len(_memories(home, "--limit", "1", "--state", "all")) == 1
    turns = fine("list", *home, "--turns", "--speaker", "owner", "--state", "all", "--json").json["entries"]
    assert [turn["line"]["text"] for turn in turns] == list(reversed(TELLINGS))
    assert _memories(home, "--until", "2026-01-01") == []


def test_a_turn_whose_memory_was_replaced_is_listed_as_superseded(home):
    turns = fine("list", *home, "--turns", "--speaker", "owner", "--json").json["entries"]
    assert [turn["line"]["text"] for turn in turns] == list(reversed(TELLINGS[1:]))


def test_show_shows_a_turn(home):
    turn = fine("list", "--turns", "--state", "all", *home, "--json").json["entries"][-1]
    assert fine("show", turn["id"], *home, "--json").json["line"]["text"] == TELLINGS[0]


def test_an_export_is_what_the_board_itself_exports(told: Told, home, tmp_path: Path):
    out = tmp_path / "out.jsonl"
    assert fine("export", *home, "--out", out, "--json").json["lines"] == len(out.read_text().splitlines())
    ours = [json.loads(line) for line in out.read_text().splitlines()]
    theirs = [json.loads(line) for line in _board_export(told.board)]
    unknown = ("uses", "used")
    memories = [
        [{name: value for name, value in line.items() if name not in unknown} for line in lines if "content" in line]
        for lines in (ours, theirs)
    ]
    assert memories[0] == memories[1] and len(memories[0]) == MEMORIES
    assert ours[0]["epoch"] == theirs[0]["epoch"]
    assert ours[-1] == {"engram_export_end": len(ours) - 1}


def test_an_export_as_markdown_has_what_is_remembered_now(home, tmp_path: Path):
    page, lines = tmp_path / "out.md", tmp_path / "in.jsonl"
    fine("export", "--markdown", *home, "--out", page)
    assert fine("export", "--markdown", *home).out == page.read_text()
    fine("import", page, "--out", lines)
    memories = [json.loads(line) for line in lines.read_text().splitlines()]
    expected = [(each["line"]["content"], each["line"]["tags"]) for each in _memories(home)]
    assert sorted((each["content"], each["tags"]) for each in memories) == sorted(expected)


def _board_export(folder: Path) -> list[str]:
    variables = {"ENGRAM_HOME": str(folder), "MICROPYPATH": sim.SEARCH_PATH}
    done = subprocess.run(sim.command(), input=b"/export\n", env=variables, capture_output=True, timeout=60, check=True)
    return [line for line in done.stdout.decode().splitlines() if line.startswith("{")]


@pytest.fixture
def plugged(tmp_path: Path) -> Iterator[str]:
    """The serial port of a board that was switched on."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    (tmp_path / "plugged").mkdir()
    variables = {"ENGRAM_HOME": str(tmp_path / "plugged"), "MICROPYPATH": sim.SEARCH_PATH, "ENGRAM_TERMINAL": "1"}
    board = subprocess.Popen(sim.command(), stdin=ours, stdout=ours, stderr=ours, env=variables)
    os.close(ours)
    yield os.ttyname(theirs)
    board.kill()
    board.wait()
    os.close(theirs)


def test_what_is_exported_is_imported_into_another_board_once(home, plugged: str, tmp_path: Path):
    out = tmp_path / "out.jsonl"
    fine("export", *home, "--out", out)
    first = fine("import", out, "--port", plugged, "--json").json
    again = fine("import", out, "--port", plugged, "--json").json
    assert (first["stored"], first["refused"], again["stored"]) == (MEMORIES, 0, 0)


def test_show_tells_the_memory_in_whose_place_another_came(home):
    newest = next(each["id"] for each in _memories(home) if "blue" in each["line"]["content"])
    told = fine("show", newest, *home, "--json").json["versions"]
    assert [line["content"] for line in told] == ["my bike is green", "my bike is blue now"]
    assert "history, oldest first" in fine("show", newest, *home).out


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("show", "m999999"), 4),
        (("show", "m1", "--device", "nobody"), 4),
        (("show", "banana"), 2),
        (("list", "--since", "yesterday"), 2),
        (("list", "--state", "odd"), 2),
        (("search", " "), 2),
        (("export", "--device", "nobody"), 4),
    ],
)
def test_an_error_is_one_sentence_and_a_status(home, words: tuple[str, ...], status: int):
    ran = engram(*words, *home)
    assert (ran.status, ran.out) == (status, "")
    assert ran.err.startswith(f"engram {words[0]}: ") and len(ran.err.splitlines()) == 1
    as_json = engram(*words, *home, "--json", *(("--out", "none.jsonl") if words[0] == "export" else ()))
    assert (as_json.status, list(as_json.json)) == (status, ["problem"])
