"""What is archived and set aside, from the command line: a real companion, and a board played for it."""

import json
from collections.abc import Iterator

import pytest

from cli_case import fine
from fake_llm import serving
from peers import Companion
from sending import Sent, digest

KITE, TEA = "the red kite hangs in the hall", "Ada drinks tea"


def _board(companion: Companion, name: str = "kitchen") -> Sent:
    return Sent(companion.posted, name)


def _archive(board: Sent, number: int) -> None:
    """Let the companion keep a record for good, as a board does, which then takes it off its flash."""
    board.sync()
    line = dict(board.lines["records"])[number]
    assert board.ask("keep", log="records", epoch=board.epoch, seqs=[number], digest=digest([line]))["count"] == 1
    board.write("records", op="archive", id=f"m{number}", at=1795247200, was=number)
    board.sync()
    board.lines["records"] = [pair for pair in board.lines["records"] if pair[0] != number]
    board.rewrites += 1
    board.hello()
    board.send("records")
    board.ask("agreed", log="records", epoch=board.epoch, rewrites=board.rewrites)


@pytest.fixture(scope="module")
def companion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    home = tmp_path_factory.mktemp("companion")
    with serving() as service, Companion(home, ENGRAM_GATEWAY_URL=service.url + "/v1") as running:
        board = _board(running)
        board.keep(KITE, tags=["kite"])
        board.keep(TEA)
        _archive(board, 1)
        yield running


@pytest.fixture
def home(companion: Companion) -> tuple[str, ...]:
    return "--home", str(companion.home)


def test_list_shows_what_is_archived_if_it_is_asked_to(home):
    listed = fine("list", "--state", "archived", *home, "--json").json["entries"]
    assert [(each["id"], each["state"]) for each in listed] == [("m1", "archived")]
    everything = fine("list", "--state", "all", *home, "--json").json["entries"]
    assert {each["id"] for each in everything} == {"m1", "m2"}


def test_list_says_that_there_is_more_in_the_archive(home):
    ran = fine("list", *home)
    assert KITE not in ran.out
    assert ran.err == "1 more is in the archive; --state archived shows it.\n"
    assert fine("list", "--tag", "nothing-has-this", *home).err == ""


def test_an_export_holds_the_archive_and_marks_it(home):
    lines = [json.loads(line) for line in fine("export", *home).out.splitlines()]
    assert [(line["content"], line.get("archived")) for line in lines if "content" in line] == [
        (KITE, True),
        (TEA, None),
    ]
    assert lines[0]["records"] == 2 and lines[-1] == {"engram_export_end": 3}
