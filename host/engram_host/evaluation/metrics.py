"""The figures of an evaluation: how much of the evidence stands among what was found first.

hit@K      share of the questions for which an evidence turn is among the first K
frac@10    mean share of a question's evidence turns that are among the first ten
hit@Nt     as hit@K, among the turns that fit into N tokens; frac@Nt likewise
empty      share of the searches without an answer

Turns are packed in the order of their rank: one that does not fit into what is left is skipped. A token is four characters
of what a prompt needs of a turn: "[2023-05-08] Speaker: text (caption)".
"""

from dataclasses import dataclass

from engram_host.evaluation.sets import Conversation, Question, Turn

FIRST = (1, 5, 10)
BUDGETS = (150, 300, 600, 1200)
ANSWERABLE = (1, 2, 3, 4)
"""Categories that count together: the questions of the fifth have a false premise."""

_CHARACTERS = 4


@dataclass(frozen=True)
class RankedAnswer:
    """A question, what was found for it, best first, and the length of each turn in characters."""

    question: Question
    ranked: list[str]
    lengths: dict[str, int]


def length(turn: Turn) -> int:
    """The characters of a turn in a prompt."""
    caption = f" ({turn.caption})" if turn.caption else ""
    return len(f"[2023-05-08] {turn.speaker}: {turn.text}{caption}")


def ranked_answers(conversation: Conversation, rankings: list[list[str]]) -> list[RankedAnswer]:
    """The questions of a conversation with the rankings of an engine."""
    lengths = {turn.id: length(turn) for turn in conversation.turns}
    return [
        RankedAnswer(question, ranked, lengths)
        for question, ranked in zip(conversation.questions, rankings, strict=True)
    ]


def packed(answer: RankedAnswer, tokens: int) -> list[str]:
    """The found turns that fit into a budget."""
    left = tokens * _CHARACTERS
    taken = []
    for turn in answer.ranked:
        if answer.lengths[turn] <= left:
            left -= answer.lengths[turn]
            taken.append(turn)
    return taken


def figures(given: list[RankedAnswer]) -> dict[str, float]:
    """The figures of some answers; questions without evidence only count for `empty`."""
    having = [answer for answer in given if answer.question.evidence]
    found: dict[str, float] = {"questions": len(given)}
    for count in FIRST:
        found[f"hit@{count}"] = _mean([_hit(answer, answer.ranked[:count]) for answer in having])
    found["frac@10"] = _mean([_share(answer, answer.ranked[:10]) for answer in having])
    for budget in BUDGETS:
        taken = [(answer, packed(answer, budget)) for answer in having]
        found[f"hit@{budget}t"] = _mean([_hit(*pair) for pair in taken])
        found[f"frac@{budget}t"] = _mean([_share(*pair) for pair in taken])
    found["empty"] = _mean([float(not answer.ranked) for answer in given])
    return found


def all_figures(given: dict[str, list[RankedAnswer]]) -> dict[str, object]:
    """The figures of all conversations by name: categories 1 to 4 together, and apart each category and conversation."""
    together = [answer for some in given.values() for answer in some]
    result: dict[str, object] = {"conversations": len(given), **figures(_answerable(together))}
    categories = sorted({answer.question.category for answer in together})
    result["categories"] = {
        str(category): figures([answer for answer in together if answer.question.category == category])
        for category in categories
    }
    result["each"] = {name: figures(_answerable(some)) for name, some in given.items()}
    return result


def _answerable(given: list[RankedAnswer]) -> list[RankedAnswer]:
    return [answer for answer in given if answer.question.category in ANSWERABLE]


def _hit(answer: RankedAnswer, taken: list[str]) -> float:
    return float(not set(answer.question.evidence).isdisjoint(taken))


def _share(answer: RankedAnswer, taken: list[str]) -> float:
    evidence = set(answer.question.evidence)
    return len(evidence.intersection(taken)) / len(evidence)


def _mean(values: list[float]) -> float:
    return round(sum(values) / len(values), 4) if values else 0.0
