"""Texts of the page in each language, one file each, and the choice of a language."""

import functools
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from engram_host.sentences import PLURAL, Sentence, english

DEFAULT = "en"
NAMES = {"en": "English", "zh": "中文"}

LANGUAGE_COOKIE = "engram_lang"


class Texts:
    def __init__(self, language: str, texts: Mapping[str, str]):
        self.language = language
        self._texts = texts

    def __call__(self, key: str, **values: Any) -> str:
        """Format a text; raises KeyError if there is none."""
        return self._texts[key].format(**values)

    def count(self, key: str, number: int, **values: Any) -> str:
        return self(f"{key}.{'one' if number == 1 else 'other'}", n=self.number(number), **values)

    def number(self, number: float) -> str:
        return f"{number:,}"

    def say(self, text: str) -> str:
        if self.language == DEFAULT or not isinstance(text, Sentence):
            return text
        values = {name: self.say(each) if isinstance(each, str) else each for name, each in text.values.items()}
        if text.key in self._texts:
            return self(text.key, **values)
        return self(f"{text.key}.{'one' if values[PLURAL] == 1 else 'other'}", **values)

    def keys(self) -> Sequence[str]:
        return sorted(self._texts)

    def template(self, key: str) -> str:
        return self._texts[key]


@functools.cache
def load_catalogs() -> Mapping[str, Texts]:
    folder = resources.files("engram_host.companion.page") / "texts"
    found = {name: tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8")) for name in NAMES}
    texts = {name: dict(_flat(table, "")) for name, table in found.items()}
    texts[DEFAULT] |= _flat(english(), "")
    return {name: Texts(name, each) for name, each in texts.items()}


def _flat(table: Mapping[str, Any], before: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, value in table.items():
        key = before + name
        found += _flat(value, key + ".") if isinstance(value, Mapping) else [(key, value)]
    return found


def choose_language(asked: str, kept: str, accepted: str) -> str:
    """Return the language asked for, else of the cookie, else of Accept-Language."""
    for name in (asked, kept):
        if name in NAMES:
            return name
    ranked: list[tuple[float, int, str]] = []
    for at, part in enumerate(accepted[:500].split(",")):
        tag, _, weight = part.strip().partition(";q=")
        try:
            ranked.append((-float(weight or 1), at, tag.strip().partition("-")[0].lower()))
        except ValueError:
            continue
    return next((name for _, _, name in sorted(ranked) if name in NAMES), DEFAULT)
