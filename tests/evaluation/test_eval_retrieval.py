"""The evaluation on a small set: the board's engine and the companion's."""

import json
from pathlib import Path

import pytest

from engram_host.evaluation import run
from eval_samples import QUESTIONS, write
from skips import needs_32_bit

BOARD = pytest.param("board", marks=needs_32_bit)


@pytest.mark.parametrize("engine", [BOARD, "companion", "companion-words", "companion-meaning"])
def test_the_turn_that_answers_comes_first_and_each_question_gets_its_line(tmp_path: Path, engine: str):
    out = tmp_path / "out"
    result = run.evaluate(engine, write(tmp_path / "sets"), out)
    lines = [json.loads(line) for line in (out / "one.jsonl").read_text().splitlines()]
    assert [line["question"] for line in lines] == [one["question"] for one in QUESTIONS]
    # Meaning finds something for the last question, too, which has no word that was said.
    assert [line["ranked"][:1] for line in lines][:3] == [["a1"], ["a2"], ["b1"]]
    assert json.loads((out / "figures.json").read_text()) == result
