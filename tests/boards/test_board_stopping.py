"""Commands that stop the app, with a stand-in board that is slow: it runs afterwards as before, whatever came of them."""

import contextlib
import io
from pathlib import Path
from typing import Any

import pytest

from board_files import KEPT, NEW, OLD, files_on, flash_with, with_code_json
from board_images import needs_micropython
from board_stand_in import PHASES, StandIn
from engram_host.boards import backup, deploy, file_set, raw_repl, session
from engram_host.boards.errors import BoardFailed, NoBoardAnswer
from engram_host.boards.progress import Progress

pytestmark = needs_micropython

BEFORE = with_code_json(OLD) | KEPT
ATTEMPT = 0.05


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is typed again soon: how often it was typed is the stand-in's time."""
    monkeypatch.setattr(raw_repl, "INTERRUPT_SECONDS", ATTEMPT)
    monkeypatch.setattr(file_set, "code_files", lambda board: with_code_json(NEW))


def save(board: StandIn, folder: Path) -> None:
    backup.backup(board.port, folder / "saved.tar.gz", Progress())


def is_running(board: StandIn) -> bool:
    return board.runs_app and board.resumes + board.resets == 1


@pytest.mark.parametrize("deaf", [0, 1, 8])
@pytest.mark.parametrize("phase", PHASES)
def test_a_backup_saves_all_and_the_board_runs_whenever_it_is_stopped(tmp_path: Path, phase: str, deaf: int):
    flash = flash_with(tmp_path, BEFORE)
    with StandIn(flash, phase=phase, deaf=deaf) as board:
        save(board, tmp_path)
    saved = backup.read_backup(tmp_path / "saved.tar.gz").files
    assert saved == {path: KEPT[path] for path in KEPT if path != "secrets.json"}
    assert files_on(flash) == BEFORE
    assert is_running(board)


def test_an_app_that_was_stopped_goes_on_without_a_start(tmp_path: Path):
    with StandIn(flash_with(tmp_path, BEFORE)) as board:
        save(board, tmp_path)
    assert (board.resumes, board.resets, len(board.booted)) == (1, 0, 1)


def test_a_start_that_was_stopped_begins_again(tmp_path: Path):
    with StandIn(flash_with(tmp_path, BEFORE), phase="the imports") as board:
        save(board, tmp_path)
    assert (board.resumes, board.resets) == (0, 1)


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


@pytest.mark.parametrize("phase", PHASES)
def test_a_deploy_to_a_slow_board_arrives(tmp_path: Path, phase: str):
    flash = flash_with(tmp_path, BEFORE)
    with StandIn(flash, phase=phase, deaf=6) as board:
        deploy.deploy(board.port, "", None, Progress())
    assert files_on(flash) == with_code_json(NEW) | KEPT
    assert is_running(board) and board.resets == 1


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


def test_a_silent_board_is_given_up_and_runs_when_it_gets_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(raw_repl, "SILENT_SECONDS", 3 * ATTEMPT)
    with (
        StandIn(flash_with(tmp_path, BEFORE), deaf=1000, lives=False) as board,
        pytest.raises(NoBoardAnswer, match="check the cable and the port"),
    ):
        save(board, tmp_path)
    assert board.runs_app and board.resets == 1


class Stopping(Progress):
    """Raises an error at the n-th thing that it is told, as Ctrl-C of a person does anywhere."""

    def __init__(self, at: int, error: BaseException):
        super().__init__(io.StringIO())
        self.left = at
        self._error = error

    def step(self, what: str, done: int = 0, total: int = 0) -> None:
        """Count."""
        self.left -= 1
        if not self.left:
            raise self._error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), BoardFailed("x")], ids=["Ctrl-C", "an error"])
@pytest.mark.parametrize("at", [*range(2, 12), 15, 20])
def test_a_backup_that_fails_anywhere_leaves_the_board_running(tmp_path: Path, at: int, error: BaseException):
    flash = flash_with(tmp_path, BEFORE)
    with StandIn(flash, deaf=2) as board, contextlib.suppress(KeyboardInterrupt, BoardFailed):
        backup.backup(board.port, tmp_path / "saved.tar.gz", Stopping(at, error))
    assert is_running(board) and files_on(flash) == BEFORE


class Reads:
    """Counts what the transport waits for, and lets Ctrl-C strike at one of these, counted from the end if it is below 0."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.count = self.at = 0
        read_until = raw_repl.RawReplTransport.read_until

        def read_or_stop(transport: raw_repl.RawReplTransport, *arguments: Any, **named: Any) -> Any:
            self.count += 1
            if self.count == self.at:
                raise KeyboardInterrupt
            return read_until(transport, *arguments, **named)

        monkeypatch.setattr(raw_repl.RawReplTransport, "read_until", read_or_stop)


@pytest.mark.parametrize("at", [*range(1, 10), 16, 23, 31, *range(-7, 0)])
def test_a_backup_that_is_stopped_between_any_two_answers_leaves_the_board_running(
    tmp_path: Path, at: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(raw_repl, "INTERRUPT_SECONDS", 5.0)  # so that the counts are always the same
    reads = Reads(monkeypatch)
    with StandIn(flash_with(tmp_path, BEFORE)) as board:
        save(board, tmp_path)
        whole, reads.count = reads.count, 0
        reads.at = whole + 1 + at if at < 0 else at
        with pytest.raises(KeyboardInterrupt):
            save(board, tmp_path)
    assert board.runs_app and reads.count >= reads.at


@pytest.mark.parametrize("at", [*range(2, 40, 3)])
def test_a_deploy_that_fails_anywhere_leaves_the_board_running(tmp_path: Path, at: int):
    with StandIn(flash_with(tmp_path, BEFORE), deaf=2) as board, contextlib.suppress(KeyboardInterrupt):
        deploy.deploy(board.port, "", None, Stopping(at, KeyboardInterrupt()))
    assert board.runs_app and board.resets + board.resumes >= 1


def test_a_line_that_a_person_has_not_ended_is_not_ended_by_a_backup(tmp_path: Path):
    with StandIn(flash_with(tmp_path, BEFORE), deaf=3) as board:
        save(board, tmp_path)
    assert not board.lines
