"""`engram board` where it succeeds, as a command that answers in JSON: on the stand-ins for a board and for its loader."""

from pathlib import Path

import pytest

from board_files import BOARD, KEPT, NEW, OLD, files_on, flash_with, with_code_json
from board_stand_in import StandIn
from cli_case import fine
from engram_host.boards import file_set
from skips import needs_32_bit

MEMORY = {
    "memory/MEMORY.md": b"- my bike is green\n",
    "memory/2026-01-31.md": b"- tea at four\n",
    "profile/user.md": b"# User\nAnn\n",
}


@needs_32_bit
def test_new_code_is_deployed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(file_set, "code_files", lambda board: with_code_json(NEW))  # few files
    flash = flash_with(tmp_path, with_code_json(OLD) | KEPT)
    with StandIn(flash) as board:
        told = fine("board", "deploy", "--port", board.port, "--json").json
    assert files_on(flash) == with_code_json(NEW) | KEPT
    assert told["done"] and "files" in told["told"][-1]


@needs_32_bit
def test_what_is_backed_up_is_restored_to_another_board(tmp_path: Path):
    saved = tmp_path / "saved.tar.gz"
    fresh = file_set.seed_files(BOARD, {}) | with_code_json({"boot.py": NEW["boot.py"]})
    with StandIn(flash_with(tmp_path, fresh | MEMORY)) as board:
        assert fine("board", "backup", saved, "--port", board.port, "--json").json["done"]
    (tmp_path / "other").mkdir()
    flash = flash_with(tmp_path / "other", fresh)
    with StandIn(flash) as board:
        assert fine("board", "restore", saved, "--port", board.port, "--json").json["done"]
    restored = files_on(flash)
    assert {path: restored[path] for path in MEMORY} == MEMORY
