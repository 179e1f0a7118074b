"""Reads and checks sets of the evaluation: a folder of folders NAME/{turns,questions}.jsonl.

turns.jsonl        {"id","session","date","speaker","text"[,"caption"][,"role"]}, in order; texts up to LONGEST
questions.jsonl    {"question","evidence":[ids of turns],"category"}
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


class EvaluationFailed(Exception):
    """An engine failed; the message says in which conversation."""


class BadSet(EvaluationFailed):
    """An invalid set; the message gives place and reason."""


LONGEST = 4000
"""Characters per turn, enough for the index and within the heap of a small board."""

ROLES: tuple[str, ...] = ("user", "assistant")

FALSE_PREMISE = 5
"""Category of questions about things never said."""

FOREIGN = 9
"""Category of questions added by with_foreign(); higher than any in a set."""


@dataclass(frozen=True)
class Turn:
    """A message; `at` in Unix seconds, `session` numbered from 1."""

    id: str
    session: int
    at: int
    speaker: str
    text: str
    caption: str = ""
    role: str = "user"


@dataclass(frozen=True)
class Question:
    text: str
    evidence: tuple[str, ...]
    category: int


@dataclass(frozen=True)
class Conversation:
    name: str
    turns: list[Turn]
    questions: list[Question]


def load_conversations(sets: Path, warn: Callable[[str], None]) -> list[Conversation]:
    if not sets.is_dir():
        raise BadSet(f"{sets} is not a folder.")
    folders = sorted(folder for folder in sets.iterdir() if folder.is_dir() and not folder.name.startswith("."))
    if not folders:
        raise BadSet(f"{sets} has no folders NAME with turns.jsonl and questions.jsonl.")
    return [load_conversation(folder, warn) for folder in folders]


def load_conversation(folder: Path, warn: Callable[[str], None]) -> Conversation:
    turns: dict[str, Turn] = {}
    for place, line in _lines(folder / "turns.jsonl"):
        turn = _turn(place, line)
        if turn.id in turns:
            raise BadSet(f"{place}: the id {turn.id} stands there twice.")
        turns[turn.id] = turn
    questions = []
    for place, line in _lines(folder / "questions.jsonl"):
        question = _question(place, line)
        for missing in set(question.evidence) - set(turns):
            # The set's mistake: keep the question and let it count against the engine.
            warn(f"{place}: the evidence {missing} is not among the turns; it counts as not found.")
        questions.append(question)
    return Conversation(folder.name, list(turns.values()), questions)


def with_foreign(conversations: list[Conversation], count: int) -> list[Conversation]:
    added = []
    for one in conversations:
        others = [(other, asked) for other in conversations if other is not one for asked in _real(other)]
        foreign = [_foreign(asked, other, one) for other, asked in _evenly(others, count)]
        added.append(replace(one, questions=one.questions + foreign))
    return added


def _real(conversation: Conversation) -> list[Question]:
    return [asked for asked in conversation.questions if asked.evidence and asked.category != FALSE_PREMISE]


def _evenly(all_of: list[tuple[Conversation, Question]], count: int) -> list[tuple[Conversation, Question]]:
    if len(all_of) <= count:
        return all_of
    return [all_of[at * len(all_of) // count] for at in range(count)]


def _foreign(question: Question, other: Conversation, here: Conversation) -> Question:
    names = dict(zip(_speakers(other), _speakers(here), strict=False))
    text = question.text
    if names:
        pattern = r"\b(" + "|".join(re.escape(name) for name in names) + r")\b"
        text = re.sub(pattern, lambda found: names[found[1]], text)
    return Question(text, (), FOREIGN)


def _speakers(conversation: Conversation) -> list[str]:
    counts = Counter(turn.speaker for turn in conversation.turns if turn.role == "user")
    return [name for name, _ in counts.most_common()]


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadSet(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise BadSet(f"{path} is not UTF-8.") from None
    found = False
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        found = True
        place = f"{path}, line {number}"
        try:
            value = json.loads(line)
        except ValueError:
            raise BadSet(f"{place}: is not JSON.") from None
        if not isinstance(value, dict):
            raise BadSet(f"{place}: is not an object.")
        yield place, value
    if not found:
        raise BadSet(f"{path} is empty.")


def _turn(place: str, line: dict[str, Any]) -> Turn:
    session = _field(place, line, "session", int)
    if session < 1:
        raise BadSet(f"{place}: session must be 1 or more.")
    return Turn(
        _field(place, line, "id", str),
        session,
        _moment(place, _field(place, line, "date", str)),
        _field(place, line, "speaker", str),
        _field(place, line, "text", str)[:LONGEST],
        _field(place, line, "caption", str) if line.get("caption") else "",
        _role(place, line.get("role", "user")),
    )


def _role(place: str, role: Any) -> str:
    if role not in ROLES:
        raise BadSet(f"{place}: role must be {' or '.join(ROLES)}.")
    return role


def _question(place: str, line: dict[str, Any]) -> Question:
    evidence = _field(place, line, "evidence", list)
    if not all(isinstance(id_, str) for id_ in evidence):
        raise BadSet(f"{place}: evidence must be a list of ids.")
    return Question(_field(place, line, "question", str), tuple(evidence), _field(place, line, "category", int))


def _field(place: str, line: dict[str, Any], name: str, kind: type) -> Any:
    value = line.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise BadSet(f"{place}: {name} is missing or is not of the kind {kind.__name__}.")
    return value


def _moment(place: str, date: str) -> int:
    try:
        moment = datetime.fromisoformat(date)
    except ValueError:
        raise BadSet(f"{place}: the date {date!r} is none, such as 2023-05-08T13:56:00.") from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
