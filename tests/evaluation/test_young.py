"""The set `young`: the same from one seed, and what a board reaches on it, alone and with a companion."""

import pytest

from engram_host.evaluation import young


def test_a_seed_makes_the_same_memories_in_each_language():
    memories = young.make_memories(1, 12)
    assert memories == young.make_memories(1, 12) != young.make_memories(2, 12)
    assert {memory.language for memory in memories} == set(young.LANGUAGES)


@pytest.mark.parametrize("engine", young.ENGINES)
def test_a_young_memory_is_sure_of_what_it_knows_and_silent_at_small_talk(engine: str):
    answers = [answer for some in young.ask(engine, young.make_memories(1, 12)) for answer in some]
    found = young.figures(answers)
    assert found["right"] >= 0.85 and found["top"] >= 0.95
    assert found["uncertain"] <= 0.05 and found["sure"] <= 0.1 and found["lines"] == 0
