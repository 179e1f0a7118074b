"""The differences between two versions of a text, word by word."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

_WORDS = re.compile(r"\s+|[^\W_\u3040-\u9fff\uac00-\ud7af]+|.", re.DOTALL)
_MOST_WORDS = 1500


class Span(NamedTuple):
    """Part of a text: common, only new, or only old."""

    kind: Literal["same", "new", "old"]
    text: str


def differences(old: str, new: str) -> list[Span]:
    """Return the parts of both versions in order."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if max(len(before), len(after)) > _MOST_WORDS:
        return [Span("old", old), Span("new", new)]
    return [*_joined(before, after)]


def _joined(before: list[str], after: list[str]) -> Iterator[Span]:
    for kind, first, last, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            yield Span("same", "".join(before[first:last]))
            continue
        if last > first:
            yield Span("old", "".join(before[first:last]))
        if end > start:
            yield Span("new", "".join(after[start:end]))
