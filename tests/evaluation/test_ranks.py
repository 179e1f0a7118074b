"""The board ranks the turns of the evaluation's sets as is noted (tests/data/ranks): no change moves a rank unnoticed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import firmware_build
import get_micropython
import ranks
from engram_host.evaluation.engines import BoardEngine
from skips import needs_32_bit

KEPT = {name: json.loads((ranks.FOLDER / f"{name}.json").read_text(encoding="ascii")) for name in ranks.NAMES}
ALL = [f"{name}/{conversation}" for name in ranks.NAMES for conversation in KEPT[name]]
ON_A_BOARD = "locomo/30"
IN_SHORT = {"beam": 0, "locomo": 1, "realtalk": 1}
"""Conversations of each set in `make test`, those of beam are long; `make soak` takes the others."""


def conversation_of(name: str) -> Path:
    """Where a conversation is; the test is skipped where it is not, or is another one than it was."""
    folder = ranks.SETS / name
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there: TEST_SETS names the folder of the sets")
    if ranks.digest_of(folder) != expected_of(name)["set"]:
        pytest.skip(f"{folder} is another conversation than the one whose ranks are kept")
    return folder


def expected_of(name: str) -> dict:
    group, _, conversation = name.partition("/")
    return KEPT[group][conversation]


def assert_ranked(name: str, found: list[list[int]]) -> None:
    """All questions are answered as they were; else those that are not are shown, with the best five then and now."""
    expected = expected_of(name)["questions"]
    now = [ranks.shortened(ranked) for ranked in found]
    changed = [
        f"question {at}: {was} -> {is_}" for at, (was, is_) in enumerate(zip(expected, now, strict=True)) if was != is_
    ]
    assert not changed, "\n".join([f"{len(changed)} of {len(now)} questions are answered otherwise", *changed[:20]])


def in_short_and_in_soak() -> Iterator[Any]:
    for group in ranks.NAMES:
        for at, conversation in enumerate(KEPT[group]):
            yield pytest.param(f"{group}/{conversation}", marks=[pytest.mark.soak] if at >= IN_SHORT[group] else [])


@pytest.mark.parametrize("name", list(in_short_and_in_soak()))
def test_turns_are_ranked_as_they_were(name: str):
    assert_ranked(name, ranks.on_this_python(ranks.load(conversation_of(name))))


@needs_32_bit
def test_they_are_ranked_alike_in_the_heap_of_a_board(tmp_path: Path):
    board = BoardEngine(get_micropython.HOME / "32", firmware_build.compile_small())
    conversation = ranks.load(conversation_of(ON_A_BOARD))
    place = {turn.id: at for at, turn in enumerate(conversation.turns)}
    found = board.rank(conversation, ranks.MOST, tmp_path)
    assert_ranked(ON_A_BOARD, [[place[one] for one in ranking.ids] for ranking in found])


def test_what_is_kept_has_nothing_of_the_sets_but_numbers():
    for name in ALL:
        kept = expected_of(name)
        for question in kept["questions"]:
            digest, *best = question.split(" ")
            assert len(digest) == 8 and int(digest, 16) >= 0 and all(one.isdigit() for one in best)
        assert set(kept) == {"set", "questions"} and len(kept["set"]) == 8
