"""Outputs of a chip are safe whatever the start does: before the app, at a crash, in safe mode, with wrong settings."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chip_flash
from chip_flash import HARD_RESET, SOFT_RESET, Chip
from skips import needs_32_bit

PINS = {"lamp": {"pin": 14, "mode": "out", "safe": 1}, "heater": {"pin": 13, "mode": "out"}}
LEVELS = "import machine; print(sorted(machine.levels.items()))"
SAFE = "[(13, 0), (14, 1)]"
Boards = Callable[..., Chip]


pytestmark = needs_32_bit


@pytest.fixture
def board(tmp_path: Path) -> Boards:
    def make(own: str = "", pins: Any = PINS, **files: bytes | None) -> Chip:
        written: dict[str, bytes | None] = {"secrets.json": b"{}", **files}
        if own:
            written["own.py"] = own.encode()
        return Chip(tmp_path / "board", written, {"pins": pins} if pins else {})

    return make


def levels(made: Chip, cause: int = HARD_RESET) -> str:
    """What a board's outputs have at the prompt, and all that it printed."""
    return made.run(LEVELS, cause=cause).printed


def test_a_start_gives_outputs_their_safe_state(board: Boards):
    made = board("def setup(app):\n import machine\n print('before the channels', sorted(machine.levels.items()))\n")
    assert f"before the channels {SAFE}" in made.run().printed


def test_a_crash_gives_outputs_their_safe_state(board: Boards):
    crash = (
        "def setup(app):\n"
        "    def run():\n"
        "        app.board.pins.set('heater', 'on')\n"
        "        raise ValueError('boom')\n"
        "    app.run = run\n"
    )
    printed = levels(board(crash))
    assert "ValueError: boom" in printed and "Engram crashed" in printed and SAFE in printed


def test_with_one_pin_wrong_the_others_are_safe_and_it_is_named(board: Boards):
    content = json.dumps({"pins": {**PINS, "flash": {"pin": 6, "mode": "out"}}}).encode()
    printed = levels(board(**{"config.json": content}))
    assert "Engram did not start: config: pins.flash: pin: 6 is never allowed on this board" in printed
    assert SAFE in printed


def test_with_damaged_modules_a_soft_reset_still_ends_at_the_prompt(board: Boards):
    pack = chip_flash.code()["engram/engram.pack"]
    head, _, rest = pack.partition(b"\n")
    (line,) = (each for each in rest.split(b"\n") if each.startswith(b"engram/app.mpy "))
    app = len(head) + 1 + int(head.split()[2]) + int(line.split()[1])
    damaged = pack[: app + 9] + b"damaged" + pack[app + 16 :]
    printed = levels(board(**{"engram/engram.pack": damaged}), SOFT_RESET)
    assert "Engram could not be started: deploy it again." in printed and SAFE in printed


def test_own_code_that_fails_is_shown_and_the_board_goes_on(board: Boards):
    printed = board("def setup(app):\n    1 / 0\n").run("/stats").printed
    assert 'File "own.py", line 2, in setup' in printed and "ZeroDivisionError" in printed
    assert "the board goes on without the rest of it" in printed and "lists the commands" in printed
