"""A deploy that is cut off leaves old code or new code, never half of either, and the next one ends with the new."""

from pathlib import Path

import pytest

from board_files import KEPT, NEW, OLD, files_on, flash_with, with_code_json
from board_stand_in import StandIn, started
from engram_host.boards import deploy, file_set
from engram_host.boards.errors import NoBoardAnswer, NoPort
from engram_host.boards.file_set import Files
from engram_host.boards.progress import Progress
from power.flashes import Image
from skips import needs_32_bit

pytestmark = needs_32_bit

BEFORE, AFTER = with_code_json(OLD) | KEPT, with_code_json(NEW) | KEPT
SIZE = 320 << 10
PIECES = (2, 7, 14, 21, 30, 38)
"""After so many pieces of code the board is unplugged; a whole deploy of these files takes some 40."""

EVERY = 3
"""At one change of the flash in so many the power is cut."""


@pytest.fixture(autouse=True)
def new_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_set, "code_files", lambda board: with_code_json(NEW))


def code_on(flash: Path) -> Files:
    """What a start finds; what was sent and is not in use yet does not count."""
    return {path: content for path, content in files_on(flash).items() if not path.startswith("next/")}


def test_at_any_change_of_the_flash_the_next_start_has_old_code_or_new(tmp_path: Path):
    flash = flash_with(tmp_path, BEFORE, SIZE)
    image = Image(flash.read_bytes())
    with StandIn(flash) as board:
        deploy.deploy(board.port, "", None, Progress())
    changes = board.changes()
    assert files_on(flash) == AFTER
    seen = []
    for number, change in enumerate(changes):
        if number % EVERY == 0:
            cut = image.with_half(change) if number % 2 else image
            flash.write_bytes(cut.content)
            started(flash)
            found = code_on(flash)
            assert found in (BEFORE, AFTER), f"after change {number} of {len(changes)}"
            seen.append(found == AFTER)
        image.apply(change)
    assert seen == sorted(seen) and len(set(seen)) == 2


@pytest.mark.parametrize("pieces", PIECES)
def test_unplugged_in_the_middle_it_has_old_code_and_the_next_deploy_ends_with_new(tmp_path: Path, pieces: int):
    flash = flash_with(tmp_path, BEFORE, SIZE)
    with StandIn(flash, cut_after=pieces) as board, pytest.raises((NoPort, NoBoardAnswer)):
        deploy.deploy(board.port, "", None, Progress())
    started(flash)
    assert code_on(flash) in (BEFORE, AFTER)
    with StandIn(flash) as board:
        deploy.deploy(board.port, "", None, Progress())
    assert files_on(flash) == AFTER
