"""Long texts, read piece by piece."""

from engram import text
from engram.compat import const

PORTION = const(3500)  # characters of the JSON of a text that is read piece by piece


def portion(content: str) -> str:
    """As much of a text's beginning as takes at most PORTION characters as JSON."""
    part = content[:PORTION]
    while len(text.dumps(part)) > PORTION:
        part = text.cut(part, len(part) * 3 // 4)
    return part
