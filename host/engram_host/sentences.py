"""Sentences for people: a kind and values, with English text.

The page translates them by kind; recognize() parses stored or raised text back to kind and values.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from string import Formatter

Value = str | int

PLURAL = "n"
"""Value that chooses between singular and plural."""

MOST_RECOGNIZED = 1000
"""Characters of a text to recognize, to bound the time."""


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

    def recognize(self, text: str) -> Sentence | None:
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
        """(kind, implied number, pattern), longest literal text first: values may match shorter
        ones."""
        found: list[tuple[str, int | None, str]] = []
        for kind, texts in self._texts.items():
            numbers = (None,) if len(texts) == 1 else (1, None)
            found += [(kind, number, text) for number, text in zip(numbers, texts, strict=True)]
        found.sort(key=lambda each: -sum(len(part) for part, *_ in Formatter().parse(each[2])))
        return [(kind, number, _pattern(text)) for kind, number, text in found]


def recognize(tables: Iterable[SentenceTable], text: str) -> Sentence | None:
    if isinstance(text, Sentence):
        return text
    if len(text) > MOST_RECOGNIZED:
        return None
    return next((found for table in tables if (found := table.recognize(text))), None)


def _pattern(text: str) -> re.Pattern[str]:
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
