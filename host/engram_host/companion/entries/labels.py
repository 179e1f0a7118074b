"""Filters of memories that boards do not have: who stored one, its keywords, and whether it is pinned.

The companion's index has them beside the labels of the board's own code (engram.memory.line_meaning).
"""

from collections.abc import Iterator
from typing import Any

PINNED = "*pinned"

_DEFAULT_SOURCE = "manual"


def source_label(source: str) -> str:
    """Return the label of a source; memories of the default source have none."""
    return "<" + source


def keyword_label(keyword: str) -> str:
    """Return the label of a keyword, ignoring case and spacing."""
    return "&" + " ".join(keyword.casefold().split())


def describe_labels(line: dict[str, Any]) -> Iterator[str]:
    """Yield the companion's labels of a decoded line of the records."""
    source = line.get("source")
    if isinstance(source, str) and source != _DEFAULT_SOURCE:
        yield source_label(source)
    if line.get("pinned") is True:
        yield PINNED
    keywords = line.get("keywords")
    for keyword in keywords if isinstance(keywords, list) else ():
        if isinstance(keyword, str):
            yield keyword_label(keyword)
