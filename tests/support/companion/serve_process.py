"""`engram serve` as a process of its own: as a person starts it, or one that is to fail."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from peers import ROOT
from warm_companion import fork

VARIABLES = {
    **{name: value for name, value in os.environ.items() if not name.startswith(("ENGRAM_", "EMBEDDING_"))},
    "PYTHONPATH": f"{ROOT / 'host'}:{ROOT / 'firmware'}",
    "EMBEDDING_PROVIDER": "none",
}
FREE = ("--http-port", "0")


def start_serve(home: Path, *words: str, **variables: str) -> "subprocess.Popen[str]":
    """The process, without waiting for it."""
    command = [sys.executable, "-m", "engram_host", "serve", "--home", str(home), *words]
    return subprocess.Popen(
        command, env=VARIABLES | variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=home.parent
    )


def failed_start(home: Path, *words: str, **variables: str) -> tuple[int, str]:
    """The status and what was told of a start that fails; without loading what it needs each time."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        serve = ["serve", "--home", str(home), *words]
        status = fork(serve, VARIABLES | variables, out.fileno(), err.fileno(), home.parent).wait(60)
        err.seek(0)
        return status, err.read()
