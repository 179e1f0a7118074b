"""Whatever takes long on a board is waited for as long as the board says that it lives, and a person sees how far it is."""

import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import mpremote.transport_serial
import pytest

from board_files import KEPT, OLD, flash_with, with_code_json
from board_images import needs_micropython
from board_stand_in import StandIn
from engram_host.boards import backup, device_script, progress, session
from engram_host.boards.errors import NoBoardAnswer
from engram_host.boards.progress import Progress, Tally
from engram_host.boards.raw_repl import SILENT_SECONDS, RawReplTransport
from engram_host.boards.session import BoardSession

SIGN, SIGN_BYTES = b"~8192\r\n", 8192
FOUND = b'["/memory/x.jsonl", 7, "hash"]\r\n'
END = b"\x04\x04>"


class Clock:
    """The time as mpremote sees it, which passes only while it sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        # As coarse as the test can bear: a second of sleep is a hundred rounds else.
        self.now += seconds * 100


class Port:
    """A serial port behind which a board answers each piece of code by what it says, each after some seconds."""

    def __init__(self, clock: Clock, answer: Iterable[tuple[float, bytes]]):
        self._clock = clock
        self._answer = list(answer)
        self._coming: list[tuple[float, bytes]] = [(0.0, b">")]

    def write(self, data: bytes) -> None:
        if data.endswith(b"\x04"):
            at = self._clock.now
            self._coming.append((at, b"OK"))
            for seconds, said in self._answer:
                at += seconds
                self._coming += [(at, said[index : index + 1]) for index in range(len(said))]

    def inWaiting(self) -> int:
        return sum(len(data) for at, data in self._coming if at <= self._clock.now)

    def read(self, count: int) -> bytes:
        read = b""
        while len(read) < count and self._coming and self._coming[0][0] <= self._clock.now:
            read += self._coming.pop(0)[1]
        return read


def stopped_board(monkeypatch: pytest.MonkeyPatch, answer: Iterable[tuple[float, bytes]]) -> BoardSession:
    """A board at its raw prompt that answers so, in a time that only passes for mpremote."""
    clock = Clock()
    monkeypatch.setattr(mpremote.transport_serial, "time", clock)
    line: Any = RawReplTransport.__new__(RawReplTransport)
    line.serial = Port(clock, answer)
    line.is_pty = line.use_raw_paste = False
    line.silent_seconds = SILENT_SECONDS
    return BoardSession("ttyX", line)


def test_a_board_that_hashes_for_twenty_minutes_is_waited_for(monkeypatch: pytest.MonkeyPatch):
    signs = [(SILENT_SECONDS - 5, SIGN)] * 22
    counted: list[int] = []
    board = stopped_board(monkeypatch, [*signs, (1.0, FOUND + END)])
    assert list(board.list_tree("memory", counted.append)) == ["memory/x.jsonl"]
    assert counted == [SIGN_BYTES] * 22


def test_a_board_that_falls_silent_in_the_middle_is_reported(monkeypatch: pytest.MonkeyPatch):
    board = stopped_board(monkeypatch, [(1.0, SIGN), (SILENT_SECONDS + 5, FOUND + END)])
    with pytest.raises(NoBoardAnswer, match="stopped answering"):
        board.list_tree("memory")


def test_signs_of_life_are_not_taken_for_what_was_asked(monkeypatch: pytest.MonkeyPatch):
    board = stopped_board(monkeypatch, [(1.0, SIGN + b"~0\r\nabc\r\n" + SIGN + b"def" + END)])
    assert board.run_code("anything()").split() == ["abc", "def"]


def test_a_terminal_sees_how_much_was_looked_at(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(progress, "_SECONDS", 0.0)

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out = Terminal()
    tally = Tally(Progress(out), "Comparing")
    for _ in range(4):
        tally(SIGN_BYTES)
    tally(0)
    assert out.getvalue().startswith("\r\x1b[KComparing ...") and "Comparing 8 KB ..." in out.getvalue()


# --- what a real MicroPython says


@needs_micropython
def test_looking_at_a_large_file_says_something_with_each_piece(tmp_path: Path):
    large = with_code_json(OLD) | KEPT | {"journal/journal.0001.jsonl": bytes(100 << 10)}
    counted: list[int] = []
    with StandIn(flash_with(tmp_path, large)) as board, session.open_session(board.port, Progress()) as opened:
        found = opened.list_tree("journal", counted.append)
        assert opened.free_flash() > 0
    assert sum(counted) == sum(entry.size for entry in found.values())
    assert max(counted) <= device_script._SIGN_BYTES + device_script._PIECE


@needs_micropython
def test_removing_a_folder_says_something_with_each_file(tmp_path: Path):
    counted: list[int] = []
    flash = flash_with(tmp_path, with_code_json(OLD) | KEPT)
    with StandIn(flash) as board, session.open_session(board.port, Progress()) as opened:
        below = len(opened.list_tree("engram"))
        opened.remove_tree("engram", counted.append)
        assert not opened.list_tree("engram")
    assert len(counted) == below + 1


@needs_micropython
def test_boot_says_something_with_each_step_of_a_deploy_that_it_finishes(tmp_path: Path):
    ready = b"+ main.py\n- engram/app.mpy\n- engram/deep\n"
    flash = flash_with(tmp_path, with_code_json(OLD) | {"next/main.py": b"new", "next/READY": ready})
    with StandIn(flash) as board:
        assert board.booted[0].splitlines()[1] == "." * 3


@needs_micropython
def test_a_backup_says_each_of_its_steps(tmp_path: Path):
    out = io.StringIO()
    with StandIn(flash_with(tmp_path, with_code_json(OLD) | KEPT)) as board:
        backup.backup(board.port, tmp_path / "b.tar.gz", Progress(out))
    assert re.findall(r"^(.+) \.\.\.$", out.getvalue(), re.MULTILINE) == [
        "Stopping the board",
        "Looking what there is",
        "Saving 7 files",
    ]
