"""Memories and turns leave for the companion, come back and are forgotten there; its database is put back to an older one.
The power fails, or the companion is killed: nothing is lost or doubled.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from archive_pair import Pair, Recorded, format_blank
from companion_process import CompanionProcess
from flashes import Cut, sample
from sharing import shared

CUTS, FAILURES = 2, 1
"""Of each kind in `make test`."""
PARTS = 16
"""Of the soak: what one has found is seen before the others end."""
EVERY = 9
"""One cut in so many is tried of those at which nothing is committed, and every other of these half-way through a change."""


def is_whole(there: dict[str, Any]) -> None:
    """Raises AssertionError if something is lost, or is there twice."""
    everywhere = there["live"] + there["kept"] + there["trash"]
    assert sorted(everywhere) == there["wanted"], there
    assert there["back"] in there["live"], there
    assert there["kept"] and there["archived"] == [len(there["kept"]), 0], there
    states = [[content, "live"] for content in there["live"]] + [[content, "archived"] for content in there["kept"]]
    assert there["copy"] == sorted(states), there
    assert there["turns"] == [f"turn {at}" for at in range(there["turns_added"])], there
    assert 0 < there["turns_on_board"] < there["turns_added"] and there["turns_unsent"] == 0, there


@pytest.fixture(scope="module")
def companion() -> Iterator[CompanionProcess]:
    with CompanionProcess() as running:
        yield running


@pytest.fixture(scope="module")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return format_blank(tmp_path_factory.mktemp("archive") / "blank.bin")


@pytest.fixture
def pair(companion: CompanionProcess, place: Path, blank: Path) -> Pair:
    return Pair(companion, place, blank, is_whole)


@pytest.fixture(scope="module")
def recorded(companion: CompanionProcess, blank: Path, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    def record() -> Recorded:
        return Pair(companion, tmp_path_factory.mktemp("recorded"), blank, is_whole).record()

    return shared(tmp_path_factory, "archive-recorded", record)


def _cut(pair: Pair, recorded: Recorded, cuts: list[Cut]) -> None:
    for cut, image in recorded.trace.images(cuts):
        pair.cut(recorded, cut, image)


def _some(most: int) -> range:
    return range(1 + most // (2 * FAILURES), most, most // FAILURES)


def test_some_cuts_lose_and_double_nothing(pair: Pair, recorded: Recorded):
    _cut(pair, recorded, sample(recorded.trace, len(recorded.trace.changes) // CUTS))


def test_some_cuts_while_the_board_waits_lose_and_double_nothing(pair: Pair, recorded: Recorded):
    for message in _some(recorded.messages):
        pair.cut_waiting(message)


@pytest.mark.parametrize("when", ["before", "after"])
def test_some_kills_of_the_companion_lose_and_double_nothing(pair: Pair, recorded: Recorded, when: str):
    for commit in _some(recorded.commits):
        pair.kill(when, commit)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(PARTS))
def test_no_cut_at_a_commit_loses_or_doubles_anything(pair: Pair, recorded: Recorded, part: int):
    cuts = [cut for cut in recorded.trace.cuts() if cut.changes in recorded.trace.commits]
    _cut(pair, recorded, cuts[part::PARTS])


@pytest.mark.soak
@pytest.mark.parametrize("part", range(PARTS))
def test_no_cut_between_commits_loses_or_doubles_anything(pair: Pair, recorded: Recorded, part: int):
    cuts = [cut for cut in recorded.trace.cuts() if cut.changes not in recorded.trace.commits]
    _cut(pair, recorded, cuts[::EVERY][part::PARTS])


@pytest.mark.soak
@pytest.mark.parametrize("part", range(PARTS))
def test_no_cut_while_the_board_waits_loses_or_doubles_anything(pair: Pair, recorded: Recorded, part: int):
    for message in range(1 + part, recorded.messages + 1, PARTS):
        pair.cut_waiting(message)


@pytest.mark.soak
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("part", range(PARTS))
def test_no_kill_of_the_companion_loses_or_doubles_anything(pair: Pair, recorded: Recorded, when: str, part: int):
    for commit in range(1 + part, recorded.commits + 1, PARTS):
        pair.kill(when, commit)
