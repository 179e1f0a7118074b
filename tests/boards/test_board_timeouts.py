"""Whatever takes long on a board is waited for as long as the board says that it lives, and a person sees how far it is."""

from pathlib import Path

import pytest
from mpremote.transport_serial import SerialTransport

from board_files import KEPT, OLD, flash_with, with_code_json
from board_stand_in import StandIn
from engram_host.boards import device_script, session
from engram_host.boards.progress import Progress
from engram_host.boards.raw_repl import SILENT_SECONDS, RawReplTransport
from skips import needs_32_bit


def test_all_that_is_read_waits_as_long_as_a_full_flash_may_be_silent(monkeypatch: pytest.MonkeyPatch):
    waits: list[float] = []
    monkeypatch.setattr(SerialTransport, "read_until", lambda self, least, ending, wait, *_: waits.append(wait))
    line = RawReplTransport.__new__(RawReplTransport)
    line.is_pty, line.silent_seconds = False, SILENT_SECONDS
    line.read_until(1, b">", timeout=10)
    assert waits == [SILENT_SECONDS]


# --- what a real MicroPython says


@needs_32_bit
def test_looking_at_a_large_file_says_something_with_each_piece(tmp_path: Path):
    large = with_code_json(OLD) | KEPT | {"journal/journal.0001.jsonl": bytes(100 << 10)}
    counted: list[int] = []
    with StandIn(flash_with(tmp_path, large)) as board, session.open_session(board.port, Progress()) as opened:
        found = opened.list_tree("journal", counted.append)
        assert opened.free_flash() > 0
    assert sum(counted) == sum(entry.size for entry in found.values())
    assert max(counted) <= device_script._SIGN_BYTES + device_script._PIECE


@needs_32_bit
def test_removing_a_folder_says_something_with_each_file(tmp_path: Path):
    counted: list[int] = []
    flash = flash_with(tmp_path, with_code_json(OLD) | KEPT)
    with StandIn(flash) as board, session.open_session(board.port, Progress()) as opened:
        below = len(opened.list_tree("engram"))
        opened.remove_tree("engram", counted.append)
        assert not opened.list_tree("engram")
    assert len(counted) == below + 1


@needs_32_bit
def test_boot_says_something_with_each_step_of_a_deploy_that_it_finishes(tmp_path: Path):
    ready = b"+ main.py\n- engram/app.mpy\n- engram/deep\n"
    flash = flash_with(tmp_path, with_code_json(OLD) | {"next/main.py": b"new", "next/READY": ready})
    with StandIn(flash) as board:
        assert board.booted[0].splitlines()[1] == "." * 3
