"""A small made-up set for the evaluation's tests."""

import json
from pathlib import Path

TURNS = [
    {"id": "a1", "session": 1, "date": "2024-03-02T10:00:00", "speaker": "Ann", "text": "I planted tomatoes today."},
    {"id": "a2", "session": 1, "date": "2024-03-02T10:00:00", "speaker": "Ben", "text": "My bike was stolen in Malmö."},
    {
        "id": "b1", "session": 2, "date": "2024-04-09T18:30:00", "speaker": "Ann", "text": "Look at this.",
        "caption": "a photo of a yellow kayak 🛶",
    },
    {"id": "b2", "session": 2, "date": "2024-04-09T18:30:00", "speaker": "Ben", "text": "Where did you paddle?"},
]  # fmt: skip

QUESTIONS = [
    {"question": "What did Ann plant?", "evidence": ["a1"], "category": 4},
    {"question": "Whose bike was stolen?", "evidence": ["a2"], "category": 1},
    {"question": "Who has a kayak?", "evidence": ["b1", "b2"], "category": 1},
    {"question": "xyzzy?", "evidence": ["a1"], "category": 5},
]


def write(folder: Path, turns=TURNS, questions=QUESTIONS, name: str = "one") -> Path:
    """Write a conversation into a folder of sets."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    for file, lines in (("turns.jsonl", turns), ("questions.jsonl", questions)):
        (place / file).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder
