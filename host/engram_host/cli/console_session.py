"""A board's console for commands: on a serial port, simulated, or over a companion's link."""

import contextlib
import os
import selectors
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from engram_host.boards import port as ports
from engram_host.boards.errors import BoardError, NoPort, command_name
from engram_host.boards.json_lines import JsonConsole, open_console
from engram_host.cli.conversation import BoardTalk, LinkConsole, Speaker
from engram_host.cli.exit_status import CommandError, NotFound, WrongUsage
from engram_host.cli.options import BoardAddress, Context
from engram_host.companion.lockfile import running_addresses
from engram_host.transfer.report import ImportOutcome, ImportRefusal, import_command, read_reports

_PACKAGES = str(Path(__file__).resolve().parents[2])
_PIECE = 65536
_WAIT_SECONDS = 0.2
_END_SECONDS = 10.0
_START_SECONDS = 25.0
"""Silence allowed at the start of a simulated board: this computer may be busy."""

_NO_REPORTS = (
    "the board's firmware is older than this program and gives no report of an import, so nothing was sent: update it"
    f" with {command_name('deploy')}. `engram import FILE --out memory.jsonl` writes a file for the board's own /import."
)


class BoardConsole(Protocol):
    @property
    def gives_reports(self) -> bool: ...

    def ask(self, *, say: str = "", command: str = "") -> Iterator[dict[str, Any]]:
        """Yield the answers to a request; raises BoardError or CommandError."""
        ...


@contextlib.contextmanager
def open_board(context: Context) -> Iterator[BoardConsole]:
    """Open the board that a command is for, or the only one; raises BoardError or CommandError."""
    address = context.board
    if address.port and address.sim:
        raise WrongUsage("--port and --sim name two boards: give one of them.")
    if context.device and address != BoardAddress():
        raise WrongUsage("--device names a board of the companion: leave --port and --sim out.")
    if context.device or (address == BoardAddress() and _is_only_on_link(context)):
        with context.open_companion() as companion:
            yield LinkConsole(BoardTalk(companion, companion.device(context.device), Speaker()))
    elif address.sim:
        with _simulated(address.sim) as board:
            yield board
    else:
        with open_console(address.port) as board:
            yield board


def _is_only_on_link(context: Context) -> bool:
    """True if no board is plugged in and one can be asked through a companion."""
    if not context.url and not running_addresses(context.home):
        return False
    try:
        ports.choose_port("")
    except (NoPort, ModuleNotFoundError):
        return True
    return False


def check_reports(board: BoardConsole) -> None:
    """Raise CommandError if the board's firmware is too old to report what it imports."""
    if not board.gives_reports:
        raise CommandError(_NO_REPORTS)


def import_object(board: BoardConsole, fields: dict[str, Any]) -> tuple[ImportOutcome, list[ImportRefusal]]:
    """Import an object by the board's /import; raises BoardError, or CommandError if refused."""
    reports: list[Mapping[str, Any]] = []
    for answer in board.ask(command=import_command(fields)):
        if "error" in answer:
            raise CommandError(f"the board says: {answer['error']}")
        if "report" in answer:
            reports.append(answer["report"])
    outcome, refused = read_reports(reports)
    if outcome is None:
        raise CommandError("the board's report was damaged on its way: do it again, nothing is stored twice.")
    return outcome, refused


class _Pipe:
    def __init__(self, process: "subprocess.Popen[bytes]"):
        assert process.stdin and process.stdout
        self._process = process
        self._in, self._out = process.stdin, process.stdout.fileno()
        self._waiting = b""
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)

    @property
    def in_waiting(self) -> int:
        return len(self._waiting)

    def read(self, size: int = 1, /) -> bytes:
        if not self._waiting and self._selector.select(_WAIT_SECONDS):
            self._waiting = os.read(self._out, _PIECE)
            if not self._waiting:
                raise CommandError(f"the simulated board ended: {_last_words(self._process)}")
        read, self._waiting = self._waiting[:size], self._waiting[size:]
        return read

    def write(self, data: bytes, /) -> int:
        try:
            self._in.write(data)
            self._in.flush()
        except BrokenPipeError:
            raise CommandError(f"the simulated board ended: {_last_words(self._process)}") from None
        return len(data)


@contextlib.contextmanager
def _simulated(folder: Path) -> Iterator[JsonConsole]:
    if not (folder / "memory").is_dir():
        raise NotFound(f"{folder} is no folder of a simulated board: `engram run` makes one.")
    process = subprocess.Popen(
        [sys.executable, "-m", "engram_host.simulator"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": _PACKAGES, "ENGRAM_HOME": str(folder), "LLM": "", "COMPANION": "", "REPL": ""},
        start_new_session=True,  # Ctrl-C is for this command, which then ends the board in its own way
    )
    try:
        board = JsonConsole(_Pipe(process), "the pipe")
        board.pause = 0.0
        board.greet(silent_seconds=_START_SECONDS)
        yield board
    except BoardError:
        if process.poll() is not None:
            raise CommandError(f"the simulated board did not start: {_last_words(process)}") from None
        raise
    finally:
        _end_board(process)


def _end_board(process: "subprocess.Popen[bytes]") -> None:
    """End a board by the end of its input: what it has read is on its flash."""
    assert process.stdin
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    process.stdin = None  # communicate() would flush it
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=_END_SECONDS)
    process.kill()
    process.wait()


def _last_words(process: "subprocess.Popen[bytes]") -> str:
    process.wait(_END_SECONDS)
    assert process.stderr
    lines = process.stderr.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"status {process.returncode}."
