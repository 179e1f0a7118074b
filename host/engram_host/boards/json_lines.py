"""A board's console as programs use it: a JSON object a line, both ways (docs/reference/serial.md).

with opened(port) as board:
    for answer in board.ask(say="hello"):
        ...                                 # {"text": ..} {"notice": ..} {"line": ..} {"report": ..} {"error": ..}
"""

import contextlib
import json
import re
import time
from binascii import crc32
from collections.abc import Callable, Generator, Iterator
from typing import Any, Protocol

from engram_host.boards import port as ports
from engram_host.boards.errors import BoardFailed, NoBoardAnswer, command_name, option_name

PROBE = b"/json on"

SILENT_SECONDS = 8.0
"""A board that says nothing for so long does not answer: a person learns of it within 10 seconds."""

LONGEST_SECONDS = 60.0
"""A board that says something, and not that it starts, is waited for no longer."""

START_SILENT_SECONDS = 60.0
"""How long a start may say nothing: longer than a step of it takes on a slow flash."""

LONGEST_START_SECONDS = 600.0
"""A start is waited for no longer."""

SETTLE_SECONDS = 0.5
"""A prompt after which nothing comes for so long is one that waits."""

LOOP_STARTS = 3
"""So many starts while it is waited for are no start."""

_RESET = b"rst:0x"
"""In what a chip's ROM prints at each start: why it was reset."""

_STARTS = b" is starting ..."
_PROMPT = b">>> "
_TRACEBACK = re.compile(rb"Traceback \(most recent call last\):\r?\n((?:  [^\r\n]*\r?\n)*)([^\r\n]+)")
_OF_OURS = b"SyntaxError"
"""What Python says of our own request, with no file but the prompt."""
_FILE = re.compile(rb'File "(?!<stdin>)')
_SIGN = b"."
"""A start says it on a line of its own while it goes on."""
_SAFE_MODE = b"Engram is in safe mode"
_NO_START = re.compile(rb"Engram (?:did not start|could not be started): ([^\r\n]+)")
_KEPT_BYTES = 4096


class Greeting:
    """Listens to a board from the moment `now`; times are those of one clock, in seconds."""

    def __init__(self, port: str, now: float, silent_seconds: float = 0):
        self._port = port
        self._began = self._heard = now
        self._silent_seconds = silent_seconds or SILENT_SECONDS
        self._tail = b""
        self._starts = 0
        self._lives = self._is_starting = False

    def feed(self, data: bytes, now: float) -> None:
        """Take what the board said."""
        if not data:
            return
        # A mark may come in two pieces.
        before = self._tail[-len(_RESET) :]
        self._starts += (before + data).count(_RESET) - before.count(_RESET)
        self._tail = (self._tail + data)[-_KEPT_BYTES:]
        self._is_starting = self._is_starting or self._starts > 0 or _STARTS in self._tail
        self._is_starting = self._is_starting or data.strip() == _SIGN
        # An echo shows that there is a console, and not that it goes on.
        if not self._lives or data.replace(PROBE, b"").strip(b"\r\n> "):
            self._heard = now
        self._lives = True

    @property
    def is_waiting(self) -> bool:
        """Whether the board said something, so that it is worth waiting for."""
        return self._lives

    @property
    def longest_seconds(self) -> float:
        """How long it is waited for in all."""
        return LONGEST_START_SECONDS if self._is_starting else LONGEST_SECONDS

    def problem(self, now: float) -> str:
        """Why it is no use to wait any longer; "" if it is."""
        if self._tail.endswith(_PROMPT) and now - self._heard >= SETTLE_SECONDS:
            return self._at_prompt()
        if self._starts >= LOOP_STARTS:
            return (
                f"the board on {self._port} restarts again and again: {command_name('monitor')} shows why."
                " A weak cable or supply does that, too."
            )
        silent = START_SILENT_SECONDS if self._is_starting else self._silent_seconds
        if now - self._began < self.longest_seconds and now - self._heard < silent:
            return ""
        if not self._lives:
            return (
                f"no Engram answers on {self._port}: press the board's RESET and try again;"
                f" {command_name('monitor')} shows what it prints. If it prints nothing, check the cable and the port"
                f" ({option_name('PORT')})."
            )
        if self._is_starting:
            return (
                f"the board on {self._port} began to start and has not finished: wait a little and try again;"
                f" {command_name('monitor')} shows what it prints."
            )
        return (
            f"no Engram answers on {self._port}, though the board prints something ({command_name('monitor')} shows it):"
            f" it may be busy, so try again; else press its RESET."
        )

    def _at_prompt(self) -> str:
        if _SAFE_MODE in self._tail:
            return (
                f"the board on {self._port} is in safe mode, since its last starts failed: press its RESET to try once more"
                f" ({command_name('monitor')} shows why it fails), or repair it with {command_name('deploy')}."
            )
        found = _NO_START.search(self._tail)
        if found:
            why = found[1].decode("utf-8", "replace").strip()
            return f"the board on {self._port} did not start Engram: {why}"
        error = self._error()
        if error:
            return (
                f"the board on {self._port} is at the MicroPython prompt after an error ({error}):"
                f" open {command_name('monitor')} and press its RESET to see where it comes from."
            )
        return (
            f"the board on {self._port} is at the MicroPython prompt, so Engram does not run: press its RESET"
            " (or type app.run() there)."
        )

    def _error(self) -> str:
        """The last error that the board showed, "" if there is none; a stop by Ctrl-C is none."""
        for files, error in reversed(_TRACEBACK.findall(self._tail)):
            is_ours = error.startswith(_OF_OURS) and not _FILE.search(files)
            if not is_ours and not error.startswith(b"KeyboardInterrupt"):
                return error.decode("utf-8", "replace").strip()
        return ""


# --- the console


Answer = dict[str, Any]
Notify = Callable[[str], None]
Hear = Callable[[bytes, float], None]

PIECE = 128
PAUSE_SECONDS = 0.02
"""What is sent goes in pieces, with a pause after each: on a UART the board takes 260 bytes while it is busy, no more."""

_PROTOCOL = 1
_GREETING_EVERY = 2.0
_NUDGE_SECONDS = 5.0
_TAKEN_SECONDS = 10.0
"""After so long without a sign that a request has arrived, a person gets a message."""
_GONE_SECONDS = 60.0
"""After so long the board counts as gone: no command keeps its console from reading for longer."""
_ATTEMPTS = 4
_WAIT_SECONDS = 0.2
_LONGEST_LINE = 1 << 16
_NOT_TAKEN = (
    "the board has not accepted this yet: it is busy, or stuck (Ctrl-C stops waiting;"
    f" {command_name('monitor')} shows what it prints)"
)


class SerialPort(Protocol):
    """What is used of pyserial's port."""

    def read(self, size: int = 1, /) -> bytes:
        """At most `size` bytes, fewer when the time is over."""
        ...

    def write(self, data: bytes, /) -> int | None:
        """Send bytes."""
        ...


class JsonConsole:
    """A board whose console talks JSON; use open_console() to get one."""

    def __init__(self, line: SerialPort, port: str = ""):
        self._line = line
        self._port = port
        self._pending = b""
        self._last = 0
        self.line_bytes = 0
        """The longest line that the board takes, its crc included."""
        self.gives_reports = False
        """Whether its commands answer programs by reports, too; older firmware does not."""
        self.pause = PAUSE_SECONDS
        """After each piece that is sent; a pipe needs none."""
        self.asides: list[str] = []
        """What came between the answers and was none: messages of the firmware."""

    def greet(self, notify: Notify | None = None, silent_seconds: float = 0) -> None:
        """Bring the console to talk JSON. `notify` is called when the board has to be waited for.

        NoBoardAnswer if it says nothing for `silent_seconds`, or what it says is no console's; BoardFailed if its way is newer.
        """
        greeting = Greeting(self._port, time.monotonic(), silent_seconds)
        is_first = True
        while True:
            self._send(PROBE + b"\r\n")
            until = time.monotonic() + _GREETING_EVERY
            while (now := time.monotonic()) < until:
                for line in self._lines(greeting.feed):
                    answer = _parsed(line)
                    if answer and "json" in answer:
                        self._take_greeting(answer)
                        return
                problem = greeting.problem(now)
                if problem:
                    raise NoBoardAnswer(problem)
            if notify and not is_first and greeting.is_waiting:
                notify(
                    f"The board on {self._port} is starting, or busy: waiting up to {greeting.longest_seconds:.0f} s."
                )
                notify = None
            is_first = False

    def _take_greeting(self, answer: Answer) -> None:
        if answer["json"] != _PROTOCOL:
            raise BoardFailed(
                f"the board's firmware {answer.get('engram')} is newer than this program: update this one."
            )
        self.line_bytes = int(answer["line_bytes"])
        self.gives_reports = answer.get("reports") is True

    def ask(self, *, say: str = "", command: str = "") -> Iterator[Answer]:
        """Yield the answers to a request, without the ids and the end; BoardFailed if it cannot be sent.

        A line that was damaged on its way is sent again, more slowly.
        """
        self._last += 1
        request = {"id": self._last, "say": say} if say else {"id": self._last, "command": command}
        data = with_crc(request)
        if len(data) > self.line_bytes:
            raise BoardFailed(
                f"the message has {len(data)} bytes, the board takes {self.line_bytes}: send it in parts."
            )
        for attempt in range(_ATTEMPTS):
            self._send(data + b"\n", slowness=1 + 2 * attempt)
            is_damaged = yield from self._answers_to(self._last)
            if not is_damaged:
                return
        raise BoardFailed("the board gets only damaged lines: try another cable, or a shorter one.")

    def _answers_to(self, number: int) -> Generator[Answer, None, bool]:
        """Yield the answers to a request; whether it was refused since it was damaged on its way."""
        is_taken = is_told = False
        began = nudged = time.monotonic()
        for answer in self._answers():
            if answer.pop("id", None) == number:
                is_taken = True
                if answer.pop("done", False):
                    return False
                if not answer.pop("taken", False):
                    yield answer
            elif "push" in answer:
                yield answer  # what the board says by itself, between the lines of the answer
            elif "error" in answer and not is_taken:
                return True
            elif not is_taken and not is_told and time.monotonic() - began > _TAKEN_SECONDS:
                is_told = True
                yield {"notice": _NOT_TAKEN}
            elif not is_taken and time.monotonic() - began > _GONE_SECONDS:
                raise NoBoardAnswer(
                    f"the board on {self._port} does not answer any more: press its RESET, then try again."
                )
            elif not is_taken and time.monotonic() - nudged > _NUDGE_SECONDS:
                # The end of the line may have been lost; where it was not, an empty line is passed over.
                self._send(b"\n")
                nudged = time.monotonic()
        return False

    def end(self) -> None:
        """Give the console back to people."""
        self._send(b"\n/json off\n")

    def _answers(self) -> Iterator[Answer]:
        """Yield what comes, for ever; now and then something empty."""
        while True:
            for line in self._lines():
                answer = _parsed(line)
                if answer is not None:
                    yield answer
                elif line.strip():
                    self.asides.append(line.decode("utf-8", "replace").strip())
            yield {}

    def _lines(self, hear: Hear | None = None) -> list[bytes]:
        """The lines that have come, maybe none; `hear` is given all that came, and when."""
        data = self._line.read(1)
        waiting = getattr(self._line, "in_waiting", 0)
        if waiting:
            data += self._line.read(waiting)
        if hear:
            hear(data, time.monotonic())
        self._pending += data
        *lines, rest = self._pending.split(b"\n")
        self._pending = rest[-_LONGEST_LINE:]
        return lines

    def _send(self, data: bytes, slowness: int = 1) -> None:
        for at in range(0, len(data), PIECE):
            self._line.write(data[at : at + PIECE])
            time.sleep(self.pause * slowness)


def with_crc(request: Answer) -> bytes:
    """The line of a request, without its end."""
    head = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()[:-1]
    return head + b',"crc":"%08x"}' % crc32(head)


def _parsed(line: bytes) -> Answer | None:
    """The answer in a line; None if it is none, or one that was damaged."""
    line = line.strip()
    head, mark, check = line.rpartition(b',"crc":"')
    if not mark or check != b'%08x"}' % crc32(head):
        return None
    try:
        answer = json.loads(head + b"}")
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None


@contextlib.contextmanager
def open_console(named_port: str, notify: Notify | None = None) -> Iterator[JsonConsole]:
    """The board on a port, ready to be asked; its console talks to people again when the block ends.

    `notify` is called with a sentence when the board has to be waited for.
    """
    import serial

    name = ports.choose_port(named_port)
    try:
        line = serial.serial_for_url(name, baudrate=ports.BAUD, timeout=_WAIT_SECONDS, exclusive=True)
    except (OSError, ValueError) as error:
        raise ports.port_problem(name, error) from None
    with contextlib.closing(line):
        board = JsonConsole(line, name)
        try:
            board.greet(notify)
            yield board
            board.end()
        except (serial.SerialException, OSError):
            raise ports.port_gone(name) from None
