"""A board and its companion of which one fails, once: both go on from what is on their disks, and all has to be there.

The board is MicroPython on a littlefs (archive_board.py), the companion the real one's store and answers on SQLite
(archive_companion.py), each in a process of its own. What both do when nothing fails is played once and traced: a power cut
begins from the flash, the database and the progress as they were then.
"""

import json
import shutil
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from board_program import KILLED, Told, run
from companion_process import CompanionProcess
from cuts import format_flash
from flashes import Cut, Image, Trace, read_trace

HEAP = "2m"
FLASH_BYTES = 1 << 20
_PROGRAM = Path(__file__).with_name("archive_board.py")

Ask = Callable[[int, str], str | None]
"""Given how often the flash was changed, and what the board asks the companion: the answer, None for a power cut."""

Whole = Callable[[dict[str, Any]], None]
"""Raises AssertionError if what there is at the end is not whole."""


@dataclass(frozen=True)
class Recorded:
    """What happened when nothing failed; what is in `databases` and `progress` stands behind the change of the flash it came
    after.
    """

    trace: Trace
    saved: Path
    databases: list[tuple[int, Path]]
    progress: list[tuple[int, str]]
    commits: int

    @property
    def messages(self) -> int:
        """How many the board sent."""
        return len(self.databases)


class Pair:
    """Plays in a folder; nothing of a play is left there if all was whole."""

    def __init__(self, companion: CompanionProcess, folder: Path, blank: Path, is_whole: Whole):
        self._companion = companion
        self._folder = folder
        self._blank = blank
        self._is_whole = is_whole

    def record(self) -> Recorded:
        """Play without a failure."""
        flash = self._begin("whole")
        trace = flash.with_name("trace")
        databases: list[tuple[int, Path]] = []

        def ask(changes: int, line: str) -> str:
            answer = self._companion.ask(line)
            if line.startswith("said "):
                kept = flash.with_name(f"message-{len(databases)}.db")
                self._companion.ask(f"copy {kept}")
                databases.append((changes, kept))
            return answer

        told = self._play(flash, ask, trace)
        progress = [(line[1], json.dumps(line[2])) for line in told if line[0] == "progress"]
        assert "bring back" in progress[-1][1] and not _there(told)["trash"], told[-1]
        commits = int(self._companion.ask("commits"))
        return Recorded(Trace(self._blank.read_bytes(), read_trace(trace)), _saved(flash), databases, progress, commits)

    def cut(self, recorded: Recorded, cut: Cut, image: Image) -> None:
        """The power fails at a change of the flash."""
        flash = self._folder / "cut.bin"
        flash.write_bytes(image.content)
        if progress := _before(recorded.progress, cut.changes):
            _progress(flash).write_text(progress)
        if database := _before(recorded.databases, cut.changes):
            shutil.copyfile(database, _database(flash))
            shutil.copyfile(recorded.saved, _saved(flash))
        self._companion.open(_database(flash))
        self._end(flash, f"the power failed {cut}")

    def cut_waiting(self, message: int) -> None:
        """The power fails while the board waits for an answer, which the companion has given."""
        flash = self._begin("waiting")
        count = 0

        def ask(changes: int, line: str) -> str | None:
            nonlocal count
            answer = self._companion.ask(line)
            count += line.startswith("said ")
            return None if count == message else answer

        _, status = _run(flash, ask)
        assert status == KILLED, message
        self._end(flash, f"the power failed behind message {message}")

    def kill(self, when: str, commit: int) -> None:
        """The companion is killed before or after a commit."""
        kills = self._companion.kills
        flash = self._begin("killed", when, commit)  # its first commits make the tables
        self._end(flash, f"the companion was killed {when} commit {commit}")
        assert self._companion.kills == kills + 1, (when, commit)

    def _begin(self, name: str, when: str = "before", commit: int = 0) -> Path:
        flash = self._folder / f"{name}.bin"
        shutil.copyfile(self._blank, flash)
        self._companion.open(_database(flash), when, commit)
        return flash

    def _end(self, flash: Path, what: str) -> None:
        try:
            self._play(flash, lambda changes, line: self._companion.ask(line))
        except AssertionError as error:
            raise AssertionError(f"{what}: {error}") from error
        for file in flash.parent.glob(f"{flash.name}*"):
            file.unlink()

    def _play(self, flash: Path, ask: Ask, trace: Path | str = "") -> Told:
        told, status = _run(flash, ask, trace)
        assert status == 0
        self._is_whole(_there(told))
        return told


def format_blank(path: Path) -> Path:
    """Make a flash with an empty file system."""
    format_flash(path, FLASH_BYTES)
    return path


def _there(told: Told) -> dict[str, Any]:
    """What a board told at its end."""
    return next(line[1] for line in told if line[0] == "there")


def _run(flash: Path, ask: Ask, trace: Path | str = "") -> tuple[Told, int]:
    """Run the board on a flash; what it told, and its status."""

    def asked(line: str) -> str | None:
        changes, _, question = line.partition(" ")
        return ask(int(changes), question)

    return run([str(_PROGRAM), str(flash), str(trace)], HEAP, asked)


def _before(found: list[tuple[int, Any]], changes: int) -> Any:
    """What was there when so many changes were done, None if there was nothing yet."""
    at = bisect_right([number for number, _ in found], changes)
    return found[at - 1][1] if at else None


def _database(flash: Path) -> Path:
    return flash.with_name(flash.name + ".db")


def _saved(flash: Path) -> Path:
    return flash.with_name(flash.name + ".db.saved")


def _progress(flash: Path) -> Path:
    return flash.with_name(flash.name + ".progress")
