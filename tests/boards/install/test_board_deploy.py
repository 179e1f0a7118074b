"""`make deploy`, over a pty, to a stand-in board with a real MicroPython and a littlefs."""

import fcntl
import json
import os
import pty
from collections.abc import Callable
from pathlib import Path

import pytest

from board_files import BOARD, KEPT, NEW, OLD, files_on, flash_with, with_code_json
from board_stand_in import StandIn
from engram_host.boards import deploy, file_set, raw_repl, session
from engram_host.boards.errors import (
    BadRequest,
    BoardFailed,
    Garbled,
    NoBoardAnswer,
    PortBusy,
    WrongBoard,
    WrongFirmware,
)
from engram_host.boards.progress import Progress
from skips import needs_32_bit

pytestmark = needs_32_bit


@pytest.fixture(autouse=True)
def new_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is deployed: few files, so that a test takes a second."""
    monkeypatch.setattr(file_set, "code_files", lambda board: with_code_json(NEW))


def run(board: StandIn, name: str = "", config: Path | None = None) -> None:
    deploy.deploy(board.port, name, config, Progress())


def test_the_board_has_the_new_code_and_what_it_had_beside_it(tmp_path: Path):
    flash = flash_with(tmp_path, with_code_json(OLD) | KEPT)
    with StandIn(flash) as board:
        run(board)
    assert files_on(flash) == with_code_json(NEW) | KEPT
    assert board.resets == 1


def test_a_board_that_is_silent_while_it_puts_the_code_in_place_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(raw_repl, "SILENT_SECONDS", 3.0)  # all else has to be said within that
    flash = flash_with(tmp_path, with_code_json(OLD) | KEPT)
    with StandIn(flash, boot_seconds=3.5) as board:
        run(board)
    assert files_on(flash) == with_code_json(NEW) | KEPT


def test_only_what_changed_is_sent(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    changed = with_code_json(NEW) | {"engram/app.mpy": b"another"}
    with StandIn(flash_with(tmp_path, changed | KEPT)) as board:
        run(board)
    assert "1 file (7 KB) sent" in capsys.readouterr().err


def test_where_nothing_changed_nothing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with StandIn(flash_with(tmp_path, with_code_json(NEW) | KEPT)) as board:
        run(board)
    assert not board.changes() and board.resets == 1
    assert "nothing was sent" in capsys.readouterr().err


def test_settings_are_added_to_those_on_the_board(tmp_path: Path):
    flash = flash_with(tmp_path, with_code_json(NEW) | KEPT)
    (tmp_path / "more.json").write_text('{"llm": {"model": "m", "url": "http://10.0.0.2"}}', encoding="utf-8")
    with StandIn(flash) as board:
        run(board, config=tmp_path / "more.json")
    config = json.loads(files_on(flash)["config.json"])
    assert config == {"mode": "lightweight", "llm": {"model": "m", "url": "http://10.0.0.2"}}


def test_a_board_with_plain_micropython_gets_all_of_it(tmp_path: Path):
    flash = flash_with(tmp_path, {"boot.py": b"# This file is executed on every boot\n"})
    with StandIn(flash) as board:
        run(board, BOARD.name)
    assert files_on(flash) == file_set.seed_files(BOARD, {}) | with_code_json(NEW)


def test_which_board_it_is_has_to_be_said_where_it_cannot_be_known(tmp_path: Path):
    with StandIn(flash_with(tmp_path, {"boot.py": b""})) as board, pytest.raises(BadRequest, match="name its kind"):
        run(board)


def test_another_program_on_the_board_is_not_replaced_unasked(tmp_path: Path):
    with (
        StandIn(flash_with(tmp_path, {"main.py": b"blink()"})) as board,
        pytest.raises(WrongBoard, match="not Engram's"),
    ):
        run(board)


def test_a_flash_without_room_for_both_refuses_and_stays_as_it_was(tmp_path: Path):
    before = with_code_json(OLD) | KEPT | {"journal/journal.0001.jsonl": bytes(330 << 10)}
    flash = flash_with(tmp_path, before)
    with StandIn(flash) as board, pytest.raises(BoardFailed, match=r"and needs [0-9]+ KB: forget something"):
        run(board)
    assert files_on(flash) == before


def test_what_another_attempt_left_makes_room(tmp_path: Path):
    left = {"next/engram/app.mpy": b"half", "next/memory/other.jsonl": bytes(360 << 10)}
    flash = flash_with(tmp_path, with_code_json(OLD) | KEPT | left)
    with StandIn(flash) as board:
        run(board)
    assert files_on(flash) == with_code_json(NEW) | KEPT


def test_a_deploy_that_was_ready_is_finished_by_the_start_and_not_sent(tmp_path: Path):
    ready = {f"next/{path}": content for path, content in with_code_json(NEW).items()}
    steps = [f"+ {path}" for path in with_code_json(NEW)]
    flash = flash_with(tmp_path, with_code_json(OLD) | KEPT | ready | {"next/READY": "\n".join(steps).encode()})
    with StandIn(flash) as board:
        run(board)
    assert files_on(flash) == with_code_json(NEW) | KEPT


# --- what does not answer as it should


def test_other_mpy_files_than_the_board_takes_are_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(file_set, "MPY_VERSION", (6, 2))
    with (
        StandIn(flash_with(tmp_path, OLD)) as board,
        pytest.raises(WrongFirmware, match=r"version 6\.3, and these are 6\.2"),
    ):
        run(board)


def test_another_chip_than_the_named_boards_is_reported(tmp_path: Path):
    with (
        StandIn(flash_with(tmp_path, OLD)) as board,
        pytest.raises(WrongBoard, match="has an esp32, and ESP32_GENERIC_S3"),
    ):
        run(board, "ESP32_GENERIC_S3")


class Noisy:
    """A board whose line turns letters into others."""

    def __init__(self, printed: bytes):
        self.printed = printed

    def exec(self, code: str, data_consumer: Callable[[bytes], None]) -> None:
        for at in range(len(self.printed)):
            data_consumer(self.printed[at : at + 1])


@pytest.mark.parametrize("printed", [b'["esp32", [1, 26', b"\xff\xfe", b"7\r\n", b"[]\r\nI (31) boot: hello\r\n"])
def test_an_answer_damaged_by_a_bad_line_is_reported(printed: bytes):
    with pytest.raises(Garbled, match="another cable"):
        session.BoardSession("port", Noisy(printed)).list_tree("")


def test_a_port_where_nothing_answers_is_reported(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(raw_repl, "INTERRUPT_SECONDS", 0.1)
    monkeypatch.setattr(raw_repl, "SILENT_SECONDS", 0.2)
    ours, theirs = pty.openpty()
    with pytest.raises(NoBoardAnswer, match="no MicroPython answers"):
        deploy.deploy(os.ttyname(theirs), "", None, Progress())
    os.close(ours)
    os.close(theirs)


def test_a_busy_port_is_reported():
    ours, theirs = pty.openpty()
    fcntl.flock(theirs, fcntl.LOCK_EX)
    with pytest.raises(PortBusy, match="another program"):
        deploy.deploy(os.ttyname(theirs), "", None, Progress())
    os.close(ours)
    os.close(theirs)
