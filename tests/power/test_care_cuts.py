"""The power fails while notes are distilled, and while memories leave for want of room: nothing is lost or doubled."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import firmware_build
import get_micropython

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = Path(__file__).with_name("care_board.py")
NOTES, STORED, MOST = 4, 16, 12
SHORT = 8
KILLED = -9


@pytest.fixture(autouse=True, scope="module")
def micropython_32() -> None:
    if not get_micropython.usable(get_micropython.HOME / "32", 32):
        pytest.skip("there is no 32-bit MicroPython for this machine")


def _run(flash: Path, cut: int) -> tuple[list[Any], int]:
    folders = [firmware_build.FIRMWARE, firmware_build.SIM, ROOT / "tools" / "board", Path(".frozen")]
    path = ":".join(str(folder) for folder in folders)
    line = [str(get_micropython.HOME / "32"), "-X", "heapsize=512k", str(PROGRAM), str(flash), str(cut)]
    done = subprocess.run(line, capture_output=True, text=True, env={"MICROPYPATH": path}, timeout=300)
    assert done.returncode in ((0, KILLED) if cut else (0,)), done.stdout[-2000:] + done.stderr[-2000:]
    return [json.loads(each[2:]) for each in done.stdout.splitlines() if each.startswith("> ")], done.returncode


def _is_whole(told: list[Any]) -> None:
    live, trash, waiting = next(line[1:] for line in told if line[0] == "there")
    assert waiting == {}
    distilled = [content for content in live if "stands in the hall" in content]
    assert len(distilled) == NOTES, distilled
    assert len(live) == len(set(live)) <= MOST
    stored = {content for content in live + trash if "stands in the hall" not in content}
    assert len(stored) == STORED, stored


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> int:
    """How often the flash is changed when nothing fails."""
    told, _ = _run(tmp_path_factory.mktemp("care") / "flash.bin", 0)
    _is_whole(told)
    return next(line[1] for line in told if line[0] == "changes")


def _try(cuts: range, place: Path) -> None:
    for cut in cuts:
        flash = place / f"{cut}.bin"
        _, status = _run(flash, cut)
        told, _ = _run(flash, 0)
        try:
            _is_whole(told)
        except AssertionError as error:
            raise AssertionError(f"cut at change {cut}: {error}") from error
        assert status == KILLED, cut
        flash.unlink()


def test_some_cuts_lose_and_double_nothing(changes: int, tmp_path: Path):
    _try(range(40, changes, max(1, (changes - 40) // SHORT)), tmp_path)


@pytest.mark.soak
def test_no_cut_loses_or_doubles_anything(changes: int, tmp_path: Path):
    _try(range(1, changes), tmp_path)
