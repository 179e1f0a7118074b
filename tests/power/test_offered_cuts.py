"""The power fails while a companion offers messages until it has the end of each answer: each is answered once."""

from collections import Counter
from pathlib import Path

import pytest

from board_program import BoardProgram, Told
from extent import extent

SAID = ("first", "/note the bike is green", "second", "/session new", "third", "/note the door is blue", "fourth")
SHORT = 4
NOT_AGAIN = "not carried out again"


def _is_whole(told: Told) -> None:
    lines = [line[1] for line in told if line[0] == "line"]
    answers = ["".join(line[1]) for line in told if line[0] == "answer"]
    notes = next(line[1] for line in told if line[0] == "notes")
    assert len(answers) == len(SAID)
    assert Counter(line["mid"] for line in lines if "mid" in line) == {f"link:m{at}": 1 for at in range(len(SAID))}
    turns = {line["seq"]: line["text"] for line in lines if "mid" in line and "op" not in line}
    replies = [line for line in lines if line.get("role") == "assistant"]
    assert Counter(line.get("re", line["prev"]) for line in replies) == dict.fromkeys(turns, 1)
    for said, answer in zip(SAID, answers, strict=True):
        if said[0] != "/":
            assert answer.endswith(f"this answers {said}"), answer
        elif said.startswith("/note"):
            count = notes.count(said.removeprefix("/note "))
            assert count == 1 or (count == 0 and NOT_AGAIN in answer), [answer, notes]


PROGRAM = BoardProgram("offered_board.py", "2m", _is_whole)


@pytest.fixture(scope="module")
def changes(tmp_path_factory: pytest.TempPathFactory) -> range:
    """The changes of the flash from where the board is open."""
    figures = PROGRAM.figures(tmp_path_factory.mktemp("offered"))
    return range(figures["opened"] + 1, figures["changes"])


@pytest.mark.shortened
def test_after_any_cut_each_message_that_is_offered_again_is_answered_once_or_told(changes: range, tmp_path: Path):
    PROGRAM.try_cuts(changes[:: extent(1, max(1, len(changes) // SHORT))], tmp_path)
