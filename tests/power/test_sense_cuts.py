"""The power fails while minutes of senses are written and folded: those that were written are there, once, on each level."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from board_program import Told, run
from extent import extent
from flashes import Cut, Trace, read_trace, sample
from sharing import shared

PROGRAM = str(Path(__file__).resolve().parents[1] / "support" / "power" / "sense_board.py")
HEAP = "8m"
START, DAYS, MINUTES = 1790000400 // 60, 40, 120
NAMES = ("room", "door")
SHORT = 12
"""How many cuts `make test` tries."""


@dataclass
class Story:
    """Readings that were played once on a traced flash; `written` says by how many changes which minutes were written."""

    trace: Trace
    written: list[tuple[int, int]]
    looked: list
    until: int


def _run(*words: str) -> Told:
    told, status = run([PROGRAM, *words], HEAP)
    assert status == 0
    return told


def _tell(folder: Path) -> Story:
    flash, trace = folder / "flash.bin", folder / "trace"
    _run("format", str(flash))
    blank = flash.read_bytes()
    told = _run("play", str(flash), str(trace))
    written = [(line[1], line[2]) for line in told if line[0] == "written"]
    return Story(Trace(blank, read_trace(trace)), written, told[-1][1], told[-1][2])


@pytest.fixture(scope="module")
def senses_story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return shared(tmp_path_factory, "senses-story", lambda: _tell(tmp_path_factory.mktemp("senses")))


def _value(number: int, minute: int) -> int:
    return ((minute * 40503 + number * 7919) % 65521 - 30000) // 10 * 10


def _minutes(end: int) -> list[int]:
    """All minutes before an end in which there were readings."""
    found = [START + day * 1440 + minute for day in range(DAYS + 1) for minute in range(MINUTES if day < DAYS else 60)]
    return [minute for minute in found if minute < end]


def _check(looked: list, written: int, more: list[int]) -> None:
    """Raises AssertionError unless all minutes before `written`, perhaps some that follow, and `more` are on each level."""
    for number, (name, minutes, hours) in enumerate(looked):
        assert name == NAMES[number]
        given = sum(count for _, count in hours) - len(more)
        expected = [*_minutes(1 << 40)[:given], *more]
        assert given >= len(_minutes(written)), (name, given, written)
        # The oldest minutes have left their ring.
        assert minutes == [[slot, _value(number, slot)] for slot in expected][len(expected) - len(minutes) :]
        assert len(minutes) >= min(len(expected), 400)
        assert hours == sorted(list(pair) for pair in Counter(slot // 60 for slot in expected).items()), name


def test_the_story_writes_folds_and_removes(senses_story: Story):
    assert senses_story.until > 5
    _check(senses_story.looked, START + DAYS * 1440, [])
    assert len(senses_story.looked[0][1]) < DAYS * MINUTES


def _verify(story: Story, cuts: list[Cut], place: Path) -> None:
    hour = _minutes(1 << 40)[-60:]
    flash = place / "cut.bin"
    for cut, image in story.trace.images(cuts):
        flash.write_bytes(image.content)
        written = max((minute for changes, minute in story.written if changes <= cut.changes), default=0)
        told = {line[0]: line[1] for line in _run("look", str(flash))}
        try:
            _check(told["there"], written, [])
            _check(told["after"], written, hour)
        except AssertionError as error:
            raise AssertionError(f"{cut}: {error}") from error


@pytest.mark.shortened
def test_at_every_change_a_cut_loses_no_minute_that_was_written(senses_story: Story, place: Path):
    trace = senses_story.trace
    _verify(senses_story, extent(trace.cuts(), sample(trace, len(trace.changes) // SHORT)), place)
