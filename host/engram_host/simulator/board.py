"""Runs the firmware on MicroPython's unix port and passes its input on, each key at once on a terminal.

A terminal's own line editing would limit lines to 4,095 bytes.

A signal, or Ctrl-C on the terminal, asks the board to end in order and save a partial answer. The unix port
cannot handle signals itself: SIGTERM kills it in the middle of a line, and SIGINT interrupts anything, even a
garbage collection. A board that does not end within some seconds is killed.
"""

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import termios
import time
from collections.abc import Iterator
from pathlib import Path

from engram_host.firmware import BOARDS, CLONE, FIRMWARE

_LOCAL, _CONTROL = 3, 6
_NO_KEY = b"\0"


@contextlib.contextmanager
def keys_at_once(terminal: int, *, with_ctrl_c: bool) -> Iterator[None]:
    """Disable line buffering and echo; Ctrl-C too if wanted: as a signal it would reach `make`."""
    old = termios.tcgetattr(terminal)
    new = termios.tcgetattr(terminal)
    new[_LOCAL] &= ~(termios.ICANON | termios.ECHO)
    if with_ctrl_c:
        new[_CONTROL][termios.VINTR] = _NO_KEY
    _set(terminal, new)
    # After Ctrl-Z the shell gets its own terminal settings.
    old_handler = signal.signal(signal.SIGCONT, lambda *_: _set(terminal, new))
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, old_handler)
        _set(terminal, old)


def _set(terminal: int, attributes: list) -> None:
    # The terminal is gone.
    with contextlib.suppress(termios.error):
        termios.tcsetattr(terminal, termios.TCSADRAIN, attributes)


# --- MicroPython


OLDEST_MICROPYTHON = (1, 25, 0)

_SECONDS = 20
_PROBE = "import sys; print(*sys.implementation.version[:3])"


class NoMicroPython(Exception):
    """No MicroPython is new enough; the text says what to do."""


def find_micropython() -> Path:
    """Return the MicroPython for simulated boards; raises NoMicroPython."""
    own = CLONE / "build" / "micropython" / "64" if CLONE else None
    if own and own.is_file():
        return own
    on_path = shutil.which("micropython")
    if on_path and _version(Path(on_path)) >= OLDEST_MICROPYTHON:
        return Path(on_path)
    if CLONE:
        raise NoMicroPython("MicroPython is not there yet: `make run` in Engram's folder fetches it.")
    oldest = ".".join(str(number) for number in OLDEST_MICROPYTHON[:2])
    raise NoMicroPython(
        f"no micropython {oldest} or newer is on PATH, and the simulated board needs its unix port: install it (Debian 13,"
        " Fedora and Homebrew have a package named micropython)."
    )


def _version(command: Path) -> tuple[int, ...]:
    try:
        done = subprocess.run([command, "-c", _PROBE], capture_output=True, text=True, timeout=_SECONDS)
        return tuple(int(number) for number in done.stdout.split()) if done.returncode == 0 else ()
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ()


# --- the board


SEARCH_PATH = f"{FIRMWARE}:{BOARDS / 'SIM'}:.frozen"
MAIN = BOARDS / "SIM" / "main.py"
HEAP = "8m"

CTRL_C = b"\x03"

GRACE_SECONDS = 5.0

_PIECE = 65536
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def command(*, interactive: bool = False) -> list[str]:
    """Return the command line, with a prompt at the end if `interactive`; raises NoMicroPython."""
    options = ["-i"] if interactive else []
    return [str(find_micropython()), "-X", f"heapsize={HEAP}", *options, str(MAIN)]


def run(environment: dict[str, str], source: int, waker: int, *, is_terminal: bool = False) -> int:
    """Run the board on input from fd `source` and return its exit status; `waker` is from
    signals()."""
    read_end, write_end = os.pipe()
    with open(read_end, "rb"), open(write_end, "wb", buffering=0) as stop:
        variables = {**os.environ, **environment, "ENGRAM_STOP": f"/dev/fd/{read_end}"}
        with subprocess.Popen(
            command(), stdin=subprocess.PIPE, env=variables, pass_fds=(read_end,), start_new_session=True
        ) as board:
            return _Feed(board, source, waker, stop.fileno(), is_terminal).run()


def run_with_prompt(environment: dict[str, str]) -> int:
    """Run the board on the terminal, Ctrl-C opens the prompt; call within signals()."""
    board = subprocess.Popen(command(interactive=True), env={**os.environ, **environment, "ENGRAM_PROMPT": "1"})
    signal.signal(signal.SIGTERM, lambda *_: board.terminate())
    return _status(board.wait())


@contextlib.contextmanager
def signals() -> Iterator[int]:
    """Yield a fd that delivers signal numbers; the signals have no other effect."""
    waker, wake = os.pipe()
    os.set_blocking(wake, False)
    # The order matters: a signal now is raised or read, never lost.
    old_wake = signal.set_wakeup_fd(wake)
    old_handlers = {number: signal.signal(number, lambda *_: None) for number in (*_ENDING, signal.SIGCHLD)}
    try:
        yield waker
    finally:
        signal.set_wakeup_fd(old_wake)
        for number, handler in old_handlers.items():
            signal.signal(number, handler)
        os.close(waker)
        os.close(wake)


class _Feed:
    def __init__(self, board: subprocess.Popen[bytes], source: int, waker: int, stop: int, is_terminal: bool):
        assert board.stdin is not None
        self._board = board
        self._input = board.stdin
        self._target = board.stdin.fileno()
        self._source = source
        self._waker = waker
        self._stop = stop
        self._is_terminal = is_terminal
        self._pending = b""
        self._deadline: float | None = None
        self._selector = selectors.DefaultSelector()
        self._take = {waker: self._take_signals, source: self._take_input, self._target: self._pass_on}
        self._selector.register(waker, selectors.EVENT_READ)
        os.set_blocking(self._target, False)
        self._listen()

    def run(self) -> int:
        while self._board.poll() is None:
            left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
            if left == 0.0:
                self._board.kill()
                left = None
            # One at a time: handling one may remove another.
            for key, _ in self._selector.select(left)[:1]:
                self._take[key.fd]()
        self._selector.close()
        return _status(self._board.returncode)

    # --- ending

    def _take_signals(self) -> None:
        for number in os.read(self._waker, 64):
            if number == signal.SIGHUP:
                self._end()
            elif number in _ENDING:
                self._insist()

    def _insist(self) -> None:
        if self._deadline is None:
            self._end()
        else:
            self._board.kill()

    def _end(self) -> None:
        if self._deadline is not None:
            return
        self._deadline = time.monotonic() + GRACE_SECONDS
        # Keep its input open: at an end of input the firmware would answer an unfinished line.
        self._leave(self._target)
        self._leave(self._source)
        if self._is_terminal:
            self._listen()
        os.write(self._stop, b"\n")

    # --- copying

    def _listen(self) -> None:
        try:
            self._selector.register(self._source, selectors.EVENT_READ)
        except PermissionError:
            # A plain file is always ready, and poll refuses it.
            self._take_input()

    def _take_input(self) -> None:
        try:
            data = os.read(self._source, _PIECE)
        except OSError:
            data = b""
        if self._is_terminal and CTRL_C in data:
            self._insist()
        elif not data:
            self._leave(self._source)
            # A terminal has no end: it is gone.
            self._end() if self._is_terminal else self._input.close()
        elif self._deadline is None:
            self._pending = data
            self._leave(self._source)
            self._selector.register(self._target, selectors.EVENT_WRITE)

    def _pass_on(self) -> None:
        try:
            self._pending = self._pending[os.write(self._target, self._pending) :]
        except BrokenPipeError:
            # The board is ending; its exit status tells the reason.
            self._pending = b""
        if not self._pending:
            self._leave(self._target)
            self._listen()

    def _leave(self, number: int) -> None:
        if number in self._selector.get_map():
            self._selector.unregister(number)


def _status(code: int) -> int:
    return code if code >= 0 else 128 - code
