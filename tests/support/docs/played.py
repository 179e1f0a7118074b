"""The board as `make run` starts it, on a pipe: the sessions of the documentation are played on it."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import get_micropython
from pages import ROOT

SECONDS = 60
"""How long one conversation may take; it takes less than one."""

START = "$ make run"
PROMPT = "> "

_OURS = ("ENGRAM_", "LLM", "REPL")
_DATE = re.compile(r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day )?\d{4}-\d\d-\d\d(?: \d\d:\d\d)?")


@dataclass
class Run:
    """One start of the board in a page: what the page says is printed at the start, and after each message."""

    environment: dict[str, str] = field(default_factory=dict[str, str])
    start: str | None = None
    messages: list[str] = field(default_factory=list[str])
    wanted: list[str] = field(default_factory=list[str])


def runs(examples: list[str]) -> list[Run]:
    """The runs that the console examples of a page show, in order; a page may begin within one."""
    found = [Run()]
    for line in "".join(examples).splitlines(keepends=True):
        run = found[-1]
        if line.startswith(START):
            words = line.removeprefix(START).split()
            found.append(Run(dict(word.split("=", 1) for word in words), ""))
        elif line.startswith(PROMPT):
            run.messages.append(line.removeprefix(PROMPT).rstrip("\n"))
            run.wanted.append("")
        elif run.messages:
            run.wanted[-1] += line
        else:
            run.start = (run.start or "") + line
    return [run for run in found if run.messages]


def answers(home: Path, messages: list[str], **environment: str) -> list[str]:
    """What the board prints at the start, and after each message."""
    if not get_micropython.usable(get_micropython.HOME / "64", 64):
        pytest.skip("there is no MicroPython for this machine")
    # A command that there is not gives a line that is in no answer: it tells the answers apart.
    lines = [line for message in ["", *messages] for line in (message, "/-")]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    done = subprocess.run(
        [sys.executable, "-m", "engram_host.simulator"],
        input="\n".join(lines).encode(),
        capture_output=True,
        timeout=SECONDS,
        env={**kept, **environment, "PYTHONPATH": str(ROOT / "host"), "ENGRAM_HOME": str(home)},
    )
    output = done.stdout.decode()
    assert done.returncode == 0, output + done.stderr.decode()
    return re.split(r"^/-: there is no such command.*\n", output, flags=re.MULTILINE)[:-1]


def fits(output: str, wanted: str) -> bool:
    """Whether the output is as wanted, where "..." stands for anything and a date for any date."""
    pattern = re.escape(undated(wanted)).replace(re.escape("..."), ".*")
    return re.fullmatch(pattern, undated(output), re.DOTALL) is not None


def undated(text: str) -> str:
    """A text in which every date is the same."""
    return _DATE.sub("DATE", text)
