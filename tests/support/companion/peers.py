"""Real processes for the tests of the companion: a broker, the companion, boards. Each can be killed and started again.

    with Broker() as broker, Companion(folder, mqtt_url=broker.url) as companion, BoardProcess(folder, companion) as board: ...

Ports are chosen once, so that what was killed comes back where the others look for it.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import firmware_build
import get_micropython
from engram import log_line
from file_bytes import bytes_of
from server_process import CompanionProcess, Mosquitto, RunningProcess, ServerProcess, find_free
from waiting import wait_until
from warm_companion import fork

ROOT = Path(__file__).resolve().parents[3]


def _ports() -> Iterator[int]:
    """The ports of this worker, from one that is another one in each run on."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    first, begin = 10000 + worker % 6 * 3500, os.getpid() * 97
    return (first + (begin + number) % 3500 for number in range(3500))


_PORTS = _ports()

_WITH_CLOCK = """
import time as real
from engram import clock
class Time:
    time = staticmethod(lambda: %d + real.ticks_ms() // 1000)
    gmtime = real.gmtime
clock.time = Time
import main
"""

_AS_ON_A_CHIP = "from fakes import links\nlinks.install()\n"
"""Boards talk over sockets that do as a chip's."""


_IN_A_HURRY = """
from engram import app
sleep_ms = app.sleep_ms
app.sleep_ms = lambda ms: sleep_ms(ms // %d if ms >= 1000 else ms)
"""


def free_port() -> int:
    """A port that nobody listens at, and that was not given before.

    Below those that the system gives to whoever asks for any: another test might get it before it is used. Each worker of
    `make test` has a range of its own.
    """
    return find_free(_PORTS)


class Broker(Mosquitto):
    """mosquitto."""

    def __init__(self) -> None:
        super().__init__(free_port())


class Companion(CompanionProcess):
    """`engram serve`, with a broker if one is given.

    It begins as a fork of a process that has loaded its modules (see warm_companion.py), which leaves out what loading takes.
    """

    def __init__(self, home: Path, mqtt_url: str = "", **variables: str):
        super().__init__(home, free_port(), mqtt_url, variables)

    def run(self, words: list[str], variables: dict[str, str]) -> RunningProcess:
        """Run it, without loading what it needs each time."""
        output = self._output.fileno()
        return fork(words[words.index("serve") :], variables, output, output)

    def posted(self, device: str, message: bytes) -> bytes:
        """What it answers to a message that a board sends over HTTP."""
        headers = {"Content-Type": "application/octet-stream"}
        answer = self.client.post(f"/v1/devices/{device}/messages", content=message, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.content

    def have(self, device: str, log: str) -> int:
        """The seq up to which the copy of a log is whole."""
        answer = self.client.get(f"/v1/devices/{device}")
        return answer.json()["have"].get(log, 0) if answer.status_code == 200 else 0


class BoardProcess(ServerProcess):
    """The firmware under MicroPython in a folder, driven by JSON lines; without a model, so that it answers at once.

    With `hurry` it looks so many times as often after its memory, every five seconds otherwise.
    """

    name = "board"

    def __init__(self, home: Path, url: str, device: str, clock: int = 0, hurry: int = 1, **settings: object):
        super().__init__()
        self.home = home
        self.device = device
        self._clock = clock
        self._hurry = hurry
        self._settings = {"companion.url": url, "companion.device": device, "log.level": "info", **settings}
        self._count = 0

    def command(self) -> tuple[list[str], dict[str, str]]:
        """What runs it."""
        self.home.mkdir(parents=True, exist_ok=True)
        # Compiled, as on a chip: the source takes longer to load than most tests play.
        path = f"{firmware_build.SIM}:{firmware_build.FIRMWARE}:{firmware_build.SUPPORT}:.frozen"
        variables = {"ENGRAM_HOME": str(self.home), "ENGRAM_SETTINGS": json.dumps(self._settings), "MICROPYPATH": path}
        words = [str(get_micropython.HOME / "64"), "-X", "heapsize=4m"]
        program = _WITH_CLOCK % self._clock if self._clock else "import main"
        hurry = _IN_A_HURRY % self._hurry if self._hurry > 1 else ""
        return [*words, "-c", _AS_ON_A_CHIP + hurry + program], variables

    def is_ready(self) -> bool:
        """Whether it listens."""
        if self._count == 0 or "json" not in self.printed():
            self._write(b"/json on\n")
        return b'"json"' in Path(self._output.name).read_bytes()

    def begin(self) -> None:
        """Start the process, its output anew."""
        Path(self._output.name).write_bytes(b"")
        super().begin()

    def stop_quietly(self) -> None:
        """End it by closing its input, as when its terminal goes."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(20)

    def say(self, text: str) -> None:
        """Send a message, without waiting for the answer."""
        self._count += 1
        self._write((json.dumps({"id": self._count, "say": text}) + "\n").encode())

    def do(self, command: str, mid: str = "") -> None:
        """Send a command, with an id of its network if one is given, without waiting for the answer."""
        self._count += 1
        more = {"mid": mid} if mid else {}
        self._write((json.dumps({"id": self._count, "command": command, **more}) + "\n").encode())

    def answered(self, command: str, mid: str = "") -> str:
        """What it answers to a command."""
        self.do(command, mid)
        own = f'{{"id":{self._count},'
        wait_until(command, lambda: own + '"done":true' in self.printed())
        lines = [json.loads(line) for line in self.printed().splitlines() if line.startswith(own)]
        return "\n".join(line["line"] for line in lines if "line" in line)

    def _write(self, data: bytes) -> None:
        stdin = self.process.stdin
        assert stdin
        with contextlib.suppress(BrokenPipeError):
            stdin.write(data)
            stdin.flush()

    def lines(self, log: str) -> list[dict[str, Any]]:
        """All lines on its flash of `records` or `journal`, but headers."""
        base = {"records": "memory/memory_records", "journal": "journal/journal"}[log]
        return list(read_log(self.home / base))


def read_log(base: Path) -> Iterator[dict[str, Any]]:
    """The lines of a log's segments, oldest first, each seq once; a last line that was cut is left out."""
    return (log_line.decode(line) for _, line in read_raw_lines(base))


def read_raw_lines(base: Path) -> list[tuple[int, bytes]]:
    """(seq, line) of the lines that read_log() gives, as the board wrote them."""

    def segments() -> list[Path]:
        return sorted(base.parent.glob(f"{base.name}.[0-9]*.jsonl"))

    while True:
        sealed = segments()
        found: dict[int, bytes] = {}
        for path in [*sealed, base.with_name(base.name + ".jsonl")]:
            for line in bytes_of(path).splitlines(keepends=True):
                seq = log_line.decode(line).get("seq", 0) if log_line.check(line) else 0
                if seq > max(found, default=0):
                    found[seq] = line
        if segments() == sealed:  # else the board has sealed or removed one meanwhile
            return list(found.items())
