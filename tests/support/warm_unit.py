"""Runs of unit files on CPython, each a fork of one process that has loaded the standard library's modules.

Loading takes most of a short file's time, and there are a hundred files. A fork has loaded nothing of the firmware and of the
tests: it imports these itself, and keeps its own modules, files and variables, like a process that was started for it.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path

_LOADED = ("asyncio", "bisect", "json", "random", "socket", "ssl", "struct", "traceback")


def run(words: list[str], folders: list[Path], variables: dict[str, str], place: str, seconds: int) -> bytes:
    """Run a program with its words in the folder `place`; what it printed, and how it ended if it did not end well.

    Modules come from `folders` and the standard library. After `seconds` it is killed.
    """
    output = Path(place, "output.txt")
    request = {
        "words": words,
        "folders": [str(folder) for folder in folders],
        "variables": variables,
        "place": place,
        "output": str(output),
        "seconds": seconds,
    }
    server = _server()
    assert server.stdin and server.stdout
    server.stdin.write(json.dumps(request).encode() + b"\n")
    server.stdin.flush()
    status = int(server.stdout.readline())
    ending = b"" if status == 0 else b"\nthe process ended with status %d\n" % status
    return output.read_bytes() + ending


@cache
def _server() -> "subprocess.Popen[bytes]":
    """The process that forks; the first request starts it, and it ends when this process does."""
    variables = {**os.environ, "PYTHONPATH": ""}
    server = subprocess.Popen([sys.executable, __file__], env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(server.communicate)  # closes its stdin, and waits for its end
    return server


# --- in the process that forks


def _serve() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.path.pop(0)  # the folder of this file: a process that was started for a unit file would not have it
    for name in _LOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    for line in sys.stdin.buffer:
        pid = os.fork()
        if pid == 0:
            _become(json.loads(line))
            break
        _, status = os.waitpid(pid, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _become(request: dict) -> None:
    """Run the program of a request in this fork."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.alarm(request["seconds"])
    for file, name, mode in (
        (0, os.devnull, os.O_RDONLY),
        (1, request["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND),
        (2, request["output"], os.O_WRONLY | os.O_APPEND),
    ):
        opened = os.open(name, mode)
        os.dup2(opened, file)
        os.close(opened)
    os.environ.update(request["variables"])
    os.chdir(request["place"])
    program = request["words"][0]
    sys.argv[:] = request["words"]
    sys.path[:0] = [str(Path(program).parent), *request["folders"]]
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    _serve()
