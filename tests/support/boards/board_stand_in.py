"""A stand-in for a board: a serial port (a pty) with MicroPython's prompt behind it, and a flash in a file.

    with StandIn(flash) as board:
        deploy.deploy(board.port, "", None, Progress())
    assert board.resets == 1

The prompt is written here, as the unix port has no raw REPL; what it is told runs in a real 32-bit MicroPython (see
board_python.py), which a soft reset starts anew, boot.py and all. A power cut ends it and takes the port away. The app is
one that only says `app`, and runs or is stopped.
"""

import contextlib
import os
import pty
import select
import subprocess
import threading
import time
import tty
from collections.abc import Callable
from pathlib import Path

import firmware_build
import get_micropython
from power.flashes import Change, read_trace

PYTHON = Path(__file__).with_name("board_python.py")
HEAP = "2m"
"""What a plain ESP32 has free with Wi-Fi up, less what TLS takes."""

RESET, BOOTED = 77, b"\x06"
_CTRL_A, _CTRL_C, _CTRL_D = b"\x01", b"\x03", b"\x04"
_PASTE = b"\x05A\x01"
_WINDOW = 128
_MORE = b"\x01"
_PASTES = b"R\x01" + _WINDOW.to_bytes(2, "little") + _MORE
"""A prompt takes pasted code at once, and says after so many bytes that it has room for as many again."""
_TAKEN = b"OK"
_RAW = b"raw REPL; CTRL-B to exit\r\n>"
_PROMPT = b"\r\n>>> "
_APP = b"class _App:\n    def run(self): pass\napp = _App()\n"
_INTERRUPTED = b"Traceback (most recent call last):\nKeyboardInterrupt:"

PHASES = {
    "the chip's own start": b"del app\nimport vfs\nvfs.umount('/')\n",
    "boot.py": b"del app\n",
    "the imports": b"del app\n",
    "the app": b"",
}
"""What a start is at, and what there is not yet when it is stopped there."""


class _Python:
    """The MicroPython of one start of the board."""

    def __init__(self, flash: Path, trace: Path):
        folders = [firmware_build.POWER, firmware_build.SIM, firmware_build.SUPPORT, Path(".frozen")]
        self.process = subprocess.Popen(
            [get_micropython.HOME / "32", "-X", f"heapsize={HEAP}", PYTHON, flash, trace],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "MICROPYPATH": ":".join(str(folder) for folder in folders)},
            bufsize=0,
        )
        self.boot_printed = self._read_until(BOOTED)

    def run(self, code: bytes) -> bytes:
        """What the raw REPL answers to code; less if the board went down meanwhile."""
        assert self.process.stdin
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(b"%d\n" % len(code))
            self.process.stdin.write(code)
        answer = b""
        while answer.count(_CTRL_D) < 2 or not answer.endswith(b">"):
            piece = os.read(self._out(), 65536)
            if not piece:
                break
            answer += piece
        return answer

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream
            stream.close()

    def _out(self) -> int:
        assert self.process.stdout
        return self.process.stdout.fileno()

    def _read_until(self, mark: bytes) -> bytes:
        printed = b""
        while not printed.endswith(mark):
            piece = os.read(self._out(), 1)
            if not piece:
                return printed
            printed += piece
        return printed[: -len(mark)]


def started(flash: Path) -> str:
    """Start a board on a flash, for as long as its boot.py takes; what that printed."""
    python = _Python(flash, flash.with_name(f"{flash.name}.trace"))
    python.kill()
    return python.boot_printed.decode()


class StandIn:
    """The board; its port is there as long as the block runs.

    Cut off after `cut_after` pieces of code, if that is given; a restart takes `boot_seconds` more than here. It is at `phase`
    when it is plugged in, and does not get to Ctrl-C before it was typed `deaf` times more; it says something at each of them
    if it `lives`. When the block ends it has got to all.
    """

    def __init__(
        self,
        flash: Path,
        cut_after: int = -1,
        boot_seconds: float = 0,
        phase: str = "the app",
        deaf: int = 0,
        lives: bool = True,
    ):
        self.flash = flash
        self.resets = 0
        self.pieces = 0
        self.booted: list[str] = []
        self._cut_after = cut_after
        self._boot_seconds = boot_seconds
        self._traces: list[Path] = []
        self._is_raw = self.runs_app = False
        self._phase = phase
        self._deaf = deaf
        self._lives = lives
        self._typed = b""
        self._pasted: bytes | None = None
        self._stop, self._stopper = os.pipe()

    def __enter__(self) -> "StandIn":
        self._line, line = pty.openpty()
        tty.setraw(line)
        self._kept_open = line
        self.port = os.ttyname(line)
        self._begin()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        os.write(self._stopper, b"x")
        self._thread.join()
        self._python.kill()
        for number in (self._stop, self._stopper):
            os.close(number)
        self._unplug()

    def changes(self) -> list[Change]:
        """All changes of the flash since the board was plugged in."""
        return [change for trace in self._traces for change in read_trace(trace)]

    # --- what the board does

    def _boot(self) -> None:
        self._traces.append(self.flash.with_name(f"{self.flash.name}.trace{len(self._traces)}"))
        self._python = _Python(self.flash, self._traces[-1])
        self.booted.append(self._python.boot_printed.decode())

    def _begin(self) -> None:
        """Start as after the board's RESET: the app runs."""
        self._boot()
        self._python.run(_APP)
        self._is_raw, self.runs_app = False, True

    def _restart(self, start: Callable[[], None]) -> None:
        self._python.kill()
        time.sleep(self._boot_seconds)
        start()

    def _serve(self) -> None:
        while True:
            ready, _, _ = select.select([self._line, self._stop], [], [])
            if self._line not in ready:  # what was typed before the end is still done
                self._wake()
                return
            try:
                self._typed += os.read(self._line, 4096)
            except OSError:
                return
            while self._typed and self._take():
                pass
            if self._line < 0:
                return

    def _wake(self) -> None:
        """Get to what was typed, at last."""
        if self._deaf:
            self._deaf = 0
            self._strike()
            while self._typed and self._take():
                pass

    def _take(self) -> bool:
        """Do what the next keys say; whether there were enough."""
        if self._deaf:
            return self._miss()
        if self._pasted is not None:
            return self._take_pasted(self._pasted)
        for key, what in ((_CTRL_C, self._interrupt), (_CTRL_A, self._enter_raw)):
            before, found, rest = self._typed.partition(key)
            if found and not before.strip(b"\r\n") and not self._typed.startswith(_PASTE):
                self._typed = rest
                what()
                return True
        if self._typed.startswith(_PASTE) and self._is_raw:
            self._typed = self._typed[len(_PASTE) :]
            self._pasted = b""
            self._print(_PASTES)
            return True
        _, found, rest = self._typed.partition(b"\r")
        if found and not self._is_raw:
            self._typed = rest
            return True
        code, found, rest = self._typed.partition(_CTRL_D)
        if not found or _PASTE.startswith(self._typed):
            return False
        self._typed = rest
        self._run(code, _TAKEN) if self._is_raw else None
        return True

    def _take_pasted(self, before: bytes) -> bool:
        """Take what was pasted; what it does is done at its end."""
        _, stopped, rest = self._typed.partition(_CTRL_C)
        if stopped:
            self._pasted, self._typed = None, rest
            self._print(_CTRL_D + _INTERRUPTED + _CTRL_D + b">")
            return True
        piece, ended, self._typed = self._typed.partition(_CTRL_D)
        code = before + piece
        if not ended:
            self._pasted = code
            self._print(_MORE * (len(code) // _WINDOW - len(before) // _WINDOW))
            return False
        self._pasted = None
        self._run(code, _CTRL_D)
        return True

    def _miss(self) -> bool:
        """Let a Ctrl-C wait, and what comes behind it."""
        before, found, rest = self._typed.partition(_CTRL_C)
        if found:
            self._typed = before + rest
            self._deaf -= 1
            if self._lives:
                self._print(b".")
            if not self._deaf:
                self._strike()
        return bool(found)

    def _strike(self) -> None:
        """Stop what runs where it is."""
        if self.runs_app:
            self._python.run(PHASES[self._phase])
            self._phase = "the app"
            self._print(_INTERRUPTED)
        self.runs_app = False
        self._print(_PROMPT)

    def _interrupt(self) -> None:
        if not self._is_raw:
            self._strike()

    def _enter_raw(self) -> None:
        if not self.runs_app:
            self._is_raw = True
            self._print(_RAW)

    def _run(self, code: bytes, taken: bytes) -> None:
        if not code:
            self._print(b"OK\r\nMPY: soft reboot\r\n")
            self._restart(self._boot)
            self._print(self._python.boot_printed + _RAW)
            return
        if taken == _CTRL_D:  # what is pasted, and not the few lines that are not
            if self.pieces == self._cut_after:
                self._python.kill()
                self._unplug()
                return
            self.pieces += 1
        # A prompt says at once that it has the code, and the rest when that has run.
        self._print(taken)
        answer = self._python.run(code)
        self._print(answer.removeprefix(_TAKEN))
        if not answer.endswith(b">") and self._python.process.wait() == RESET:
            self.resets += 1
            self._restart(self._begin)

    def _print(self, data: bytes) -> None:
        data = data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        while data:
            data = data[os.write(self._line, data) :]

    def _unplug(self) -> None:
        if self._line >= 0:
            os.close(self._line)
            os.close(self._kept_open)
            self._line = -1
