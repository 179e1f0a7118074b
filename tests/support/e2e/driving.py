"""Drives a board as a person does: over a pipe, all at once or line by line, or on a terminal.

    ended = say(home, "hello", "/stats")            # a pipe: what was printed, and the status; without the launcher
    with talking(home, on=PIPE) as talk:            # or on=TERMINAL
        talk.say("hello")
        assert "offline" in talk.heard("conversation")
        assert talk.end() == 0

`home` is a Home: a folder with its environment. Waiting is always for a text or for the end, never for a time; what
does not come within SECONDS fails with all that did come.
"""

import contextlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import firmware_build
import get_micropython
from fake_llm import RecordedRequest

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 40.0
"""How long anything may take before a test fails; far more than it takes on a slow machine."""

PROMPT = "> "
CTRL_C, CTRL_D = "\x03", "\x04"
QUIET = {"extract.on": False, "flush.on": False}
"""Settings of a board whose model is asked for nothing but replies."""

_OURS = ("ENGRAM_", "LLM", "REPL", "MICROPY", "TELEGRAM")


@dataclass(frozen=True)
class Home:
    """A board's folder and what its environment says."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    settings: dict[str, object] = field(default_factory=lambda: dict(QUIET))
    process: dict[str, Any] = field(default_factory=dict)  # more arguments of Popen
    within: float = SECONDS  # how long anything may take

    def having(self, **settings: object) -> "Home":
        """The same board with settings by dotted name, a dot being written as two underscores."""
        named = {name.replace("__", "."): value for name, value in settings.items()}
        return replace(self, settings={**self.settings, **named})

    def knowing(self, **environment: str) -> "Home":
        """The same board with more of an environment."""
        return replace(self, environment={**self.environment, **environment})

    def asking(self, url: str, api: str = "openai", key: str = "") -> "Home":
        """The same board with a model."""
        base = url + "/v1" if api == "openai" else url
        return self.knowing(ENGRAM_LLM_URL=base, ENGRAM_LLM_MODEL="m", ENGRAM_LLM_API=api, ENGRAM_LLM_KEY=key)

    def variables(self) -> dict[str, str]:
        """The environment of its process; nothing of ours comes from the one of the tests."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
        ours = {
            "ENGRAM_HOME": str(self.folder),
            "MICROPYPATH": _COMPILED,
            "PYTHONPATH": str(ROOT / "host"),
            "TZ": "UTC",
        }
        if self.settings:
            ours["ENGRAM_SETTINGS"] = json.dumps(self.settings)
        return {**clean, **ours, **self.environment}

    def write(self, name: str, content: str | bytes) -> None:
        """Put a file into the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    def lines(self, log: str) -> list[dict]:
        """All lines of a log, such as journal/journal, oldest first."""
        place = self.folder / log
        segments = sorted(place.parent.glob(place.name + ".*jsonl"))  # sealed ones by number, the live one last
        return [json.loads(line) for segment in segments for line in segment.read_bytes().splitlines()]

    def turns(self) -> list[dict]:
        """The journal's turns."""
        return [line for line in self.lines("journal/journal") if "text" in line]

    def memories(self) -> list[str]:
        """What the records say, forgotten ones too."""
        return [line["content"] for line in self.lines("memory/memory_records") if "content" in line]


AS_TYPED = (sys.executable, "-m", "engram_host.simulator")
"""The launcher as `make run` starts it."""

CHIP_SOCKETS = Path(__file__).with_name("chip_sockets")
"""To stand first among the folders that are imported from: links then run over sockets that do as a chip's."""

_COMPILED = f"{CHIP_SOCKETS}:{firmware_build.FIRMWARE}:{firmware_build.SIM}:{firmware_build.SUPPORT}:.frozen"
_ROOTS = str(ROOT / "build" / "test-roots.pem")
COMMAND = (sys.executable, str(Path(__file__).with_name("compiled.py")), _COMPILED, _ROOTS)
"""The launcher with the firmware as it was compiled before the tests began."""

BOARD = (str(get_micropython.HOME / "64"), "-X", "heapsize=8m", str(ROOT / "boards" / "SIM" / "main.py"))
"""The program that the launcher starts: it takes a quarter of the launcher's time."""


@dataclass(frozen=True)
class Ended:
    """A run over a pipe that is over."""

    status: int
    printed: str
    problems: str


def say(home: Home, *messages: str | bytes, end: str = "\n", command: tuple[str, ...] = BOARD) -> Ended:
    """Run the board with these lines as its input."""
    if command is BOARD:
        home.folder.mkdir(parents=True, exist_ok=True)
    lines = [message if isinstance(message, bytes) else message.encode() for message in messages]
    data = b"\n".join(lines) + (end.encode() if lines else b"")
    done = subprocess.run(
        command, input=data, capture_output=True, env=home.variables(), timeout=3 * home.within, **home.process
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())


def body_of(request: RecordedRequest) -> dict[str, Any]:
    """The JSON object that a request is."""
    assert isinstance(request.body, dict)
    return request.body


def said(request: RecordedRequest) -> list[str]:
    """The texts of a request's conversation, without the system prompt, tool calls and their results."""
    texts = []
    for message in body_of(request)["messages"]:
        content = message["content"] if message["role"] in ("user", "assistant") else None
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
        if content:
            texts.append(content)
    return texts


class Talk:
    """A board that runs: `keys` takes what is typed, `screen` is read from."""

    def __init__(self, process: subprocess.Popen[bytes], keys: int, screen: int, within: float):
        self.process = process
        self._within = within
        self.keys = keys
        self.screen = screen
        self._is_open = True
        self._new = b""
        self.seen = b""

    def say(self, line: str) -> None:
        """Type a line."""
        self.type(line + "\n")

    def type(self, keys: str | bytes) -> None:
        """Type keys."""
        data = keys if isinstance(keys, bytes) else keys.encode()
        while data:
            _, ready, _ = select.select([], [self.keys], [], SECONDS)
            assert ready, self._story("no more keys were taken")
            data = data[os.write(self.keys, data[:1024]) :]

    def heard(self, *texts: str) -> str:
        """All that came since the last call, up to and with the first of `texts` that comes."""
        wanted = [text.encode() for text in texts]
        deadline = time.monotonic() + self._within
        while not (ends := [self._new.index(text) + len(text) for text in wanted if text in self._new]):
            assert self._read(deadline), self._story(f"{' or '.join(texts)!r} did not come")
        heard, self._new = self._new[: min(ends)], self._new[min(ends) :]
        return heard.decode()

    def heard_to_the_end(self) -> str:
        """All that comes until the board has ended."""
        deadline = time.monotonic() + self._within
        while self._read(deadline):
            pass
        assert time.monotonic() < deadline, self._story("the board did not end")
        heard, self._new = self._new, b""
        return heard.decode()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the launcher."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """End launcher and board in the middle of whatever they do, as a power cut does."""
        for child in children(self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self.process.kill()
        self.process.wait()

    def status(self) -> int:
        """How the launcher ended, which it has to do by itself."""
        self.heard_to_the_end()
        return self.process.wait(self._within)

    def end(self) -> int:
        """End the input, as Ctrl-D or a pipe's end does; the status."""
        if self.keys == self.screen:
            self.type(CTRL_D)
        else:
            self.close()
        return self.status()

    def close(self) -> None:
        """Close the input."""
        if self._is_open:
            self._is_open = False
            os.close(self.keys)

    def stop_reading(self) -> None:
        """Close the output; a terminal's is closed with its input."""
        if self.screen not in (self.keys, -1):
            os.close(self.screen)
            self.screen = -1

    def _read(self, deadline: float) -> bytes:
        ready, _, _ = select.select([self.screen], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return b""
        try:
            data = os.read(self.screen, 65536)
        except OSError:
            # A terminal whose last user has gone.
            data = b""
        self._new += data
        self.seen += data
        return data

    def _story(self, problem: str) -> str:
        seen = self.seen.decode(errors="replace")
        return f"{problem} (status {self.process.poll()}); all that came:\n{seen[-4000:]}"


PIPE, TERMINAL = "pipe", "terminal"


@contextlib.contextmanager
def talking(home: Home, *, on: str = PIPE, command: tuple[str, ...] = COMMAND) -> Iterator[Talk]:
    """A board to talk with; it is killed when the block ends, if it still runs then."""
    talk = (_on_terminal if on == TERMINAL else _on_pipe)(home, command)
    try:
        yield talk
    finally:
        if talk.process.poll() is None:
            talk.kill()
        talk.close()
        talk.stop_reading()


def _on_pipe(home: Home, command: tuple[str, ...]) -> Talk:
    ours, theirs = os.pipe()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=theirs, stderr=theirs, env=home.variables(), bufsize=0
    )
    os.close(theirs)
    assert process.stdin is not None
    keys = os.dup(process.stdin.fileno())
    process.stdin.close()
    return Talk(process, keys, ours, home.within)


def _on_terminal(home: Home, command: tuple[str, ...]) -> Talk:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 100))
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=home.variables(),
        preexec_fn=lambda: _take_terminal(theirs),
    )
    os.close(theirs)
    return Talk(process, ours, ours, home.within)


def _take_terminal(terminal: int) -> None:
    os.setsid()
    import fcntl

    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


def children(parent: int) -> list[int]:
    """The processes that a process has started, as the kernel lists them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The command's name, in brackets, may have spaces in it; the parent is the second field after it.
            if int(path.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(path.parent.name))
    return found
