"""Sentences for people: a kind and values, with English text of sentences.toml.

The page translates them by kind. What keeps one keeps its kind and values beside the text: see pack().
"""

import functools
import json
import tomllib
from collections.abc import Mapping
from importlib import resources

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


@functools.cache
def english() -> Mapping[str, Mapping[str, str | Mapping[str, str]]]:
    """Return the sentences of sentences.toml by topic and kind; two texts where `n` gives the plural."""
    return tomllib.loads((resources.files("engram_host") / "sentences.toml").read_text(encoding="utf-8"))


class SentenceTable:
    """The sentences on a topic of sentences.toml, with {placeholders}."""

    def __init__(self, topic: str):
        self.topic = topic

    def say(self, kind: str, **values: Value) -> Sentence:
        """Return a sentence; raises KeyError for an unknown kind or a missing value."""
        text = english()[self.topic][kind]
        if not isinstance(text, str):
            text = text["one" if values.get(PLURAL) == 1 else "other"]
        return Sentence.make(text.format(**values), f"{self.topic}.{kind}", values)


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
