"""Many boards: lists of them over HTTP and by commands, in pages."""

import json
from collections.abc import Iterator

import pytest

from cli_case import engram, fine
from engram_host.cli import api_client
from peers import Companion
from sending import Sent

NAMES = [f"board-{number:02}" for number in range(23)]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    """A companion that knows 23 boards, each with a memory."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "notes").mkdir()
    with Companion(folder / "home", ENGRAM_FOLDERS=str(folder / "notes")) as companion:
        for name in NAMES:
            board = Sent(companion.posted, name, board=name)
            board.keep(f"the bike of {name} is green")
            board.sync()
        yield companion


def test_the_list_of_boards_over_http_is_paged_and_names_the_next_page(many: Companion):
    found: list[str] = []
    path = "/v1/devices?limit=10"
    pages = 0
    while path:
        answer = many.client.get(path)
        found += [device["name"] for device in answer.json()]
        path = answer.links.get("next", {}).get("url", "")
        pages += 1
    assert (found, pages) == (NAMES, 3)
    assert "link" not in many.client.get("/v1/devices", params={"limit": len(NAMES)}).headers


def test_all_boards_are_listed_whatever_fits_one_page(many: Companion, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(api_client, "_PAGE", 5)
    home = ("--home", many.home)
    listed = json.loads(fine("board", "list", *home, "--json").out)["boards"]
    assert [board["name"] for board in listed] == NAMES
    assert [line.split()[0] for line in fine("board", "list", *home).out.splitlines()] == NAMES
    few = fine("board", "list", "--after", NAMES[6], "--limit", "7", *home).out.splitlines()
    assert [line.split()[0] for line in few] == NAMES[7:14]


def test_stats_show_some_boards_and_say_how_to_see_the_others(many: Companion):
    ran = engram("stats", "--home", many.home)
    assert NAMES[19] in ran.out and NAMES[20] not in ran.out
    assert f"20 of 23 boards; --after {NAMES[19]} continues" in ran.err
    last = engram("stats", "--after", NAMES[19], "--home", many.home)
    assert NAMES[22] in last.out and NAMES[19] not in last.out and "continues" not in last.err


def test_a_command_without_a_board_names_some_and_where_all_are(many: Companion):
    ran = engram("list", "--home", many.home)
    assert NAMES[9] in ran.err and NAMES[10] not in ran.err and "engram board list" in ran.err


def test_a_search_says_what_it_left_out(many: Companion):
    asked = ("search", "green bike", "--words", "--limit", "3", "--home", many.home)
    ran, answer = engram(*asked), fine(*asked, "--json").json
    assert answer["left_out"] and len(ran.out.splitlines()) == 3
    assert all(f"note: left out: {each}." in ran.err for each in answer["left_out"])
