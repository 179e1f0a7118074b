"""Filters of memories that boards do not have: who stored one, its keywords, and whether it is pinned.

They stand in the companion's index beside the labels that the board's own code gives (engram.memory.line_meaning).
"""

from collections.abc import Iterator
from typing import Any

PINNED = "*pinned"

_DEFAULT_SOURCE = "manual"


def source_label(source: str) -> str:
    """The label of a source; none has the one that memories have by default, see describe_labels()."""
    return "<" + source


def keyword_label(keyword: str) -> str:
    """The label of a keyword, however it is written."""
    return "&" + " ".join(keyword.casefold().split())


def describe_labels(line: dict[str, Any]) -> Iterator[str]:
    """The labels of a decoded line of the records."""
    source = line.get("source")
    if isinstance(source, str) and source != _DEFAULT_SOURCE:
        yield source_label(source)
    if line.get("pinned") is True:
        yield PINNED
    keywords = line.get("keywords")
    for keyword in keywords if isinstance(keywords, list) else ():
        if isinstance(keyword, str):
            yield keyword_label(keyword)
