"""The power fails while notes are distilled, and while memories leave for lack of room: nothing is lost or doubled."""

from pathlib import Path

import pytest

from board_program import BoardProgram, Told
from extent import extent

NOTES, STORED, MOST = 4, 16, 12
SHORT = 4


def _is_whole(told: Told) -> None:
    live, trash, waiting = next(line[1:] for line in told if line[0] == "there")
    assert waiting == {}
    distilled = [content for content in live if "stands in the hall" in content]
    assert len(distilled) == NOTES, distilled
    assert len(live) == len(set(live)) <= MOST
    stored = {content for content in live + trash if "stands in the hall" not in content}
    assert len(stored) == STORED, stored


PROGRAM = BoardProgram("distill_board.py", "2m", _is_whole)


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> int:
    return PROGRAM.figures(tmp_path_factory.mktemp("care"))["changes"]


@pytest.mark.shortened
def test_no_cut_loses_or_doubles_anything(changes: int, tmp_path: Path):
    PROGRAM.try_cuts(extent(range(1, changes), range(40, changes, max(1, (changes - 40) // SHORT))), tmp_path)
