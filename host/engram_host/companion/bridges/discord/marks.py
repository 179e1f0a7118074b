"""A reply's Markdown as Discord shows it: nearly all of it is Discord's own."""

from collections.abc import Iterator

import discord

from engram.text.cutting import closes, fence_of

LONGEST_TEXT = 2000
"""Characters of a message."""
_HEADING_LEVELS = 3
"""Deeper headings are no marks of Discord."""


def escaped(text: str) -> str:
    """A text that is shown as it is; if the signs for that do not fit, without them."""
    marked = discord.utils.escape_markdown(text)
    return marked if len(marked) <= LONGEST_TEXT else text


def rendered(markdown: str) -> str:
    """Markdown in Discord's marks: tables become code, deep headings bold; as it is if that does not fit."""
    shown = "\n".join(_lines(markdown.split("\n")))
    return shown if len(shown) <= LONGEST_TEXT else markdown


def _lines(lines: list[str]) -> Iterator[str]:
    fence = b""
    is_table = False
    for line in lines:
        data = line.encode(errors="replace")
        is_row = not fence and line.lstrip(" ").startswith("|") and line.count("|") > 1
        if is_row != is_table:
            yield "```"
            is_table = is_row
        if not fence:
            fence = fence_of(data)
        elif closes(data, fence):
            fence = b""
        bare = line.lstrip("#")
        level = len(line) - len(bare)
        is_deep = not fence and not is_row and level > _HEADING_LEVELS and bare.startswith(" ") and bare.strip()
        yield f"**{bare.strip()}**" if is_deep else line
    if is_table:
        yield "```"
