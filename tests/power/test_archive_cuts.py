"""Memories leave for the companion, come back and are forgotten there, and the power fails, or the companion is killed:
nothing is lost or doubled. The board is MicroPython on a littlefs, the companion the real one's code on SQLite.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from board_program import KILLED, BoardProgram, Told
from companion_process import CompanionProcess
from sharing import shared

SHORT = 7
PARTS = 12
"""Of the soak: what one has found is seen before the others end."""


def _is_whole(told: Told) -> None:
    there = next(line[1] for line in told if line[0] == "there")
    everywhere = there["live"] + there["kept"] + there["trash"]
    assert sorted(everywhere) == there["wanted"], there
    assert there["kept"] and there["archived"] == [len(there["kept"]), 0], there
    assert there["back"] in there["live"], there
    assert there["copy"] == dict.fromkeys(there["live"], "live") | dict.fromkeys(there["kept"], "archived"), there
    assert there["turns"] == [f"turn {at}" for at in range(there["turns_added"])], there
    assert 0 < there["turns_on_board"] < len(there["turns"]) and there["turns_unsent"] == 0, there


PROGRAM = BoardProgram("archive_board.py", "1m", _is_whole)


@dataclass(frozen=True)
class Counts:
    """What there is when nothing fails: changes of the flash, messages of the board, commits of the companion."""

    changes: int
    messages: int
    commits: int


class Pair:
    """A board and its companion, of which one fails, once; both go on from what is on their disks."""

    def __init__(self, companion: CompanionProcess, folder: Path):
        self._companion = companion
        self._folder = folder
        self._asked = 0

    def count(self) -> Counts:
        """Play without a failure."""
        flash = self._flash("whole")
        self._companion.open(self._database(flash))
        told, _ = PROGRAM.run(flash, asked=self._ask)
        _is_whole(told)
        changes = next(line[1] for line in told if line[0] == "changes")
        return Counts(changes, self._asked, int(self._companion.ask("commits")))

    def cut(self, change: int) -> None:
        """The power fails at a change of the flash."""
        flash = self._flash(f"change-{change}")
        self._companion.open(self._database(flash))
        _, status = PROGRAM.run(flash, change, self._ask)
        assert status == KILLED, change
        PROGRAM.go_on(flash, f"the power failed at change {change}", self._ask)

    def cut_waiting(self, message: int) -> None:
        """The power fails while the board waits for an answer, which the companion has given."""
        flash = self._flash(f"message-{message}")
        self._companion.open(self._database(flash))
        self._asked = 0

        def ask(line: str) -> str | None:
            answer = self._ask(line)
            return None if self._asked == message else answer

        _, status = PROGRAM.run(flash, asked=ask)
        assert status == KILLED, message
        PROGRAM.go_on(flash, f"the power failed behind message {message}", self._ask)

    def kill(self, when: str, commit: int) -> None:
        """The companion is killed before or after a commit."""
        flash = self._flash(f"{when}-{commit}")
        kills = self._companion.kills
        self._companion.open(self._database(flash), when, commit)
        PROGRAM.go_on(flash, f"the companion was killed {when} commit {commit}", self._ask)
        assert self._companion.kills == kills + 1

    def _flash(self, name: str) -> Path:
        return self._folder / f"{name}.bin"

    @staticmethod
    def _database(flash: Path) -> Path:
        return flash.with_name(flash.name + ".db")

    def _ask(self, line: str) -> str:
        self._asked += line.startswith("said ")
        return self._companion.ask(line)


@pytest.fixture(scope="module")
def companion() -> Iterator[CompanionProcess]:
    with CompanionProcess() as running:
        yield running


@pytest.fixture
def pair(companion: CompanionProcess, place: Path) -> Pair:
    return Pair(companion, place)


@pytest.fixture(scope="module")
def counts(companion: CompanionProcess, tmp_path_factory: pytest.TempPathFactory) -> Counts:
    return shared(tmp_path_factory, "archive-counts", Pair(companion, tmp_path_factory.mktemp("archive")).count)


def _some(most: int) -> range:
    return range(most // (2 * SHORT), most, most // SHORT)


def test_some_cuts_lose_and_double_nothing(pair: Pair, counts: Counts):
    for change in _some(counts.changes):
        pair.cut(change)


def test_some_cuts_while_the_board_waits_lose_and_double_nothing(pair: Pair, counts: Counts):
    for message in _some(counts.messages):
        pair.cut_waiting(message)


@pytest.mark.parametrize("when", ["before", "after"])
def test_some_kills_of_the_companion_lose_and_double_nothing(pair: Pair, counts: Counts, when: str):
    for commit in _some(counts.commits):
        pair.kill(when, commit)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(PARTS))
def test_no_cut_loses_or_doubles_anything(pair: Pair, counts: Counts, part: int):
    for change in range(1 + part, counts.changes, PARTS):
        pair.cut(change)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(PARTS))
def test_no_cut_while_the_board_waits_loses_or_doubles_anything(pair: Pair, counts: Counts, part: int):
    for message in range(1 + part, counts.messages, PARTS):
        pair.cut_waiting(message)


@pytest.mark.soak
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("part", range(PARTS))
def test_no_kill_of_the_companion_loses_or_doubles_anything(pair: Pair, counts: Counts, when: str, part: int):
    for commit in range(1 + part, counts.commits, PARTS):
        pair.kill(when, commit)
