"""The power fails while memories leave for the companion, come back or are forgotten there: nothing is lost or doubled."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import firmware_build
import get_micropython

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = Path(__file__).with_name("archive_board.py")
STORED, FORGOTTEN = 18, 4
SHORT = 7
KILLED = -9


@pytest.fixture(autouse=True, scope="module")
def micropython_32() -> None:
    if not get_micropython.usable(get_micropython.HOME / "32", 32):
        pytest.skip("there is no 32-bit MicroPython for this machine")


def _run(flash: Path, cut: int) -> tuple[list[Any], int]:
    folders = [
        firmware_build.FIRMWARE,
        firmware_build.UNIT,
        firmware_build.SIM,
        ROOT / "tools" / "board",
        Path(".frozen"),
    ]
    path = ":".join(str(folder) for folder in folders)
    line = [str(get_micropython.HOME / "32"), "-X", "heapsize=1m", str(PROGRAM), str(flash), str(cut)]
    done = subprocess.run(line, capture_output=True, text=True, env={"MICROPYPATH": path}, timeout=300)
    assert done.returncode in ((0, KILLED) if cut else (0,)), done.stdout[-2000:] + done.stderr[-2000:]
    return [json.loads(each[2:]) for each in done.stdout.splitlines() if each.startswith("> ")], done.returncode


def _is_whole(told: list[Any]) -> None:
    live, kept, trash, total, lost = next(line[1:] for line in told if line[0] == "there")
    everywhere = live + kept + trash
    assert len(everywhere) == len(set(everywhere)) == STORED - FORGOTTEN, (live, kept, trash)
    assert kept and total == len(kept) and lost == 0


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> int:
    """How often the flash is changed when nothing fails."""
    told, _ = _run(tmp_path_factory.mktemp("archive") / "flash.bin", 0)
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
        Path(f"{flash}.companion").unlink()


def test_some_cuts_lose_and_double_nothing(changes: int, place: Path):
    _try(range(40, changes, max(1, (changes - 40) // SHORT)), place)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_no_cut_loses_or_doubles_anything(changes: int, place: Path, part: int):
    _try(range(1 + part, changes, 4), place)
