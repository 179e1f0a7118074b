"""`make monitor`: a terminal to a board, with a pty in place of it."""

import contextlib
import os
import pty
import select
import subprocess
import sys
import time
import tty
from collections.abc import Iterator

from board_files import ENVIRONMENT

SECONDS = 20.0


class Monitor:
    """The command, with a terminal for its person and a line for its board."""

    def __init__(self, line: int, port: str):
        self.line = line
        self._keys, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "engram_host", "board", "monitor", "--port", port],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=ENVIRONMENT,
            start_new_session=True,
        )
        os.close(theirs)
        assert self.process.stdout
        self.screen = self.process.stdout.fileno()

    def type(self, keys: bytes) -> None:
        os.write(self._keys, keys)


def read(number: int, wanted: bytes) -> bytes:
    """All that comes up to what is wanted."""
    found = b""
    deadline = time.monotonic() + SECONDS
    while wanted not in found:
        ready, _, _ = select.select([number], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, found
        piece = os.read(number, 4096)
        assert piece, found
        found += piece
    return found


@contextlib.contextmanager
def monitoring() -> Iterator[Monitor]:
    line, theirs = pty.openpty()
    tty.setraw(theirs)
    monitor = Monitor(line, os.ttyname(theirs))
    try:
        read(monitor.screen, b"Ctrl-] ends")
        os.close(theirs)
        yield monitor
    finally:
        monitor.process.kill()
        monitor.process.wait()
        with contextlib.suppress(OSError):
            os.close(line)


def test_it_shows_what_the_board_prints_and_sends_what_is_typed():
    with monitoring() as monitor:
        os.write(monitor.line, "hello 咖啡\r\n".encode())
        assert "hello 咖啡\r\n".encode() in read(monitor.screen, "咖啡\r\n".encode())
        monitor.type(b"\x03\x04")
        assert read(monitor.line, b"\x04") == b"\x03\x04"


def test_ctrl_right_bracket_ends_it_after_what_was_typed_before():
    with monitoring() as monitor:
        monitor.type(b"last\x1dnever")
        assert monitor.process.wait(SECONDS) == 0
        assert os.read(monitor.line, 100) == b"last"


def test_a_board_that_goes_ends_it_with_a_sentence():
    with monitoring() as monitor:
        os.close(monitor.line)
        assert b"has gone in the middle" in read(monitor.screen, b"cable")
        assert monitor.process.wait(SECONDS) == 4
