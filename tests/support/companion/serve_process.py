"""`engram serve` as a process of its own, with what it prints; tests/cli/test_cli_usage.py starts it as a person does."""

import json
import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from peers import ROOT
from waiting import wait_until
from warm_companion import fork

VARIABLES = {
    **{name: value for name, value in os.environ.items() if not name.startswith(("ENGRAM_", "EMBEDDING_"))},
    "PYTHONPATH": f"{ROOT / 'host'}:{ROOT / 'firmware'}",
    "EMBEDDING_PROVIDER": "none",
}


class Served(NamedTuple):
    """The address of a companion that ended, its output and its status."""

    where: dict[str, str]
    shown: str
    told: str
    status: int


def serve_once(
    home: Path,
    *words: str,
    number: int = signal.SIGTERM,
    visit: Callable[[dict[str, str]], None] = lambda where: None,
    **variables: str,
) -> Served:
    """Start a companion, let `visit` look at it, and end it by a signal."""
    ready = home.parent / "ready.json"
    with _forked(home, "--ready-file", str(ready), *words, **variables) as (process, out, err):
        where = json.loads(wait_until("it is ready", lambda: ready.read_text() if ready.exists() else ""))
        visit(where)
        process.send_signal(number)
        return Served(where, status=process.wait(30), shown=_all_of(out), told=_all_of(err))


def failed_start(home: Path, *words: str, **variables: str) -> tuple[int, str]:
    """The status and what was told of a start that fails."""
    with _forked(home, *words, **variables) as (process, _, err):
        return process.wait(60), _all_of(err)


@contextmanager
def _forked(home: Path, *words: str, **variables: str) -> Iterator[tuple[Any, IO[str], IO[str]]]:
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        serve = ["serve", "--home", str(home), "--http-port", "0", *words]
        yield fork(serve, VARIABLES | variables, out.fileno(), err.fileno(), home.parent), out, err


def _all_of(file: IO[str]) -> str:
    file.seek(0)
    return file.read()
