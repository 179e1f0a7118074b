"""The whole code on a board that had only MicroPython: it arrives over a serial line with a chip's heap, and runs."""

from pathlib import Path

import pytest

from board_files import BOARD, files_on, flash_with
from board_images import STORE_IN_APP, run_on
from board_stand_in import StandIn
from engram_host.boards import deploy, file_set
from engram_host.boards.progress import Progress
from skips import needs_32_bit


@needs_32_bit
def test_the_app_runs_from_what_was_deployed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    code = file_set.code_files(BOARD)
    monkeypatch.setattr(file_set, "code_files", lambda board: code)
    flash = flash_with(tmp_path, {"boot.py": b"# This file is executed on every boot\n"}, BOARD.filesystem.size)
    with StandIn(flash) as board:
        deploy.deploy(board.port, BOARD.name, None, Progress())
    assert files_on(flash) == code | file_set.seed_files(BOARD, {})
    assert run_on(flash, STORE_IN_APP).split() == ["1"]
