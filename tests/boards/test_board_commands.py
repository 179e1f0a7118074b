"""The commands for boards as a person calls them: through make and `engram board`, with a sentence for each error."""

import io
import re
import shlex
import subprocess
import sys
from types import SimpleNamespace
from unittest import mock

import pytest

from board_files import ROOT
from cli_case import Ran, engram
from engram_host.boards import port
from engram_host.boards.errors import NoPort
from engram_host.boards.progress import Meter, Progress
from engram_host.cli.board import app

PAGE = (ROOT / "docs" / "start" / "boards.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
AT_THE_COMPANION = {"list_boards", "erase"}
"""Commands for boards that a companion knows, with which make has nothing to do."""
COMMANDS = [
    command.callback.__name__
    for command in app.registered_commands
    if command.callback and command.callback.__name__ not in AT_THE_COMPANION
]
TYPED = "Home\n\n\n\nkey\n\n"
"""A network without a password, and a key: what `setup` asks for before it looks for a board."""


def run(*words: str, **variables: str) -> Ran:
    with mock.patch.object(sys, "stdin", io.StringIO(TYPED)):
        return engram("board", *words, **variables)


def test_make_has_a_target_for_each_command():
    called = re.findall(r"\$\(BOARDS\) (\w+)", MAKEFILE)
    assert sorted(called) == sorted(COMMANDS)


def test_the_page_says_how_each_command_is_called():
    assert [name for name in COMMANDS if f"make {name}" not in PAGE] == []


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (["image", "--board", ""], 2, "no board is named: BOARD takes ESP32_GENERIC_S3, ESP32_GENERIC_S3_OCT, "),
        (["image", "--board", "ESP32_GENERIC_SPIRAM", "--config", "none.json"], 4, "none.json cannot be read"),
        (["flash", "--board", "ESP32_GENERIC_SPIRAM"], 2, "name the MicroPython to flash"),
        (["deploy", "--port", "/dev/ttyNONE"], 4, "there is no port /dev/ttyNONE"),
        (["backup", "--port", "/dev/ttyNONE"], 2, "name the backup file"),
        (["restore", "none.tar.gz", "--port", "/dev/ttyNONE"], 4, "none.tar.gz cannot be read"),
    ],
)
def test_an_error_is_one_sentence_and_a_status(words: list[str], status: int, sentence: str):
    done = run(*words)
    assert done.status == status, done
    last = done.err.splitlines()[-1]
    assert last.startswith(f"engram board {words[0]}: ") and sentence in last and last.endswith(".")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["image"], "no board is named"),
        (["flash", "BOARD=ESP32_GENERIC_SPIRAM", "FIRMWARE=none of these.bin"], "none of these.bin cannot be read"),
        (["deploy", "PORT=/dev/ttyNONE", "CONFIG=none.json"], "none.json cannot be read"),
        (["monitor", "PORT=/dev/ttyNONE"], "/dev/ttyNONE"),
        (["chat", "PORT=/dev/ttyNONE"], "/dev/ttyNONE"),
        (["setup", "PORT=/dev/ttyNONE"], "/dev/ttyNONE"),
        (["backup", "PORT=/dev/ttyNONE", "FILE=b.tar.gz", "SECRETS=1"], "/dev/ttyNONE"),
        (["restore", "PORT=/dev/ttyNONE", "FILE=none of these.tar.gz", "ERASE_MEMORY=1"], "none of these.tar.gz"),
    ],
)
def test_make_passes_on_what_it_is_given(words: list[str], sentence: str):
    make = ["make", "-n", "--no-print-directory", *words]
    shown = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    under_make, *command = shlex.split(shown[shown.rindex("ENGRAM_UNDER_MAKE") :].replace("\\\n", " "))
    assert command[:4] == [".venv/bin/python", "-m", "engram_host", "board"]
    name, _, value = under_make.partition("=")
    done = run(*command[4:], **{name: value})
    told = [line for line in done.err.splitlines() if line.startswith(f"engram board {words[0]}: ")]
    assert done.status and len(told) == 1 and sentence in told[0], done


# --- the port that was not named


@pytest.mark.parametrize(
    ("devices", "found"),
    [
        ({"/dev/ttyS0": None, "/dev/ttyUSB3": 0x10C4}, "/dev/ttyUSB3"),
        ({"/dev/ttyUSB1": 1, "/dev/ttyACM0": 1}, "one of /dev/ttyACM0 and /dev/ttyUSB1"),
        ({}, "no board is plugged in"),
    ],
)
def test_the_only_port_is_taken_and_one_of_several_has_to_be_named(
    devices: dict[str, int | None], found: str, monkeypatch: pytest.MonkeyPatch
):
    from serial.tools import list_ports

    plugged = [SimpleNamespace(device=device, vid=vid) for device, vid in devices.items()]
    monkeypatch.setattr(list_ports, "comports", lambda: plugged)
    try:
        told = port.choose_port("")
    except NoPort as problem:
        told = str(problem)
    assert found in told


# --- how far it is


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_elsewhere_than_on_a_terminal_each_step_is_a_line():
    out = io.StringIO()
    progress = Progress(out)
    meter = Meter(progress, "Sending", 100)
    for _ in range(100):
        meter(1)
    progress.say("Done.")
    assert out.getvalue() == "Sending ...\nDone.\n"


def test_on_a_terminal_one_line_moves_up_to_the_end():
    out = Terminal()
    progress = Progress(out)
    meter = Meter(progress, "Sending", 100)
    for _ in range(100):
        meter(1)
    progress.say("Done.")
    moves = out.getvalue().split("\r")
    assert moves[-1] == "\x1b[KSending 100 %\nDone.\n" and len(moves) < 50
