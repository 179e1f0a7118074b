"""Sentences for people: a kind and values, with English text.

The page translates them by kind. What keeps one keeps its kind and values beside the text: see pack().
"""

import json
from collections.abc import Mapping

Value = str | int

PLURAL = "n"
"""Value that chooses between singular and plural."""


class Sentence(str):
    key: str
    values: Mapping[str, Value]

    @classmethod
    def make(cls, text: str, key: str, values: Mapping[str, Value]) -> "Sentence":
        made = cls(text)
        made.key, made.values = key, values
        return made

    @property
    def kind(self) -> str:
        return self.key.partition(".")[2]


class SentenceTable:
    """Sentences on a topic with {placeholders}, a pair of texts where `n` gives the plural."""

    def __init__(self, topic: str, texts: Mapping[str, str | tuple[str, str]]):
        self.topic = topic
        self._texts = {kind: text if isinstance(text, tuple) else (text,) for kind, text in texts.items()}

    @property
    def kinds(self) -> list[str]:
        return list(self._texts)

    def say(self, kind: str, **values: Value) -> Sentence:
        """Return a sentence; raises KeyError for an unknown kind or a missing value."""
        texts = self._texts[kind]
        text = texts[-1 if values.get(PLURAL) != 1 else 0]
        return Sentence.make(text.format(**values), f"{self.topic}.{kind}", values)

    def catalog(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for kind, texts in self._texts.items():
            key = f"{self.topic}.{kind}"
            found |= {key: texts[0]} if len(texts) == 1 else {f"{key}.one": texts[0], f"{key}.other": texts[1]}
        return found


def pack(text: str) -> str:
    """Encode a text for a file or a database, with its kind and values if it is a Sentence."""
    more = [text.key, dict(text.values)] if isinstance(text, Sentence) else []
    return json.dumps([text, *more], ensure_ascii=False)


def unpack(saved: str) -> str:
    """Return the text that pack() has encoded; a damaged one as it is."""
    try:
        text, *more = json.loads(saved)
        return Sentence.make(text, *more) if more else text
    except (ValueError, TypeError):
        return saved
