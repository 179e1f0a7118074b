"""The evaluation as it is typed, on a small set: the board's engine, the one in floats, and the companion's."""

import json
from pathlib import Path

import pytest

import get_micropython
from engram_host.evaluation import run
from eval_retrieval import make_board
from eval_samples import QUESTIONS, write

BOARD = pytest.param(
    "board",
    marks=pytest.mark.skipif(
        not get_micropython.usable(get_micropython.HOME / "32", 32), reason="there is no 32-bit MicroPython"
    ),
)

engines = pytest.mark.parametrize("engine", [BOARD, "recipe"])


def _evaluate(folder: Path, engine: str) -> list[dict]:
    assert run.main(["--engine", engine, str(write(folder / "sets")), str(folder / "out")], make_board) == 0
    return [json.loads(line) for line in (folder / "out" / "one.jsonl").read_text().splitlines()]


@engines
def test_each_question_gets_its_line_in_order(tmp_path: Path, engine: str):
    assert [line["question"] for line in _evaluate(tmp_path, engine)] == [one["question"] for one in QUESTIONS]


@engines
def test_the_turn_that_answers_comes_first(tmp_path: Path, engine: str):
    assert [line["ranked"][:1] for line in _evaluate(tmp_path, engine)] == [["a1"], ["a2"], ["b1"], []]


@engines
def test_the_figures_are_kept_and_printed_last(tmp_path: Path, engine: str, capsys: pytest.CaptureFixture[str]):
    _evaluate(tmp_path, engine)
    kept = json.loads((tmp_path / "out" / "figures.json").read_text())
    assert kept == json.loads(capsys.readouterr().out.splitlines()[-1])


@pytest.mark.parametrize("engine", [BOARD])
def test_a_clone_without_the_tools_compiles_the_board_by_itself(tmp_path: Path, engine: str):
    out = tmp_path / "out"
    assert run.main(["--engine", engine, str(write(tmp_path / "sets")), str(out)]) == 0
    lines = [json.loads(line) for line in (out / "one.jsonl").read_text().splitlines()]
    assert [line["ranked"][:1] for line in lines] == [["a1"], ["a2"], ["b1"], []]


@pytest.mark.parametrize("engine", ["companion", "companion-words", "companion-meaning"])
def test_the_companion_finds_the_turn_that_answers(tmp_path: Path, engine: str):
    # Meaning finds something for the last question, too, which has no word that was said.
    assert [line["ranked"][:1] for line in _evaluate(tmp_path, engine)][:3] == [["a1"], ["a2"], ["b1"]]


def test_a_set_that_cannot_be_read_is_reported_and_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert run.main([str(tmp_path / "none"), str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err.endswith("none is not a folder.\n")
