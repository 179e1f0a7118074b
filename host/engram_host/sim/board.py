"""Starting MicroPython's unix port with the firmware, and handing it its input.

A signal, or Ctrl-C on the terminal, becomes the end of the board's input, so that the firmware ends by itself and nothing
is cut: MicroPython's unix port has no signal handling, SIGTERM would end it in the middle of a line. A board that is
still busy then, mostly with an answer that is coming, is interrupted: it keeps what has come. What does not help
within some seconds is ended hard.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from .terminal import lending

ROOT = Path(__file__).resolve().parents[3]
MICROPYTHON = ROOT / "build" / "micropython" / "64"
SEARCH_PATH = f"{ROOT / 'firmware'}:{ROOT / 'boards' / 'SIM'}:.frozen"
MAIN = ROOT / "boards" / "SIM" / "main.py"
HEAP = "8m"

CTRL_C = b"\x03"

PATIENCE_SECONDS = 0.5
"""How long a board may take to end when its input has: then it is interrupted."""

GRACE_SECONDS = 5.0
"""How long it may take to end when it was interrupted: then it is killed."""

_PIECE = 65536


def command(*, interactive: bool = False) -> list[str]:
    """The command line that runs the firmware; `interactive` leaves to MicroPython's prompt afterwards."""
    options = ["-i"] if interactive else []
    return [str(MICROPYTHON), "-X", f"heapsize={HEAP}", *options, str(MAIN)]


def run(environment: dict[str, str], source: int, *, is_terminal: bool = False) -> int:
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
            return _Feed(board, source, waker, is_terminal).run()
    finally:
        signal.set_wakeup_fd(old_wake)
        for number, handler in old_handlers.items():
            signal.signal(number, handler)
        os.close(waker)
        os.close(wake)


def run_with_prompt(environment: dict[str, str], terminal: int | None) -> int:
    """Run the board on the terminal itself, where Ctrl-C opens MicroPython's prompt; its exit status."""
    lent = lending(terminal) if terminal is not None else contextlib.nullcontext()
    with lent as take:
        board = subprocess.Popen(
            command(interactive=True), env={**os.environ, **environment}, process_group=0, preexec_fn=take
        )
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: board.send_signal(number))
        return _status(board.wait())


class _Feed:
    """Copies input to the board until it, the board, or the person's patience ends."""

    def __init__(self, board: subprocess.Popen[bytes], source: int, waker: int, is_terminal: bool):
        assert board.stdin is not None
        self._board = board
        self._input = board.stdin
        self._target = board.stdin.fileno()
        self._source = source
        self._waker = waker
        self._is_terminal = is_terminal
        self._pending = b""
        self._deadline: float | None = None
        self._measures: list[tuple[Callable[[], None], float]] = []
        self._selector = selectors.DefaultSelector()
        self._selector.register(waker, selectors.EVENT_READ)
        os.set_blocking(self._target, False)
        self._listen()

    def run(self) -> int:
        """Copy until the board has ended; its exit status."""
        while self._board.poll() is None:
            left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
            if left == 0.0:
                self._press()
                continue
            for key, _ in self._selector.select(left):
                if key.fd == self._waker:
                    self._take_signals()
                elif key.fd == self._source:
                    self._take_input()
                elif key.fd == self._target:
                    self._pass_on()
        self._selector.close()
        return _status(self._board.returncode)

    # --- ending

    def _take_signals(self) -> None:
        for number in os.read(self._waker, 64):
            if number != signal.SIGCHLD:
                self._ask_to_end()

    def _ask_to_end(self) -> None:
        """End the board's input; asked again, take the next measure at once."""
        if self._measures or self._deadline is not None:
            self._press()
            return
        self._pending = b""
        self._end_input()
        self._measures = [(self._interrupt, GRACE_SECONDS), (self._board.kill, GRACE_SECONDS)]
        self._deadline = time.monotonic() + PATIENCE_SECONDS

    def _press(self) -> None:
        """Take the next measure, if one is left, that makes the board end."""
        self._deadline = None
        if self._measures:
            measure, seconds = self._measures.pop(0)
            measure()
            self._deadline = time.monotonic() + seconds

    def _interrupt(self) -> None:
        self._board.send_signal(signal.SIGINT)

    # --- copying

    def _listen(self) -> None:
        try:
            self._selector.register(self._source, selectors.EVENT_READ)
        except PermissionError:
            # A plain file: it is always ready, and poll does not take it.
            self._take_input()

    def _take_input(self) -> None:
        self._leave(self._source)
        try:
            data = os.read(self._source, _PIECE)
        except OSError:
            # The terminal has gone.
            data = b""
        if self._is_terminal and CTRL_C in data:
            self._ask_to_end()
        elif not data:
            self._end_input()
        else:
            self._pending = data
            self._selector.register(self._target, selectors.EVENT_WRITE)

    def _pass_on(self) -> None:
        try:
            self._pending = self._pending[os.write(self._target, self._pending) :]
        except BrokenPipeError:
            # The board is ending; how, its exit status says.
            self._pending = b""
        if not self._pending:
            self._leave(self._target)
            self._listen()

    def _end_input(self) -> None:
        self._leave(self._source)
        self._leave(self._target)
        self._input.close()

    def _leave(self, number: int) -> None:
        if number in self._selector.get_map():
            self._selector.unregister(number)


def _status(code: int) -> int:
    """A status as a shell has it: 128 and the number of the signal that ended the board."""
    return code if code >= 0 else 128 - code
