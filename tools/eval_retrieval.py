#!/usr/bin/env python3
"""Does a search find the turns that answer a question? Asks the questions of some conversations and counts.

    eval_retrieval.py --engine board SETS OUT

SETS is a folder of folders NAME with turns.jsonl and questions.jsonl (see eval_sets.py). Each conversation is fed into an
empty store and each of its questions is asked. OUT/NAME.jsonl then has a line for each question, in their order,
{"question","ranked":[ids of turns, best first]}, and OUT/figures.json the figures (see eval_metrics.py), which are also
printed: first a table, then the same JSON object on the last line. Progress goes to stderr.

An engine ranks a conversation: it is given the number of turns to find at most and an empty folder to work in, and gives
a list of ids for each question. `board` is the firmware's own store on MicroPython, `recipe` the same formulas in floats,
for comparison, `companion` the companion's store, embedder and search; companion-words and the like are the same with other
options (see eval_companion.py).
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "firmware"), str(ROOT / "host")]

import eval_board  # noqa: E402
import eval_companion  # noqa: E402
import eval_metrics  # noqa: E402
import eval_recipe  # noqa: E402
import firmware_build  # noqa: E402
from engram_host.companion.errors import CompanionError  # noqa: E402
from eval_sets import BadSet, Conversation, load  # noqa: E402


@dataclass(frozen=True)
class Engine:
    """What ranks, and what has to be done once before."""

    rank: Callable[[Conversation, int, Path], list[list[str]]]
    prepare: Callable[[], object] = lambda: None


ENGINES = {"board": Engine(eval_board.rank, firmware_build.compile_small), "recipe": Engine(eval_recipe.rank)}
ENGINES.update({name: Engine(eval_companion.ranker(name)) for name in eval_companion.VARIANTS})

FAILURES = (BadSet, eval_board.BoardFailed, eval_companion.CompanionFailed, CompanionError, OSError)
"""What evaluate() fails with; the text says why."""

LIMIT = 50
"""Turns for a question: more than fit into 1,200 tokens."""

AT_ONCE = 2


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def answer(conversation: Conversation, engine: Engine, out: Path) -> list[eval_metrics.Answer]:
    """Ask one conversation's questions and write what was found."""
    with tempfile.TemporaryDirectory() as work:
        rankings = engine.rank(conversation, LIMIT, Path(work))
    lines = [
        json.dumps({"question": question.text, "ranked": ranked}, ensure_ascii=False) + "\n"
        for question, ranked in zip(conversation.questions, rankings, strict=True)
    ]
    (out / f"{conversation.name}.jsonl").write_text("".join(lines), encoding="utf-8")
    _tell(f"{conversation.name}: {len(conversation.turns)} turns, {len(conversation.questions)} questions asked")
    return eval_metrics.answers(conversation, rankings)


def print_table(result: dict) -> None:
    """A row for the categories 1 to 4 together, for each category and for each conversation."""
    rows = {"1 to 4": result}
    rows.update({f"category {name}": row for name, row in result["categories"].items()})
    rows.update(result["each"])
    names = list(next(iter(result["each"].values())))
    print(f"{'':14}" + "".join(f"{name:>11}" for name in names))
    for title, row in rows.items():
        print(f"{title:14}" + "".join(f"{row[name]:>11}" for name in names))


def evaluate(engine_name: str, sets: Path, out: Path) -> dict:
    """Ask the questions of all conversations in a folder; the figures, which stand in `out` as well. One of FAILURES."""
    engine = ENGINES[engine_name]
    conversations = load(sets, _tell)
    out.mkdir(parents=True, exist_ok=True)
    engine.prepare()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        all_answers = list(pool.map(lambda one: answer(one, engine, out), conversations))
    answers = dict(zip([one.name for one in conversations], all_answers, strict=True))
    result = {"engine": engine_name, "ranked": LIMIT, **eval_metrics.all_figures(answers)}
    (out / "figures.json").write_text(json.dumps(result, indent=1) + "\n", encoding="ascii")
    return result


def main(arguments: list[str]) -> int:
    """Evaluate an engine."""
    parser = argparse.ArgumentParser(description="Does a search find the turns that answer a question?")
    parser.add_argument("--engine", choices=sorted(ENGINES), default="board")
    parser.add_argument(
        "sets", type=Path, metavar="SETS", help="a folder of folders with turns.jsonl and questions.jsonl"
    )
    parser.add_argument("out", type=Path, metavar="OUT", help="where to write what was found, and the figures")
    given = parser.parse_args(arguments)
    try:
        result = evaluate(given.engine, given.sets, given.out)
    except FAILURES as error:
        _tell(f"eval_retrieval: {error}")
        return 1
    print_table(result)
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
