"""Starting MicroPython's unix port with the firmware, and handing it its input.

A signal becomes the end of the board's input, so that the firmware ends by itself and nothing is cut: MicroPython's
unix port has no signal handling, SIGTERM would end it in the middle of a line.
"""

import os
import selectors
import signal
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MICROPYTHON = ROOT / "build" / "micropython" / "64"
SEARCH_PATH = f"{ROOT / 'firmware'}:{ROOT / 'boards' / 'SIM'}:.frozen"
MAIN = ROOT / "boards" / "SIM" / "main.py"
HEAP = "8m"

GRACE_SECONDS = 10.0
"""How long the board may take to end after a signal: an answer of the model may be under way."""

_PIECE = 65536


def command(*, interactive: bool = False) -> list[str]:
    """The command line that runs the firmware; `interactive` leaves to MicroPython's prompt afterwards."""
    options = ["-i"] if interactive else []
    return [str(MICROPYTHON), "-X", f"heapsize={HEAP}", *options, str(MAIN)]


def run(environment: dict[str, str], source: int) -> int:
    """Run the board with what the file descriptor `source` gives as its input; its exit status."""
    waker, wake = os.pipe()
    os.set_blocking(wake, False)
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)
    old_handlers = {number: signal.signal(number, lambda *_: None) for number in signals}
    old_wake = signal.set_wakeup_fd(wake)
    try:
        with subprocess.Popen(
            command(), stdin=subprocess.PIPE, env={**os.environ, **environment}, start_new_session=True
        ) as board:
            return _Feed(board, source, waker).run()
    finally:
        signal.set_wakeup_fd(old_wake)
        for number, handler in old_handlers.items():
            signal.signal(number, handler)
        os.close(waker)
        os.close(wake)


class _Feed:
    """Copies input to the board until it, the board, or the person's patience ends."""

    def __init__(self, board: subprocess.Popen[bytes], source: int, waker: int):
        assert board.stdin is not None
        self._board = board
        self._target = board.stdin.fileno()
        self._source = source
        self._waker = waker
        self._pending = b""
        self._is_open = True
        self._deadline: float | None = None
        self._selector = selectors.DefaultSelector()
        self._selector.register(waker, selectors.EVENT_READ)
        os.set_blocking(self._target, False)
        self._listen()

    def run(self) -> int:
        """Copy until the board has ended; its exit status."""
        while self._board.poll() is None:
            left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
            if left == 0.0:
                self._board.kill()
                left = None
            for key, _ in self._selector.select(left):
                if key.fd == self._waker:
                    self._take_signals()
                elif key.fd == self._source:
                    self._take_input()
                elif key.fd == self._target:
                    self._pass_on()
        self._selector.close()
        return self._board.returncode if self._board.returncode >= 0 else 128 - self._board.returncode

    def _take_signals(self) -> None:
        for number in os.read(self._waker, 64):
            if number == signal.SIGCHLD:
                continue
            if self._deadline is not None:
                self._board.kill()
            self._deadline = time.monotonic() + GRACE_SECONDS
            self._pending = b""
            self._end_input()

    def _take_input(self) -> None:
        data = os.read(self._source, _PIECE)
        if not data:
            self._end_input()
            return
        self._pending = data
        self._selector.unregister(self._source)
        self._selector.register(self._target, selectors.EVENT_WRITE)

    def _pass_on(self) -> None:
        try:
            self._pending = self._pending[os.write(self._target, self._pending) :]
        except BrokenPipeError:
            # The board is ending; how, its exit status says.
            self._pending = b""
        if not self._pending:
            self._selector.unregister(self._target)
            self._listen()

    def _listen(self) -> None:
        try:
            self._selector.register(self._source, selectors.EVENT_READ)
        except PermissionError:
            # A plain file: it is always ready, and poll does not take it.
            self._feed_file()

    def _feed_file(self) -> None:
        os.set_blocking(self._target, True)
        while data := os.read(self._source, _PIECE):
            try:
                os.write(self._target, data)
            except BrokenPipeError:
                break
        self._end_input()

    def _end_input(self) -> None:
        if not self._is_open:
            return
        self._is_open = False
        for number in (self._source, self._target):
            if number in self._selector.get_map():
                self._selector.unregister(number)
        assert self._board.stdin is not None
        self._board.stdin.close()
