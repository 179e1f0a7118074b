"""Many boards: lists of them over HTTP and by commands, in pages."""

from collections.abc import Iterator

import pytest

from cli_case import engram, fine
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


def test_a_command_without_a_board_names_some_and_where_all_are(many: Companion):
    ran = engram("list", "--home", many.home)
    assert NAMES[9] in ran.err and NAMES[10] not in ran.err and "engram boards" in ran.err


def test_a_search_says_what_it_left_out(many: Companion):
    asked = ("search", "green bike", "--words", "--limit", "3", "--home", many.home)
    ran, answer = engram(*asked), fine(*asked, "--json").json
    assert answer["left_out"] and len(ran.out.splitlines()) == 3
    assert all(f"note: left out: {each}." in ran.err for each in answer["left_out"])
