"""A stopped board that runs commands over the raw REPL of its serial port."""

import base64
import binascii
import contextlib
import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from engram_host.boards import port as ports
from engram_host.boards.errors import (
    BoardError,
    BoardFailed,
    Garbled,
    NoBoardAnswer,
    WrongBoard,
    command_name,
    option_name,
)
from engram_host.boards.progress import Progress

PLATFORM = "esp32"

_PIECE = 1024
"""Bytes of a file per call; the board's heap needs twice as many."""

LONGEST_STOP_SECONDS = 600.0
"""Limit of a stop while the board prints something: a slow start, a nearly full flash."""

_RESTART_SECONDS = 180.0
"""Silence allowed during a restart: a deploy may need 200 silent renames under an older boot.py."""

_LONGEST_RESTART_SECONDS = 3600.0

_READ_SECONDS = 30.0

_WRITE_SECONDS = 10.0
_RESET = "import machine\nmachine.reset()"
_WAITING = f"Waiting for the board, up to {LONGEST_STOP_SECONDS / 60:.0f} minutes while it says something"

_ON_BOARD = Path(__file__).with_name("device_script.py")
_NO_SPACE = "28"
_END = b"\x04"
_SIGN = b"~"

Count = Callable[[int], None]
"""Receives the number of bytes done since its last call."""


@dataclass(frozen=True)
class BoardInfo:
    platform: str
    version: tuple[int, ...]
    mpy: tuple[int, int]
    machine: str
    has_files: bool
    is_unfinished: bool
    """A deploy waits for the next start."""

    @property
    def chip(self) -> str:
        """Chip as profiles name it: the last word of "Generic ESP32S3 module with ESP32S3"."""
        return self.machine.rpartition(" ")[2].replace("-", "").lower()


@dataclass(frozen=True)
class BoardFile:
    size: int
    sha256: str

    @property
    def is_folder(self) -> bool:
        return self.size < 0


class BoardSession:
    """A stopped board; calls raise NoBoardAnswer, NoPort (unplugged) or BoardFailed."""

    def __init__(self, port: str, transport: Any):
        self._port = port
        self._transport = transport
        self._is_stopped = False

    def read_info(self) -> BoardInfo:
        ((platform, version, mpy, machine, has_files, is_unfinished),) = self._run_and_parse("about()")
        return BoardInfo(platform, tuple(version), (mpy & 0xFF, mpy >> 8), machine, has_files, is_unfinished)

    def free_flash(self) -> int:
        ((free,),) = self._run_and_parse("room()")
        return free

    def list_tree(self, folder: str, count: Count | None = None, *, deep: bool = True) -> dict[str, BoardFile]:
        """List a folder by path, recursively if `deep`; {} if it is missing."""
        entries = self._run_and_parse(f"tree({_quoted(folder)}, {deep})", count)
        return {path.lstrip("/"): BoardFile(size, digest) for path, size, digest in entries}

    def list_around(self, paths: Iterable[str], count: Count | None = None) -> dict[str, BoardFile]:
        """List the root, and the top folders of `paths` recursively."""
        found = self.list_tree("", count, deep=False)
        for folder in sorted({path.partition("/")[0] for path in paths if "/" in path}):
            found |= self.list_tree(folder, count)
        return found

    def put_file(self, path: str, content: bytes, count: Count | None = None) -> None:
        """Write a file and verify it; not atomic."""
        self.run_code(f"start({_quoted(path)})")
        for at in range(0, len(content), _PIECE):
            piece = content[at : at + _PIECE]
            self.run_code(f"more({base64.b64encode(piece).decode()!r})")
            if count:
                count(len(piece))
        if self.run_code(f"stop({_quoted(path)})") != sha256(content).hexdigest():
            raise Garbled(
                f"{path} did not arrive on the board as it was sent: try again, with another cable if it stays."
            )

    def replace(self, path: str, content: bytes) -> None:
        """Write a file atomically."""
        self.put_file(f"{path}.new", content)
        self.run_code(f"os.rename({_quoted(path + '.new')}, {_quoted(path)})")

    def get_file(self, path: str, count: Count | None = None) -> bytes:
        try:
            content = b"".join(map(binascii.a2b_base64, self.run_code(f"show({_quoted(path)})").splitlines()))
        except binascii.Error:
            raise Garbled(f"{path} did not arrive from the board as it was sent: try again.") from None
        if count:
            count(len(content))
        return content

    def remove_tree(self, path: str, count: Count | None = None) -> None:
        self.run_code(f"drop({_quoted(path)})", count)

    def run_code(self, code: str, count: Count | None = None) -> str:
        """Run code and return its output without its signs of life, which go to `count`."""
        printed = bytearray()

        def hear(data: bytes) -> None:
            printed.extend(data)
            sign = printed[printed.rfind(b"\n", 0, -1) + 1 :]
            if count and data.endswith(b"\n") and sign.startswith(_SIGN):
                count(int(sign[1:]) if sign[1:].strip().isdigit() else 0)

        with self._translating(
            f"the board on {self._port} stopped answering: press its RESET, then do the same again."
        ):
            self._transport.exec(code, data_consumer=hear)
        lines = printed.replace(_END, b"").splitlines()
        return b"\n".join(line for line in lines if not line.startswith(_SIGN)).decode("utf-8", "replace").strip()

    def _run_and_parse(self, code: str, count: Count | None = None) -> list[list[Any]]:
        printed = self.run_code(code, count)
        with contextlib.suppress(ValueError):
            lines = [json.loads(line) for line in printed.splitlines()]
            if all(isinstance(line, list) for line in lines):
                return lines
        raise Garbled("what the board sent did not arrive whole: try again, with another cable if it stays.")

    def restart(self) -> None:
        with (
            self._translating(self._no_answer()),
            contextlib.redirect_stdout(io.StringIO()),
            self._transport.patience(_RESTART_SECONDS),
        ):
            self._transport.enter_raw_repl(timeout_overall=_LONGEST_RESTART_SECONDS)
        self._load()

    def boot(self, code: str) -> None:
        with self._transport.patience(_RESTART_SECONDS):
            self.run_code(code)

    def stop_board(self, on_wait: Callable[[], None]) -> None:
        """Stop the board; raises NoBoardAnswer, or WrongBoard for a foreign platform."""
        with self._translating(self._no_answer()):
            self._transport.stop(LONGEST_STOP_SECONDS, on_wait)
        self._is_stopped = True
        try:
            self._load()
        except BoardFailed:
            self.restart()  # the app has left no room for it
        about = self.read_info()
        if about.platform != PLATFORM:
            raise WrongBoard(
                f"{self._port} has MicroPython for {about.platform}, and Engram is for ESP32 boards: name another port."
            )
        if about.is_unfinished or not about.has_files:
            self.restart()

    def leave_board(self) -> None:
        """Reset the board; raises NoBoardAnswer if the outcome is unknown."""
        from mpremote.transport import TransportError

        try:
            if not self._is_stopped:
                self._transport.begin_code_unheard(_RESET)
                return
            # It may be in the middle of something.
            self._transport.stop(LONGEST_STOP_SECONDS, lambda: None)
            self._transport.begin_code(_RESET)
        except TransportError:
            self._transport.begin_code_unheard(_RESET)
            raise NoBoardAnswer(f"the board on {self._port} may be stopped: press its RESET.") from None
        except KeyboardInterrupt:
            self._transport.begin_code_unheard(_RESET)
            raise

    @contextlib.contextmanager
    def _translating(self, no_answer: str) -> Iterator[None]:
        """Raise errors of mpremote and of the port as a BoardError."""
        from mpremote.transport import TransportError, TransportExecError

        try:
            yield
        except TransportExecError as error:
            raise _failure(error.error_output) from None
        except TransportError:
            raise NoBoardAnswer(no_answer) from None
        except ports.LOST:
            raise ports.port_gone(self._port) from None

    def _no_answer(self) -> str:
        return (
            f"no MicroPython answers on {self._port}: check the cable and the port ({option_name('PORT')}),"
            f" then press the board's RESET and try again; {command_name('monitor')} shows what it prints."
        )

    def _load(self) -> None:
        self.run_code(_ON_BOARD.read_text(encoding="utf-8"))


def open_transport(port: str) -> Any:
    """Open the line of mpremote to a board; raises NoPort or PortBusy."""
    from mpremote.transport import TransportError

    from engram_host.boards.raw_repl import RawReplTransport

    try:
        transport: Any = RawReplTransport(port, ports.BAUD, _READ_SECONDS)
    except TransportError:
        ports.open_port(port).close()
        raise ports.port_gone(port) from None
    transport.serial.write_timeout = _WRITE_SECONDS
    return transport


@contextlib.contextmanager
def open_session(named_port: str, progress: Progress) -> Iterator[BoardSession]:
    """Stop the board on a port; it goes on when the context ends, also by an error or Ctrl-C."""
    port = ports.choose_port(named_port)
    transport = open_transport(port)
    session = BoardSession(port, transport)
    progress.step("Stopping the board")
    try:
        try:
            session.stop_board(lambda: progress.step(_WAITING))
            yield session
        finally:
            _leave(session, progress)
    finally:
        with contextlib.suppress(*ports.LOST):
            transport.close()


def _leave(session: BoardSession, progress: Progress) -> None:
    # Raise no error here: the one that ended the block is the one to show.
    with contextlib.suppress(*ports.LOST):
        try:
            session.leave_board()
        except NoBoardAnswer as problem:
            progress.say(str(problem))


def _quoted(path: str) -> str:
    return repr("/" + path.lstrip("/"))


def _failure(trace: str) -> BoardError:
    last = (trace.strip().splitlines() or ["nothing"])[-1]
    kind, _, value = last.partition(":")
    if kind == "OSError" and ("ENOSPC" in value or value.strip() == _NO_SPACE):
        return BoardFailed("the board's flash is full: forget something and /compact on it, then try again.")
    if kind == "MemoryError":
        return BoardFailed("the board has too little free memory: press its RESET, then do the same again.")
    return BoardFailed(f"the board could not do it ({last}): press its RESET, then do the same again.")
