"""The power fails while facts are kept that were found in turns: each is there once, and no turn is read again or left out."""

from pathlib import Path

import pytest

from cuts import Story, find_states, shared_story
from expected import ROOMS, Operation
from extent import extent
from flashes import sample

ROUNDS = 12
EVERY = 120


def _operations() -> list[Operation]:
    """Turns, after each few of which the journal is read: it gives several facts, one, or none."""
    operations: list[Operation] = []
    for number in range(ROUNDS):
        room = ROOMS[number % 2]
        for role in ("user", "assistant"):
            text = f"k{number}z said by the {role} " + "about one thing or another " * (number % 5)
            operations.append({"do": "turn", "who": "ann", "room": room, "role": role, "text": text})
        facts = [f"k{number}f{fact}z is what Ann{number}{fact} has" for fact in range(number % 3)]
        operations.append({"do": "learn", "facts": facts})
        if number % 4 == 3:
            operations.append({"do": "compact", "what": "records"})
    return operations


@pytest.fixture(scope="module")
def learning_story(tmp_path_factory: pytest.TempPathFactory, blank: bytes) -> Story:
    """The script, played and traced once for all workers."""
    return shared_story(tmp_path_factory, "learning-story", _operations(), blank)


@pytest.mark.shortened
def test_at_every_change_a_cut_reads_nothing_twice(learning_story: Story, place: Path):
    find_states(learning_story, extent(learning_story.cuts(), sample(learning_story, EVERY)), place)
