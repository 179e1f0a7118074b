"""The power fails while a sense is beyond its limit: each event is reported once and remembered once."""

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
    memories = _named(told, "memory")
    assert len(memories) == len(set(memories)) == EVENTS
    for memory in memories:
        assert sum(memory in text for text in _named(told, "line")) == 1, memory
        sent = [text for text in _named(told, "sent") if memory in text]
        assert sent, memory
        assert sum(PERHAPS not in text for text in sent) <= 1, sent


PROGRAM = BoardProgram("sense_event_board.py", "2m", _is_whole)


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> range:
    """The changes of the flash from where the board is open: test_power_cuts.py tries those before."""
    opened = PROGRAM.figure("opened", tmp_path_factory.mktemp("senses-opened"))
    return range(opened + 1, PROGRAM.changes(tmp_path_factory.mktemp("senses")))


def test_after_some_cuts_each_event_is_told_and_remembered_once(changes: range, tmp_path: Path):
    PROGRAM.try_cuts(changes[:: max(1, len(changes) // SHORT)], tmp_path)


@pytest.mark.soak
def test_after_any_cut_each_event_is_told_and_remembered_once(changes: range, tmp_path: Path):
    PROGRAM.try_cuts(changes, tmp_path)
