"""Evaluates a search: asks the questions of conversations and counts the evidence turns found.

A set is a folder of folders NAME with turns.jsonl and questions.jsonl (see sets.py). Each conversation is
stored alone and asked its questions. OUT/NAME.jsonl gets a line for each question, in order,
{"question","ranked":[ids of turns, best first],"confidence":0 to 1}, and OUT/figures.json the figures:

hit@K      share of questions with an evidence turn among the first K
frac@10    mean share of a question's evidence turns among the first ten
ndcg@10    mean of DCG / ideal DCG of the first ten, DCG being the sum of 1 / log2(place + 1) over evidence turns
           (Jarvelin and Kekalainen 2002, "Cumulated gain-based evaluation of IR techniques")
lmeb       ndcg@10, averaged over categories
hit@Nt     like hit@K, among the turns that fit into N tokens; frac@Nt likewise
empty      share of searches without a hit
auroc      area under the ROC curve of the confidence, for questions with and without evidence; ties count half
           (Hanley, Radiology 1982, "The meaning and use of the area under a ROC curve"); only for sets with
           both, as with --foreign

Turns are packed by rank; those that exceed the remaining budget are skipped. A token is four characters of a
turn in a prompt: "[2023-05-08] Speaker: text (caption)".

An engine gets a conversation, a maximum of turns and an empty folder, and returns a Ranking per question. For the
engines `board` and `companion` (with variants such as companion-words) see engines.py.
"""

import json
import math
import sys
import tempfile
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from engram_host.boards.errors import BoardError
from engram_host.companion.errors import CompanionError
from engram_host.evaluation import engines
from engram_host.evaluation.engines import Ranking, own_board
from engram_host.evaluation.sets import (
    FALSE_PREMISE,
    Conversation,
    EvaluationFailed,
    Question,
    Turn,
    load_conversations,
    with_foreign,
)
from engram_host.wording import counted

# --- figures


FIRST = (1, 5, 10)
BUDGETS = (150, 300, 600, 1200)
_CHARACTERS = 4


@dataclass(frozen=True)
class RankedAnswer:
    question: Question
    ranked: list[str]
    lengths: dict[str, int]
    confidence: float = 0.0


def prompt_length(turn: Turn) -> int:
    caption = f" ({turn.caption})" if turn.caption else ""
    return len(f"[2023-05-08] {turn.speaker}: {turn.text}{caption}")


def ranked_answers(conversation: Conversation, rankings: list[Ranking]) -> list[RankedAnswer]:
    lengths = {turn.id: prompt_length(turn) for turn in conversation.turns}
    return [
        RankedAnswer(question, ranking.ids, lengths, ranking.confidence)
        for question, ranking in zip(conversation.questions, rankings, strict=True)
    ]


def fit_budget(answer: RankedAnswer, tokens: int) -> list[str]:
    left = tokens * _CHARACTERS
    taken = []
    for turn in answer.ranked:
        if answer.lengths[turn] <= left:
            left -= answer.lengths[turn]
            taken.append(turn)
    return taken


def figures(given: list[RankedAnswer]) -> dict[str, float]:
    """Return the figures; questions without evidence count only for `empty`."""
    having = [answer for answer in given if answer.question.evidence]
    found: dict[str, float] = {"questions": len(given)}
    for count in FIRST:
        found[f"hit@{count}"] = _mean([_hit(answer, answer.ranked[:count]) for answer in having])
    found["frac@10"] = _mean([_share(answer, answer.ranked[:10]) for answer in having])
    found["ndcg@10"] = _mean([_ndcg(answer) for answer in having])
    for budget in BUDGETS:
        taken = [(answer, fit_budget(answer, budget)) for answer in having]
        found[f"hit@{budget}t"] = _mean([_hit(*pair) for pair in taken])
        found[f"frac@{budget}t"] = _mean([_share(*pair) for pair in taken])
    found["empty"] = _mean([float(not answer.ranked) for answer in given])
    return found


def all_figures(given: dict[str, list[RankedAnswer]]) -> dict[str, object]:
    together = [answer for some in given.values() for answer in some]
    result: dict[str, object] = {"conversations": len(given), **figures(_answerable(together))}
    categories = sorted({answer.question.category for answer in together})
    by_category = {
        category: figures([answer for answer in together if answer.question.category == category])
        for category in categories
    }
    counted_in = {answer.question.category for answer in _answerable(together) if answer.question.evidence}
    result["lmeb"] = _mean([by_category[category]["ndcg@10"] for category in sorted(counted_in)])
    result["auroc"] = auroc(_answerable(together))
    result["categories"] = {str(category): one for category, one in by_category.items()}
    result["each"] = {name: figures(_answerable(some)) for name, some in given.items()}
    return result


def auroc(given: list[RankedAnswer]) -> float | None:
    """Return the area under the confidence's ROC curve; None without questions of both kinds."""
    own = [answer.confidence for answer in given if answer.question.evidence]
    foreign = sorted(answer.confidence for answer in given if not answer.question.evidence)
    if not own or not foreign:
        return None
    higher = sum(bisect_left(foreign, each) + bisect_right(foreign, each) for each in own) / 2
    return round(higher / (len(own) * len(foreign)), 4)


def _answerable(given: list[RankedAnswer]) -> list[RankedAnswer]:
    return [answer for answer in given if answer.question.category != FALSE_PREMISE]


def _hit(answer: RankedAnswer, taken: list[str]) -> float:
    return float(not set(answer.question.evidence).isdisjoint(taken))


def _share(answer: RankedAnswer, taken: list[str]) -> float:
    evidence = set(answer.question.evidence)
    return len(evidence.intersection(taken)) / len(evidence)


def _ndcg(answer: RankedAnswer) -> float:
    evidence = set(answer.question.evidence)
    gained = sum(1 / math.log2(at + 2) for at, turn in enumerate(answer.ranked[:10]) if turn in evidence)
    return gained / sum(1 / math.log2(at + 2) for at in range(min(10, len(evidence))))


def _mean(values: list[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0


# --- the run


Rank = Callable[[Conversation, int, Path], list[Ranking]]
"""Engine: (conversation, limit, empty folder) to a Ranking per question."""

ENGINES = ("board", *engines.VARIANTS)

FAILURES = (EvaluationFailed, CompanionError, BoardError, OSError)

LIMIT = 50
"""Turns per question; more than fit into 1,200 tokens."""

AT_ONCE = 2


def evaluate(engine: str, sets: Path, out: Path, foreign: int = 0) -> dict:
    """Write figures to `out` and return them, with `foreign` questions of others; raises FAILURES."""
    conversations = with_foreign(load_conversations(sets, _report), foreign)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        rank = own_board(Path(work)).rank if engine == "board" else engines.companion_ranker(engine)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            all_answers = list(pool.map(lambda one: _ask(one, rank, out), conversations))
    answers = dict(zip([one.name for one in conversations], all_answers, strict=True))
    result = {"engine": engine, "ranked": LIMIT, **all_figures(answers)}
    (out / "figures.json").write_text(json.dumps(result, indent=1) + "\n", encoding="ascii")
    return result


def _ask(conversation: Conversation, rank: Rank, out: Path) -> list[RankedAnswer]:
    with tempfile.TemporaryDirectory() as work:
        rankings = rank(conversation, LIMIT, Path(work))
    lines = [
        json.dumps(
            {"question": question.text, "ranked": ranking.ids, "confidence": round(ranking.confidence, 4)},
            ensure_ascii=False,
        )
        + "\n"
        for question, ranking in zip(conversation.questions, rankings, strict=True)
    ]
    (out / f"{conversation.name}.jsonl").write_text("".join(lines), encoding="utf-8")
    turns = counted(len(conversation.turns), "turn", "turns")
    asked = counted(len(conversation.questions), "question", "questions")
    _report(f"{conversation.name}: {turns}, {asked} asked")
    return ranked_answers(conversation, rankings)


def print_table(result: dict) -> None:
    rows = {"together": result}
    rows.update({f"category {name}": row for name, row in result["categories"].items()})
    rows.update(result["each"])
    names = list(next(iter(result["each"].values())))
    sys.stdout.write(f"{'':14}" + "".join(f"{name:>11}" for name in names) + "\n")
    for title, row in rows.items():
        sys.stdout.write(f"{title:14}" + "".join(f"{row[name]:>11}" for name in names) + "\n")


def _report(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()
