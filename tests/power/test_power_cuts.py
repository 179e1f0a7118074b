"""The power fails at any change of the flash: what was acknowledged is there, nothing is half there, and it goes on."""

from pathlib import Path

import pytest

from cuts import Story, find_state, verify
from flashes import Cut, sample

PARTS = 8
EVERY = 480
TRIED = 5
"""After one cut in so many, operations of every kind follow; after the others one in each log."""


def _try(story: Story, cuts: list[Cut], place: Path, tried: int) -> None:
    for number, (cut, image) in enumerate(story.images(cuts)):
        try:
            if number % tried:
                find_state(place, image, story.allowed(cut))
            else:
                verify(place, image, story.allowed(cut), number // tried)
        except (Exception, pytest.fail.Exception) as error:
            kept = place.parent / f"engram-{cut.changes}{'-half' if cut.is_half else ''}.bin"
            kept.write_bytes(image.content)
            raise AssertionError(f"{cut} (its image is {kept}): {error}") from error


def _part(cuts: list[Cut], part: int) -> list[Cut]:
    return cuts[part * len(cuts) // PARTS : (part + 1) * len(cuts) // PARTS]


@pytest.mark.parametrize("part", range(PARTS))
def test_at_one_in_five_hundred_changes_a_cut_loses_nothing(story: Story, part: int, place: Path):
    _try(story, _part(sample(story, EVERY), part), place, TRIED)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(PARTS))
def test_at_every_commit_a_cut_loses_nothing(story: Story, part: int, place: Path):
    _try(story, _part([cut for cut in story.cuts() if cut.changes in story.commits], part), place, TRIED)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(PARTS))
def test_between_commits_a_cut_loses_nothing(story: Story, part: int, place: Path):
    _try(story, _part([cut for cut in story.cuts() if cut.changes not in story.commits], part), place, TRIED)
