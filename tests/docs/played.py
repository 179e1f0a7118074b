"""The board as `make run` starts it, on a pipe: the examples of the documentation are played on it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import get_micropython
from pages import ROOT

SECONDS = 60
"""How long one conversation may take; it takes less than one."""

_OURS = ("ENGRAM_", "LLM", "REPL")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d)?")


def answers(home: Path, messages: list[str], **environment: str) -> list[str]:
    """What the board prints at the start, and after each message."""
    if not get_micropython.usable(get_micropython.HOME / "64", 64):
        pytest.skip("there is no MicroPython for this machine")
    # A command that there is not gives a line that is in no answer: it tells the answers apart.
    lines = [line for message in ["", *messages] for line in (message, "/-")]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    done = subprocess.run(
        [sys.executable, "-m", "engram_host.sim"],
        input="\n".join(lines).encode(),
        capture_output=True,
        timeout=SECONDS,
        env={**kept, **environment, "PYTHONPATH": str(ROOT / "host"), "ENGRAM_HOME": str(home)},
    )
    output = done.stdout.decode()
    assert done.returncode == 0, output + done.stderr.decode()
    return re.split(r"^/-: there is no such command.*\n", output, flags=re.MULTILINE)[:-1]


def undated(text: str) -> str:
    """A text in which every date is the same."""
    return _DATE.sub("DATE", text)
