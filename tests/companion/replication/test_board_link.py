"""The real board, under MicroPython, against the real companion, over MQTT and HTTP."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import get_micropython
from engram import __version__
from extent import with_more
from peers import ROOT, BoardProcess, Companion
from skips import needs_64_bit
from waiting import wait_until

pytestmark = needs_64_bit
WAYS = ("mqtt", "http")


@pytest.fixture(params=with_more(["http"], WAYS))
def way(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Companion, str]]:
    """A companion, and the URL under which boards reach it."""
    broker = request.getfixturevalue("mosquitto").url if request.param == "mqtt" else ""
    with Companion(tmp_path / "companion", broker) as companion:
        yield companion, broker or companion.url


def _is_copied(board: BoardProcess, companion: Companion) -> bool:
    return all(companion.lines(board.device, log) == board.lines(log) for log in ("records", "journal"))


SOON = 30.0
"""Seconds within which what is said is copied; a board that missed it would greet only after 50 of them."""


@pytest.mark.parametrize("way", WAYS, indirect=True)
def test_what_is_said_is_in_the_copy_within_seconds(way: tuple[Companion, str], tmp_path: Path):
    companion, url = way
    with BoardProcess(tmp_path / "board", url, "kitchen") as board:
        board.say("remember that my bike is green")
        wait_until("the copy is the log", lambda: board.lines("records") and _is_copied(board, companion))
        board.say("remember that Ada is allergic to nuts")
        wait_until("it is on flash", lambda: len(board.lines("records")) == 2)
        wait_until("the copy is the log", lambda: _is_copied(board, companion), SOON)
        assert "connected to " + url in board.answered("/stats")


def test_a_board_tells_how_it_is_soon_after_it_has_connected(way: tuple[Companion, str], tmp_path: Path):
    companion, url = way

    def figures() -> dict[str, Any]:
        answer = companion.client.get("/v1/boards/kitchen/status")
        told = answer.json()["told"] if answer.status_code == 200 else None
        return told["status"] if told else {}

    with BoardProcess(tmp_path / "board", url, "kitchen"):
        told = wait_until("it is told", figures, SOON)
    assert told["firmware"] == __version__ and 0 < told["flash"] <= told["flash_size"] and told["heap"] > 0
    assert (told["mode"], told["model"], told["telegram"]) == ("full", "", "off")


def test_a_search_of_the_board_is_answered_by_the_companion(way: tuple[Companion, str], tmp_path: Path):
    companion, url = way
    settings = {"companion.search": "always", "companion.timeout_ms": 10_000}
    with BoardProcess(tmp_path / "board", url, "kitchen", 0, 1, **settings) as board:
        board.say("remember that my bike is green")
        board.say("remember that Ada is allergic to nuts")
        wait_until("the copy is the log", lambda: len(board.lines("records")) == 2 and _is_copied(board, companion))
        found = board.answered("/recall Ada allergic")
        assert found.startswith("- [m2 ") and "only the board" not in found


def test_a_companion_that_is_not_there_is_reported_and_the_board_answers(tmp_path: Path):
    with BoardProcess(tmp_path / "board", "mqtt://127.0.0.1:9", "kitchen") as board:
        board.say("remember that my bike is green")
        wait_until("it is stored", lambda: len(board.lines("records")) == 1)
        assert "not connected to mqtt://127.0.0.1:9" in board.answered("/stats")
        assert "the companion is not connected: only the board was searched." in board.answered("/recall zebra")


def _micropython(tmp_path: Path, *words: str) -> str:
    """What a program on the board prints."""
    path = ":".join(str(ROOT / folder) for folder in ("firmware", "tests/support/firmware", "boards/SIM")) + ":.frozen"
    command = [str(get_micropython.HOME / "64"), "-X", "heapsize=4m", *words]
    environment = {**os.environ, "MICROPYPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_board_without_a_companion_loads_nothing_of_it(tmp_path: Path):
    program = f"import sys; from engram.app import App; App({str(tmp_path)!r}); print(*sys.modules)"
    loaded = _micropython(tmp_path, "-c", program).split()
    assert "engram.app" in loaded
    assert not [name for name in loaded if name.startswith("engram.link") or name.endswith((".raw", ".afar"))]


def test_copying_turns_erases_nothing(tmp_path: Path):
    printed = _micropython(tmp_path, str(ROOT / "tests/support/companion/erases_board.py"), str(tmp_path / "flash.bin"))
    written, copied = (int(word) for word in printed.split()[1::2])
    assert copied == 0 < written
