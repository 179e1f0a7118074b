"""The power fails again while a board finds its way back from a cut."""

from pathlib import Path

import pytest

from cuts import NEXT, Story, find_state, tell_story, verify
from expected import Board
from extent import extent
from flashes import Image, sample

PARTS = 4


def _cut_again(place: Path, image: Image, allowed: list[Board], number: int, most: int) -> int:
    """Let a board recover, and cut that at `most` changes, evenly spread; how many cuts were tried."""
    board = find_state(place, image, allowed)
    second = tell_story(place, NEXT, bytes(image.content), board)
    every = max(1, len(second.changes) // most)
    cuts = sample(second, every)[-most:]
    for cut, again in second.images(cuts):
        try:
            verify(place, again, second.allowed(cut), number)
        except (Exception, pytest.fail.Exception) as error:
            raise AssertionError(f"{number}, then {cut} of {len(second.changes)}: {error}") from error
    return len(cuts)


def _try(story: Story, part: int, place: Path, every: int, most: int) -> None:
    cuts = sample(story, every)[part::PARTS]
    tried = sum(_cut_again(place, image, story.allowed(cut), cut.changes, most) for cut, image in story.images(cuts))
    assert tried >= len(cuts)


@pytest.mark.shortened
@pytest.mark.parametrize("part", range(PARTS))
def test_a_second_cut_at_any_change_loses_nothing(story: Story, part: int, place: Path):
    _try(story, part, place, every=extent(45, 2500), most=extent(1 << 20, 2))
