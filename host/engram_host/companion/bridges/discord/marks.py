"""Markdown for Discord, which knows most of it."""

from collections.abc import Iterator

import discord

from engram.text.cutting import closes, fence_of

LONGEST_TEXT = 2000  # characters of a message
_HEADING_LEVELS = 3  # Discord shows no deeper headings


def escaped(text: str) -> str:
    """Escape marks in a text, unless the result is too long."""
    marked = discord.utils.escape_markdown(text)
    return marked if len(marked) <= LONGEST_TEXT else text


def rendered(markdown: str) -> str:
    """Render Markdown: tables as code, deep headings bold; unchanged if the result is too long."""
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
