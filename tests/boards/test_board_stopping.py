"""Commands that stop the app, with a stand-in board that is slow: it runs afterwards as before, whatever came of them."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from board_files import KEPT, NEW, OLD, files_on, flash_with, with_code_json
from board_stand_in import PHASES, StandIn
from engram_host.boards import backup, deploy, file_set, raw_repl, session
from engram_host.boards.errors import NoBoardAnswer
from engram_host.boards.progress import Progress
from extent import with_more
from skips import needs_32_bit

pytestmark = needs_32_bit

BEFORE = with_code_json(OLD) | KEPT
ATTEMPT = 0.05


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is typed again soon: how often it was typed is the stand-in's time."""
    monkeypatch.setattr(raw_repl, "INTERRUPT_SECONDS", ATTEMPT)
    monkeypatch.setattr(file_set, "code_files", lambda board: with_code_json(NEW))


def save(board: StandIn, folder: Path) -> None:
    backup.backup(board.port, folder / "saved.tar.gz", Progress())


def update(board: StandIn, folder: Path) -> None:
    deploy.deploy(board.port, "", None, Progress())


def is_running(board: StandIn) -> bool:
    return board.runs_app and board.resets == 1


@pytest.mark.parametrize("phase", PHASES)
def test_a_backup_saves_all_and_the_board_runs_whenever_it_is_stopped(tmp_path: Path, phase: str):
    flash = flash_with(tmp_path, BEFORE)
    with StandIn(flash, phase=phase, deaf=8) as board:
        save(board, tmp_path)
    saved = backup.read_backup(tmp_path / "saved.tar.gz").files
    assert saved == {path: KEPT[path] for path in KEPT if path != "secrets.json"}
    assert files_on(flash) == BEFORE
    assert is_running(board)


def test_a_board_without_its_file_system_gets_it_back_before_it_is_looked_at(tmp_path: Path):
    with StandIn(flash_with(tmp_path, BEFORE), phase="the chip's own start") as board:
        save(board, tmp_path)
    assert len(board.booted) == 3  # as it was plugged in, the soft reset, and the start at the end


def test_a_deploy_that_was_cut_is_finished_before_a_backup(tmp_path: Path):
    ready = {"next/profile/user.md": b"# User\nBea\n", "next/READY": b"+ profile/user.md\n"}
    flash = flash_with(tmp_path, BEFORE | ready | {"boot.py": b""})  # whose start did not finish it
    with StandIn(flash) as board:
        save(board, tmp_path)
    assert len(board.booted) == 3


def test_a_deploy_to_a_slow_board_arrives(tmp_path: Path):
    flash = flash_with(tmp_path, BEFORE)
    with StandIn(flash, deaf=6) as board:
        update(board, tmp_path)
    assert files_on(flash) == with_code_json(NEW) | KEPT
    assert is_running(board)


def test_a_board_that_says_something_is_waited_for_beyond_the_silence_of_a_dead_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(raw_repl, "SILENT_SECONDS", 3 * ATTEMPT)
    out = io.StringIO()
    with StandIn(flash_with(tmp_path, BEFORE), deaf=20) as board:
        backup.backup(board.port, tmp_path / "saved.tar.gz", Progress(out))
    assert "Waiting for the board, up to 10 minutes while it says something ..." in out.getvalue()
    assert is_running(board)


def test_a_board_that_says_something_for_ever_is_given_up_and_runs_when_it_gets_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(session, "LONGEST_STOP_SECONDS", 6 * ATTEMPT)
    with StandIn(flash_with(tmp_path, BEFORE), deaf=1000) as board, pytest.raises(NoBoardAnswer):
        save(board, tmp_path)
    assert board.runs_app and board.resets == 1 and not (tmp_path / "saved.tar.gz").exists()


class Reads:
    """Counts what the transport waits for, and lets Ctrl-C strike at one of these."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, at: int):
        self.count = 0
        read_until = raw_repl.RawReplTransport.read_until

        def read_or_stop(transport: raw_repl.RawReplTransport, *arguments: Any, **named: Any) -> Any:
            self.count += 1
            if self.count == at:
                raise KeyboardInterrupt
            return read_until(transport, *arguments, **named)

        monkeypatch.setattr(raw_repl.RawReplTransport, "read_until", read_or_stop)


@pytest.mark.parametrize("at", with_more([1, 8, 23], [*range(1, 10), 16, 23, 31]))
@pytest.mark.parametrize("command", [save, update])
def test_a_command_that_is_stopped_between_any_two_answers_leaves_the_board_running(
    tmp_path: Path, command: Callable[[StandIn, Path], None], at: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(raw_repl, "INTERRUPT_SECONDS", 5.0)  # so that the counts are always the same
    reads = Reads(monkeypatch, at)
    with StandIn(flash_with(tmp_path, BEFORE)) as board, pytest.raises(KeyboardInterrupt):
        command(board, tmp_path)
    assert board.runs_app and reads.count >= at
