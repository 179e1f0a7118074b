"""The power fails while standing intents are made, fire and are removed: each is there whole or not at all, and one that fired
is noted after the message that brought it up.
"""

from pathlib import Path

import pytest

from cuts import Story, find_states, shared_story
from expected import ROOMS, Operation
from flashes import sample

ROUNDS = 12
EVERY = 50


def _operations() -> list[Operation]:
    """Intents, each brought up by a message of one of two rooms, and every third removed."""
    operations: list[Operation] = []
    for number in range(ROUNDS):
        operations.append(
            {"do": "intend", "when": f"k{number}z", "remind": f"buy {number}" + " brushes" * (number * 3)}
        )
        text = f"there was k{number}z, and k{number // 2}z"
        operations.append({"do": "mention", "room": ROOMS[number % 2], "text": text})
        if number % 3 == 2:
            operations.append({"do": "unintend", "of": len(operations) - 2})
    return operations


@pytest.fixture(scope="module")
def intents_story(tmp_path_factory: pytest.TempPathFactory, blank: bytes) -> Story:
    """The script, played and traced once for all workers."""
    return shared_story(tmp_path_factory, "intents-story", _operations(), blank)


def test_each_intent_fires_once_in_the_script(intents_story: Story):
    results = [result["fired"] for result in intents_story.results.values() if isinstance(result, dict)]
    assert sorted(ref for fired in results for ref in fired) == sorted(f"w{number + 1}" for number in range(ROUNDS))


def test_at_one_in_fifty_changes_a_cut_leaves_each_intent_whole(intents_story: Story, place: Path):
    find_states(intents_story, sample(intents_story, EVERY), place)


@pytest.mark.soak
def test_at_every_change_a_cut_leaves_each_intent_whole(intents_story: Story, place: Path):
    find_states(intents_story, intents_story.cuts(), place)
