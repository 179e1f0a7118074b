"""Companions that begin as forks of one process which has loaded all that a companion needs.

Loading takes more than a second of CPU, and the tests start a companion a hundred times. A fork goes the whole way of
`engram serve` from its first line, with its own arguments, variables and output; only modules are there already, and the
adapters of a companion that ran before the first fork. tests/cli/test_cli_usage.py starts it as a person does.

The fork is made a child of the process of the tests (Linux gives orphans to the nearest process that asked for them), so that
it is waited for and killed as any other.
"""

import asyncio
import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import BinaryIO

_SET_CHILD_SUBREAPER = 36
_MOST_BYTES = 1 << 17
"""Of a request: arguments and variables."""

_LOADED = (
    "engram_host.cli.commands",
    "engram_host.companion.serving",
    "engram_host.companion.store.sqlite",
    # What the libraries load when they begin their work:
    "encodings.idna",
    "pydantic.v1",
    "typer._adapters",
    "uvicorn.lifespan.off",
)
_FOLDERS = [str(Path(__file__).resolve().parents[3] / name) for name in ("host", "firmware")]


class Forked:
    """A process that was forked, with what tests ask of a subprocess.Popen."""

    def __init__(self, pid: int, stdin: BinaryIO):
        self.pid = pid
        self.stdin = stdin
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its status if it has ended, else None."""
        if self.returncode is None:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            if ended:
                self.returncode = os.waitstatus_to_exitcode(status)
                self.stdin.close()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Its status, once it has ended; subprocess.TimeoutExpired."""
        if self.poll() is None:
            with open(os.pidfd_open(self.pid)) as ended:
                if not select.select([ended], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired("engram", timeout or 0)
        status = self.poll()
        assert status is not None
        return status

    def send_signal(self, number: int) -> None:
        """Signal it, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)


def fork(
    words: Sequence[str], variables: dict[str, str], out: int, err: int, folder: Path | None = None
) -> Forked | subprocess.Popen[bytes]:
    """Run `engram` with these words, nothing but these variables, and its output at these two file descriptors.

    Where there is no Linux it is started as a person does.
    """
    if sys.platform != "linux":
        command = [sys.executable, "-m", "engram_host", *words]
        return subprocess.Popen(
            command, env=variables, stdin=subprocess.PIPE, stdout=out, stderr=err, cwd=folder, start_new_session=True
        )
    reading, writing = os.pipe()
    request = {"words": list(words), "variables": variables, "folder": str(folder or Path.cwd())}
    door = _door()
    socket.send_fds(door, [json.dumps(request).encode()], [reading, out, err])
    os.close(reading)
    pid = int(door.recv(32))
    return Forked(pid, os.fdopen(writing, "wb"))


@cache
def _door() -> socket.socket:
    """Where the process that is forked takes requests; it is started by the first, and ends with this process."""
    assert ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, __file__, str(its.fileno())]
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ENGRAM_", "EMBEDDING_"))}
    variables = own | {"PYTHONPATH": ":".join(_FOLDERS)}
    subprocess.Popen(command, env=variables, pass_fds=[its.fileno()], stdin=subprocess.DEVNULL, start_new_session=True)
    its.close()
    return mine


# --- in the process that is forked


def _serve(door: socket.socket) -> None:
    """Fork for each request; returns in each fork, and ends the process when nobody asks any more."""
    while True:
        request, files, _, _ = socket.recv_fds(door, _MOST_BYTES, 3)
        if not request:
            sys.exit()
        reading, writing = os.pipe()
        between = os.fork()
        if between == 0:
            pid = os.fork()
            if pid:
                os.write(writing, str(pid).encode())
                os._exit(0)
            for file in (reading, writing, door.detach()):
                os.close(file)
            return _become(json.loads(request), files)
        os.waitpid(between, 0)  # from here on the fork is an orphan, and so a child of the process of the tests
        door.send(os.read(reading, 32))
        os.close(reading)
        os.close(writing)
        for file in files:
            os.close(file)


def _become(request: dict, files: list[int]) -> None:
    """Take the arguments, the variables, the folder and the files of a request."""
    os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(request["variables"])
    time.tzset()
    os.chdir(request["folder"])
    sys.argv[1:] = request["words"]


def _load() -> None:
    """Load what a companion does when it starts with SQLite."""
    for name in _LOADED:
        importlib.import_module(name)
    importlib.import_module("engram_host.companion.page.catalog").load_catalogs()
    keep_adapters()
    asyncio.run(_start_once())
    gc.collect()
    gc.freeze()


async def _start_once() -> None:
    from engram_host.companion.serving import start

    flags = {("http", "port"): 0, ("embedding", "provider"): "none"}
    with tempfile.TemporaryDirectory() as folder:
        async with start(Path(folder) / "home", flags):
            pass


if __name__ == "__main__":
    from engram_host.__main__ import main
    from kept_adapters import keep_adapters

    _load()
    _serve(socket.socket(fileno=int(sys.argv[1])))
    main()
