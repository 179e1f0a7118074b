"""`make run`: the firmware in the terminal, or on a pipe.

From the environment: ENGRAM_HOME is where the board's files are (~/.engram/sim), ENGRAM_LLM_URL, _KEY, _MODEL and _API name
a model, LLM=script starts a scripted one, REPL=1 lets Ctrl-C open the MicroPython prompt.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

from engram_host import roots
from engram_host.scripted.reading import load
from engram_host.scripted.serving import serving

from . import board


class HomeTaken(Exception):
    """Another board runs in the same folder."""


def main() -> int:
    """Run the board; its exit status."""
    home = Path(os.environ.get("ENGRAM_HOME") or "~/.engram/sim").expanduser().absolute()
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(_locked(home))
            environment = {"ENGRAM_HOME": str(home), "MICROPYPATH": board.SEARCH_PATH}
            if os.environ.get("LLM") == "script":
                server = stack.enter_context(serving(load("demo.json")))
                environment |= {"ENGRAM_LLM_URL": f"{server.url}/v1", "ENGRAM_LLM_MODEL": "script"}
                environment |= {"ENGRAM_LLM_API": "openai", "ENGRAM_LLM_KEY": ""}
            roots.provide(home / "roots.pem")
            return _run(stack, environment)
    except OSError as problem:
        print(
            f"{problem.filename or home}: {problem.strerror}; set ENGRAM_HOME to a folder of yours.",
            file=sys.stderr,
        )
    except HomeTaken:
        print(f"a board runs in {home} already; end it, or set ENGRAM_HOME to another folder.", file=sys.stderr)
    return 2


def _run(stack: contextlib.ExitStack, environment: dict[str, str]) -> int:
    if sys.stdin.isatty() and sys.stdout.isatty():
        # The firmware echoes and edits, as on a board's serial line: a terminal's own line would end at 4,095 bytes.
        stack.enter_context(_keys_at_once(sys.stdin.fileno()))
        environment["ENGRAM_SETTINGS"] = '{"console.echo": true, "console.prompt": true}'
    else:
        environment["ENGRAM_SETTINGS"] = '{"console.echo": false, "console.prompt": false}'
    if os.environ.get("REPL"):
        return _run_with_prompt(environment)
    return board.run(environment, sys.stdin.fileno())


def _run_with_prompt(environment: dict[str, str]) -> int:
    """Let Ctrl-C reach MicroPython itself, which then opens its prompt with `app` at hand."""
    old = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return subprocess.run(
            board.command(interactive=True),
            env={**os.environ, **environment},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ).returncode
    finally:
        signal.signal(signal.SIGINT, old)


@contextlib.contextmanager
def _locked(home: Path) -> Iterator[None]:
    """Keep a second board out of the same folder: two writers would mix their lines."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HomeTaken from None
        yield


@contextlib.contextmanager
def _keys_at_once(terminal: int) -> Iterator[None]:
    """Let each key through at once and unechoed; Ctrl-C stays a signal."""
    old = termios.tcgetattr(terminal)
    new = termios.tcgetattr(terminal)
    new[3] &= ~(termios.ICANON | termios.ECHO)
    termios.tcsetattr(terminal, termios.TCSADRAIN, new)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, old)


if __name__ == "__main__":
    sys.exit(main())
