"""Sentences that the companion says to people: each has a kind and values, and its English is made from them.

The API and the command show the English. The page looks the kind up in the catalog of another language. What was stored, or
raised as an error, is plain text: recognize() finds the kind and the values of it again.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from string import Formatter

Value = str | int

PLURAL = "n"
"""The value that chooses between two texts: that of one thing, and that of another number of things."""

MOST_RECOGNIZED = 1000
"""Characters of a text in which a sentence is looked for: bounds the time."""


class Sentence(str):
    """A sentence in English that knows its key and its values."""

    key: str
    values: Mapping[str, Value]

    @classmethod
    def make(cls, text: str, key: str, values: Mapping[str, Value]) -> "Sentence":
        """The sentence of a key such as `board.no_model`."""
        made = cls(text)
        made.key, made.values = key, values
        return made

    @property
    def kind(self) -> str:
        """Its name in its table."""
        return self.key.partition(".")[2]


class SentenceTable:
    """The sentences on one topic, with their {placeholders}; two texts where one depends on a number `n`."""

    def __init__(self, topic: str, texts: Mapping[str, str | tuple[str, str]]):
        self.topic = topic
        self._texts = {kind: text if isinstance(text, tuple) else (text,) for kind, text in texts.items()}

    @property
    def kinds(self) -> list[str]:
        """The kinds of sentences."""
        return list(self._texts)

    def say(self, kind: str, **values: Value) -> Sentence:
        """The sentence of a kind; KeyError if there is none, or a value is missing."""
        texts = self._texts[kind]
        text = texts[-1 if values.get(PLURAL) != 1 else 0]
        return Sentence.make(text.format(**values), f"{self.topic}.{kind}", values)

    def catalog(self) -> dict[str, str]:
        """The texts by the keys of a catalog: of two texts `key.one` and `key.other`."""
        found: dict[str, str] = {}
        for kind, texts in self._texts.items():
            key = f"{self.topic}.{kind}"
            found |= {key: texts[0]} if len(texts) == 1 else {f"{key}.one": texts[0], f"{key}.other": texts[1]}
        return found

    def recognize(self, text: str) -> Sentence | None:
        """The sentence that a text is, None if it is none of this table."""
        for kind, number, pattern in self._patterns:
            if found := pattern.fullmatch(text):
                values: dict[str, Value] = dict(found.groupdict())
                number = values.get(PLURAL, number)
                if number is not None:
                    values[PLURAL] = int(number)
                return Sentence.make(text, f"{self.topic}.{kind}", values)
        return None

    @cached_property
    def _patterns(self) -> list[tuple[str, int | None, re.Pattern[str]]]:
        """(kind, the number that it is for if its text does not name it, pattern) of all texts; first those with most words
        of their own, since a value of another one may stand for these.
        """
        found: list[tuple[str, int | None, str]] = []
        for kind, texts in self._texts.items():
            numbers = (None,) if len(texts) == 1 else (1, None)
            found += [(kind, number, text) for number, text in zip(numbers, texts, strict=True)]
        found.sort(key=lambda each: -sum(len(part) for part, *_ in Formatter().parse(each[2])))
        return [(kind, number, _pattern(text)) for kind, number, text in found]


def recognize(tables: Iterable[SentenceTable], text: str) -> Sentence | None:
    """The sentence of some tables that a text is, None if it is of none."""
    if isinstance(text, Sentence):
        return text
    if len(text) > MOST_RECOGNIZED:
        return None
    return next((found for table in tables if (found := table.recognize(text))), None)


def _pattern(text: str) -> re.Pattern[str]:
    """The pattern of a text: a placeholder stands for the fewest characters that fit."""
    parts: list[str] = []
    seen: set[str] = set()
    for literal, name, _, _ in Formatter().parse(text):
        parts.append(re.escape(literal))
        if name in seen:
            parts.append(f"(?P={name})")
        elif name:
            seen.add(name)
            parts.append(f"(?P<{name}>{'[0-9]+' if name == PLURAL else '.+?'})")
    return re.compile("".join(parts), re.DOTALL)
