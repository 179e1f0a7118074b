"""A board's console for programs: a JSON object per line, both ways (docs/reference/serial.md).

with open_console(port) as board:
    for answer in board.ask(say="hello"):
        ...  # {"text": ..} {"notice": ..} {"line": ..} {"report": ..} {"error": ..}
"""

import contextlib
import json
import re
import time
from binascii import crc32
from collections.abc import Callable, Generator, Iterator
from typing import Any

from engram_host.boards import port as ports
from engram_host.boards.errors import BoardFailed, NoBoardAnswer, command_name, option_name

PROBE = b"/json on"

SILENT_SECONDS = 8.0
"""Without output for so long, the board does not answer; a person learns it within 10 seconds."""

LONGEST_SECONDS = 60.0
"""Limit of the wait for a board that prints something other than a start."""

START_SILENT_SECONDS = 60.0
"""Silence allowed during a start; longer than any step of it on a slow flash."""

LONGEST_START_SECONDS = 600.0

SETTLE_SECONDS = 0.5

LOOP_STARTS = 3

_RESET = b"rst:0x"

_STARTS = b" is starting ..."
_PROMPT = b">>> "
_SIGN = b"."
_SAFE_MODE = b"Engram is in safe mode"
_NO_START = re.compile(rb"Engram (?:did not start|could not be started): ([^\r\n]+)")
_KEPT_BYTES = 4096


class Greeting:
    """State of the wait for a board; times are seconds of one clock."""

    def __init__(self, port: str, now: float):
        self._port = port
        self._began = self._heard = now
        self._tail = b""
        self._starts = 0
        self._lives = self._is_starting = False

    def feed(self, data: bytes, now: float) -> None:
        if not data:
            return
        # A mark may be split over two reads.
        before = self._tail[-len(_RESET) :]
        self._starts += (before + data).count(_RESET) - before.count(_RESET)
        self._tail = (self._tail + data)[-_KEPT_BYTES:]
        self._is_starting = self._is_starting or self._starts > 0 or _STARTS in self._tail
        self._is_starting = self._is_starting or data.strip() == _SIGN
        # An echo shows that there is a console, but not that it works.
        if not self._lives or data.replace(PROBE, b"").strip(b"\r\n> "):
            self._heard = now
        self._lives = True

    @property
    def is_waiting(self) -> bool:
        """True if the board said something, so that waiting may help."""
        return self._lives

    @property
    def longest_seconds(self) -> float:
        return LONGEST_START_SECONDS if self._is_starting else LONGEST_SECONDS

    def problem(self, now: float) -> str:
        if self._tail.endswith(_PROMPT) and now - self._heard >= SETTLE_SECONDS:
            return self._at_prompt()
        if self._starts >= LOOP_STARTS:
            return (
                f"the board on {self._port} restarts again and again: {command_name('monitor')} shows why."
                " A weak cable or supply does that, too."
            )
        silent = START_SILENT_SECONDS if self._is_starting else SILENT_SECONDS
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
        return (
            f"the board on {self._port} is at the MicroPython prompt, so Engram does not run: press its RESET"
            f" (or type app.run() there); {command_name('monitor')} shows why it stopped."
        )


# --- the console


Answer = dict[str, Any]
Notify = Callable[[str], None]
Hear = Callable[[bytes, float], None]

PIECE = 128
PAUSE_SECONDS = 0.02
"""Pause between pieces: a busy board buffers 260 bytes of its UART."""

_PROTOCOL = 1
_GREETING_EVERY = 2.0
_NUDGE_SECONDS = 5.0
_TAKEN_SECONDS = 10.0
_GONE_SECONDS = 60.0
_ATTEMPTS = 4
_WAIT_SECONDS = 0.2
_LONGEST_LINE = 1 << 16
_NOT_TAKEN = (
    "the board has not accepted this yet: it is busy, or stuck (Ctrl-C stops waiting;"
    f" {command_name('monitor')} shows what it prints)"
)


class JsonConsole:
    """A board whose console speaks JSON; use open_console() to get one."""

    def __init__(self, line: Any, port: str = ""):
        self._line = line
        self._port = port
        self._pending = b""
        self._last = 0
        self.line_bytes = 0
        """Longest line that the board accepts, crc included."""
        self.asides: list[str] = []

    def greet(self, notify: Notify | None = None) -> None:
        """Switch to JSON, `notify` if it takes long; raises NoBoardAnswer, or BoardFailed if too
        new."""
        greeting = Greeting(self._port, time.monotonic())
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

    def ask(self, *, say: str = "", command: str = "") -> Iterator[Answer]:
        """Yield the answers to a request, sent again if garbled; raises BoardFailed if it cannot
        be sent."""
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
        """Yield the answers; return True if the board refused the request as damaged."""
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
                yield answer  # unsolicited messages between the lines of the answer
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
                # The line end may have been lost; an extra empty line is ignored.
                self._send(b"\n")
                nudged = time.monotonic()
        return False

    def end(self) -> None:
        self._send(b"\n/json off\n")

    def _answers(self) -> Iterator[Answer]:
        while True:
            for line in self._lines():
                answer = _parsed(line)
                if answer is not None:
                    yield answer
                elif line.strip():
                    self.asides.append(line.decode("utf-8", "replace").strip())
            yield {}

    def _lines(self, hear: Hear | None = None) -> list[bytes]:
        """Return the lines received, maybe none; `hear` gets the raw bytes and their time."""
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
            time.sleep(PAUSE_SECONDS * slowness)


def with_crc(request: Answer) -> bytes:
    """Return the line of a request with its crc, without a line end."""
    head = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()[:-1]
    return head + b',"crc":"%08x"}' % crc32(head)


def _parsed(line: bytes) -> Answer | None:
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
    """Open the board on a port for requests; `notify` gets a sentence if it must wait."""
    name = ports.choose_port(named_port)
    with contextlib.closing(ports.open_port(name, _WAIT_SECONDS)) as line:
        board = JsonConsole(line, name)
        try:
            board.greet(notify)
            yield board
            board.end()
        except OSError:
            raise ports.port_gone(name) from None
