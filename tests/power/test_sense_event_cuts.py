"""The power fails while a sense is beyond its limit: each event is reported once, closed once and remembered once."""

from pathlib import Path

import pytest

from board_program import BoardProgram, Told

SHORT = 5
EVENTS = 7
PERHAPS = "perhaps for the second time"


def _named(told: Told, name: str) -> list:
    return [line[1] for line in told if line[0] == name]


def _is_whole(told: Told) -> None:
    assert _named(told, "left") == [0]
    assert _named(told, "event") == []
    refs = [f"e{number + 1}" for number in range(EVENTS)]
    assert all("was below" in memory for memory in _named(told, "memory"))
    for ref in refs:
        mark = f"({ref})"
        assert sum(mark in text for text in _named(told, "line")) == 1, ref
        sent = [text for text in _named(told, "sent") if mark in text]
        assert sent, ref
        assert sum(PERHAPS not in text for text in sent) <= 1, sent
        assert sum(mark in text for text in _named(told, "memory")) == 1, ref
    assert len(_named(told, "memory")) == EVENTS


PROGRAM = BoardProgram("sense_event_board.py", "2m", _is_whole)


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> range:
    """The changes of the flash from where the board is open: test_power_cuts.py tries those before."""
    opened = PROGRAM.figure("opened", tmp_path_factory.mktemp("senses-opened"))
    return range(opened + 1, PROGRAM.changes(tmp_path_factory.mktemp("senses")))


def test_after_some_cuts_each_event_is_told_closed_and_remembered_once(changes: range, tmp_path: Path):
    PROGRAM.try_cuts(changes[:: max(1, len(changes) // SHORT)], tmp_path)


@pytest.mark.soak
def test_after_any_cut_each_event_is_told_closed_and_remembered_once(changes: range, tmp_path: Path):
    PROGRAM.try_cuts(changes, tmp_path)
