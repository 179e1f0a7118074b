"""The power fails while memories leave for the companion, come back or are forgotten there: nothing is lost or doubled."""

from pathlib import Path

import pytest

from board_program import BoardProgram, Told

STORED, FORGOTTEN = 18, 4
SHORT = 7


def _is_whole(told: Told) -> None:
    live, kept, trash, total, lost = next(line[1:] for line in told if line[0] == "there")
    everywhere = live + kept + trash
    assert len(everywhere) == len(set(everywhere)) == STORED - FORGOTTEN, (live, kept, trash)
    assert kept and total == len(kept) and lost == 0


PROGRAM = BoardProgram("archive_board.py", "1m", _is_whole)


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> int:
    return PROGRAM.changes(tmp_path_factory.mktemp("archive"))


def test_some_cuts_lose_and_double_nothing(changes: int, place: Path):
    PROGRAM.try_cuts(range(40, changes, max(1, (changes - 40) // SHORT)), place)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_no_cut_loses_or_doubles_anything(changes: int, place: Path, part: int):
    PROGRAM.try_cuts(range(1 + part, changes, 4), place)
