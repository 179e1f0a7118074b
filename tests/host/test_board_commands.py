"""The commands for boards as a person calls them: through make, with a status and a sentence for each error."""

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest
from board_files import ENVIRONMENT, ROOT

from engram_host.board import __main__ as commands
from engram_host.board import errors, port
from engram_host.board.errors import BoardError, NoPort
from engram_host.board.progress import Meter, Progress

PAGE = (ROOT / "docs" / "boards.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "engram_host.board", *words], capture_output=True, text=True, env=ENVIRONMENT, timeout=60
    )


def kinds(base: type[BoardError] = BoardError) -> list[type[BoardError]]:
    return [base, *(kind for below in base.__subclasses__() for kind in kinds(below))]


def test_the_table_of_statuses_is_the_codes():
    documented = {int(status) for status in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)}
    assert documented == {kind.status for kind in kinds()} | {0, commands.INTERRUPTED}


def test_the_errors_own_list_is_the_codes():
    listed = dict(re.findall(r"^ {4,}(\w+) +(\d) ", errors.__doc__ or "", re.MULTILINE))
    assert listed == {kind.__name__: str(kind.status) for kind in kinds() if "status" in vars(kind)}


def test_make_has_a_target_for_each_command():
    called = re.findall(r"\$\(BOARDS\) (\w+)", MAKEFILE)
    assert sorted(called) == sorted(commands.COMMANDS)


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_the_page_says_how_each_command_is_called(name: str):
    assert f"make {name}" in PAGE


def test_an_image_is_made_by_make(tmp_path: Path):
    out = tmp_path / "fs.bin"
    make = ["make", "-s", "image", "BOARD=ESP32_GENERIC", f"OUT={out}"]
    done = subprocess.run(make, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert out.stat().st_size == 2 << 20 and "at offset 0x200000" in done.stderr


@pytest.mark.parametrize(
    ("words", "status", "sentence"),
    [
        (["image"], 2, "image: no board is named: BOARD takes ESP32_GENERIC"),
        (["image", "--board", "PICO"], 2, "there is no profile 'PICO'"),
        (["image", "--board", "ESP32_GENERIC", "--config", "none.json"], 2, "none.json cannot be read"),
        (["flash", "--board", "ESP32_GENERIC"], 2, "say which MicroPython to flash (FIRMWARE=...)"),
        (["flash", "--board", "ESP32_GENERIC", "--firmware", "none.bin"], 7, "none.bin cannot be read"),
        (["deploy", "--port", "/dev/ttyNONE"], 3, "there is no port /dev/ttyNONE"),
        (["backup", "--port", "/dev/ttyNONE"], 2, "name the file of the backup (FILE=...)"),
        (["backup", "--port", "/dev/ttyNONE", "--file", "b.tar.gz"], 3, "there is no port"),
        (["restore", "--port", "/dev/ttyNONE", "--file", "none.tar.gz"], 2, "none.tar.gz cannot be read"),
    ],
)
def test_an_error_is_one_sentence_and_a_status(words: list[str], status: int, sentence: str):
    done = run(*words)
    assert done.returncode == status
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"{words[0]}: ") and sentence in last and last.endswith(".")


def test_an_empty_option_counts_as_none():
    assert "no board is named" in run("image", "--board", "", "--config", "", "--out", "").stderr


# --- the port that was not named


class FakePort:
    def __init__(self, device: str, vid: int | None):
        self.device = device
        self.vid = vid


def plugged(monkeypatch: pytest.MonkeyPatch, *ports: FakePort) -> None:
    from serial.tools import list_ports

    monkeypatch.setattr(list_ports, "comports", lambda: list(ports))


def test_the_only_port_is_taken(monkeypatch: pytest.MonkeyPatch):
    plugged(monkeypatch, FakePort("/dev/ttyS0", None), FakePort("/dev/ttyUSB3", 0x10C4))
    assert port.choose("") == "/dev/ttyUSB3"


def test_one_of_several_has_to_be_named(monkeypatch: pytest.MonkeyPatch):
    plugged(monkeypatch, FakePort("/dev/ttyUSB1", 1), FakePort("/dev/ttyACM0", 1))
    with pytest.raises(NoPort, match="one of /dev/ttyACM0 and /dev/ttyUSB1"):
        port.choose("")


def test_no_board_is_told(monkeypatch: pytest.MonkeyPatch):
    plugged(monkeypatch)
    with pytest.raises(NoPort, match="no board is plugged in"):
        port.choose("")


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


def test_more_than_expected_is_no_more_than_all():
    out = Terminal()
    Meter(Progress(out), "Saving", 10)(25)
    assert out.getvalue().endswith("Saving 100 %")
