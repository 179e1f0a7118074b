"""Nobody gets at what others keep on the same board through what the agent answers, or what a model is shown."""

from intruder import INTRUDERS, Intruder, every


def test_no_answer_without_a_model_gives_anything_away():
    assert every(Intruder.try_offline) > len(INTRUDERS)


def test_no_prompt_gives_anything_away():
    ways = [lambda intruder, mode=mode: intruder.try_prompts(mode) for mode in ("full", "lightweight")]
    assert every(*ways) > len(INTRUDERS)


def test_no_turn_gives_anything_away():
    assert every(Intruder.try_turns) > len(INTRUDERS)
