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
def monitoring() -> Iterator[tuple[int, int, subprocess.Popen[bytes]]]:
    """The command with a terminal for its person and a line for its board: the line, the keys and the process."""
    (line, port), (keys, terminal) = pty.openpty(), pty.openpty()
    tty.setraw(port)
    command = [sys.executable, "-m", "engram_host", "board", "monitor", "--port", os.ttyname(port)]
    process = subprocess.Popen(
        command,
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    try:
        assert process.stdout
        read(process.stdout.fileno(), b"Ctrl-] ends")
        os.close(port)
        yield line, keys, process
    finally:
        process.kill()
        process.wait()
        for number in (line, keys, terminal):
            with contextlib.suppress(OSError):
                os.close(number)


def screen(process: subprocess.Popen[bytes], wanted: bytes) -> bytes:
    assert process.stdout
    return read(process.stdout.fileno(), wanted)


def test_it_shows_what_the_board_prints_and_sends_what_is_typed():
    with monitoring() as (line, keys, process):
        os.write(line, "hello 咖啡\r\n".encode())
        assert "hello 咖啡\r\n".encode() in screen(process, "咖啡\r\n".encode())
        os.write(keys, b"\x03\x04")
        assert read(line, b"\x04") == b"\x03\x04"


def test_ctrl_right_bracket_ends_it_after_what_was_typed_before():
    with monitoring() as (line, keys, process):
        os.write(keys, b"last\x1dnever")
        assert process.wait(SECONDS) == 0
        assert os.read(line, 100) == b"last"


def test_a_board_that_goes_ends_it_with_a_sentence():
    with monitoring() as (line, _, process):
        os.close(line)
        assert b"has gone in the middle" in screen(process, b"cable")
        assert process.wait(SECONDS) == 4
