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
from peers import BoardProcess
from told_board import DEVICE, Told, told_board
from waiting import wait_until

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


def test_search_finds_what_was_said(home):
    found = fine("search", "bike", *home, "--json").json["hits"]
    assert found and all("bike" in hit["text"] for hit in found[:2])
    assert "my bike is" in fine("search", "what colour is the bike?", *home, "--words", "--limit", "2").out


def test_a_search_that_finds_nothing_says_why_and_is_fine(home):
    assert fine("search", "zeppelin", *home).out.startswith("nothing found: ")


def test_a_search_says_why_a_memory_is_not_there(home):
    older = next(each["id"] for each in _memories(home, "--state", "superseded"))
    assert "is history" in fine("search", "bike", *home, "--why", older).out
    found = fine("search", "zeppelin", *home, "--why", "m2", "--words", "--json").json
    assert found["reason"] == "no match" and "zeppelin" in found["sentence"]
    assert "takes the id of a memory" in engram("search", "bike", *home, "--why", "bike").err
    assert engram("search", "bike", *home, "--why", "m1", "--device", "a", "--device", "b").status == 2


def test_an_import_is_previewed_by_the_copy_and_sent_in_the_background(home, tmp_path: Path):
    file = tmp_path / "list.md"
    file.write_text("- Ada drinks tea #tea\n- a new thing\n")
    shown = fine("import", file, *home, "--preview").out
    assert "a new thing" in shown and "1 there already, 1 stored" in shown
    assert fine("import", file, *home, "--preview", "--json").json["state"] == "preview"
    started = fine("import", file, *home, "--background", "--json").json
    assert started["state"] == "running" and started["total"] == 2
    assert engram("import", file, "--preview", "--out", tmp_path / "x", *home).status == 2


def test_a_search_explains_its_scores(home):
    explained = fine("search", "bike", *home, "--explain").out
    assert "words: bike" in explained and "confidence 0." in explained
    assert "plan: memories, turns; best first, at most 10\n" in explained


def test_a_search_that_is_not_sure_says_so(home):
    unsure = fine("search", "bike zebra quagga okapi gnu impala", *home, "--words")
    assert "nothing certain was found" in unsure.err and "my bike" in unsure.out
    assert "certain" not in fine("search", "my bike", *home, "--words").err


def test_an_explanation_and_an_empty_search_name_words_and_not_stems(home):
    assert "words: drinks " in fine("search", "drinks", *home, "--explain").out
    empty = fine("search", "databases", "--words", *home).out
    assert empty == "nothing found: none of the words (databases) stands in an entry that may be shown here.\n"


def test_list_shows_the_newest_memories_first(home):
    assert [each["line"]["content"] for each in _memories(home)][:2] == ["my bike is blue now", "Ada drinks tea"]
    assert fine("list", *home).out.splitlines()[0].endswith("my bike is blue now")


def test_list_takes_filters(home):
    assert _memories(home, "--tag", "nothing-has-this") == []
    assert len(_memories(home, "--limit", "1", "--state", "all")) == 1
    turns = fine("list", *home, "--turns", "--speaker", "owner", "--state", "all", "--json").json["entries"]
    assert [turn["line"]["text"] for turn in turns] == list(reversed(TELLINGS))
    assert _memories(home, "--until", "2026-01-01") == []


def test_a_turn_whose_memory_was_replaced_is_listed_as_superseded(home):
    turns = fine("list", *home, "--turns", "--speaker", "owner", "--json").json["entries"]
    assert [turn["line"]["text"] for turn in turns] == list(reversed(TELLINGS[1:]))


def test_show_shows_a_memory_with_its_fields(home):
    newest = _memories(home)[0]
    shown = fine("show", newest["id"], "--device", DEVICE, *home)
    assert shown.out.startswith(f"{newest['id']}  my bike is blue now") and "scope" in shown.out


def test_show_shows_a_turn(home):
    turn = fine("list", "--turns", "--state", "all", *home, "--json").json["entries"][-1]
    assert fine("show", turn["id"], *home, "--json").json["line"]["text"] == TELLINGS[0]


def test_history_of_a_board_shows_what_happened_to_its_copies(home):
    assert isinstance(fine("history", *home, "--json").json["events"], list)


def test_stats_count_boards_and_lines(home):
    stats = fine("stats", *home, "--json").json
    assert stats["figures"]["devices"] == 1 and stats["figures"]["lines_taken"] > 0
    assert DEVICE in fine("stats", *home).out


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
    assert ours[0]["epoch"] == theirs[0]["epoch"] and ours[0]["journal"] == theirs[0]["journal"]
    assert ours[-1] == {"engram_export_end": len(ours) - 1}


def _board_export(folder: Path) -> list[str]:
    from engram_host.cli.console_session import answer_lines as lines
    from engram_host.cli.console_session import open_board
    from engram_host.cli.options import read_context

    with open_board(read_context({"sim": folder})) as board:
        return list(lines(board, "/export"))


def _empty_board(folder: Path) -> Path:
    """A simulated board that was started once."""
    variables = {"ENGRAM_HOME": str(folder), "MICROPYPATH": sim.SEARCH_PATH}
    subprocess.run(sim.command(), input=b"/stats\n", env=variables, stdout=subprocess.DEVNULL, timeout=60, check=True)
    return folder


def test_what_is_exported_is_imported_into_another_board_once(home, tmp_path: Path):
    out = tmp_path / "out.jsonl"
    fine("export", *home, "--out", out)
    other = _empty_board(tmp_path / "other")
    first = fine("import", out, "--sim", other, "--json").json
    again = fine("import", out, "--sim", other, "--json").json
    assert (first["stored"], first["refused"], again["stored"]) == (MEMORIES, 0, 0)
    assert "my bike is blue now" in "".join(_board_export(other))


def test_an_import_shows_what_the_board_refuses(tmp_path: Path):
    file = tmp_path / "bad.jsonl"
    file.write_text('{"content":"good","tags":["x"]}\n{"content":"bad","importance":8}\n')
    ran = engram("import", file, "--sim", _empty_board(tmp_path / "board"), "--json")
    assert (ran.status, ran.json["stored"], ran.json["refused"]) == (1, 1, 1)
    assert ran.json["problems"][0].startswith("line 2: importance")


def test_an_edit_changes_the_memory_on_the_board_and_the_copy_follows(told: Told, home):
    entry = next(each["id"] for each in _memories(home) if each["line"]["content"] == "Ada drinks tea")
    edited = fine("edit", entry, "--text", "Ada drinks coffee", "--tag", "drinks", "--sim", told.board, "--json").json
    assert edited["after"]["content"] == "Ada drinks coffee" and edited["after"]["tags"] == ["drinks"]
    with BoardProcess(told.board, told.companion.mqtt_url, DEVICE) as board:
        versions = wait_until("the copy has it", lambda: _versions(home, entry, 2))
        board.stop_quietly()
    assert [line["content"] for line in versions] == ["Ada drinks tea", "Ada drinks coffee"]
    assert "Ada drinks tea" in fine("history", entry, *home).out
    assert "history, oldest first" in fine("show", entry, *home).out


def test_history_goes_back_to_the_memory_in_whose_place_another_came(home):
    newest = next(each["id"] for each in _memories(home) if "blue" in each["line"]["content"])
    told = fine("history", newest, *home, "--json").json["versions"]
    assert [line["content"] for line in told] == ["my bike is green", "my bike is blue now"]


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


def test_a_board_on_a_serial_port_takes_memories_and_edits(plugged: str, tmp_path: Path):
    file = tmp_path / "one.jsonl"
    file.write_text('{"content":"Ada drinks tea","tags":["drinks"]}\n')
    assert fine("import", file, "--port", plugged, "--json").json["stored"] == 1
    after = fine("edit", "m1", "--tag", "tea", "--tag", "ada", "--port", plugged, "--json").json["after"]
    assert (after["content"], after["tags"]) == ("Ada drinks tea", ["tea", "ada"])


def _versions(home: tuple[str, str], entry: str, count: int) -> list[dict]:
    versions = fine("history", entry, *home, "--json").json["versions"]
    return versions if len(versions) == count else []


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("show", "m999999"), 4),
        (("show", "m1", "--device", "nobody"), 4),
        (("show", "banana"), 2),
        (("history", "t1x"), 2),
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


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("edit", "m1"), 2),
        (("edit", "t1", "--text", "x"), 2),
        (("edit", "m99999", "--text", "x"), 4),
        (("edit", "m1", "--text", "what was replaced is history"), 1),
        (("edit", "m1", "--text", "x", "--port", "/dev/ttyNONE"), 2),
    ],
)
def test_an_edit_that_cannot_be_changes_nothing(told: Told, words: tuple[str, ...], status: int):
    ran = engram(*words, "--sim", told.board)
    assert (ran.status, ran.out) == (status, "")


def test_a_folder_that_is_no_board_is_not_made_one(tmp_path: Path):
    assert engram("edit", "m1", "--text", "x", "--sim", tmp_path / "none").status == 4
    assert not (tmp_path / "none").exists()
