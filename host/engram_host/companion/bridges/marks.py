"""Markdown converted to simpler marks of networks: bold, italic, struck out, code.

Covers what models write: headings, lists, quotes, fences, links and inline marks.
"""

import re
from dataclasses import dataclass

from engram.text.cutting import closes, fence_of

MOST_MARKED = 1000  # characters that a mark may span: bounds the work for stray asterisks


# Longer runs of backticks stay as they are, or a text of nothing else would take seconds.
MOST_TICKS = 8


@dataclass(frozen=True)
class Marks:
    """Marks of a network around formatted text ("" for none), and whether it knows fences."""

    bold: str = ""
    italic: str = ""
    struck: str = ""
    code: str = "`"
    has_fences: bool = True


_INLINE = re.compile(
    r"\\(?P<escaped>[\\`*_{}\[\]()#+.!~>|-])"
    rf"|(?<!`)(?P<ticks>`{{1,{MOST_TICKS}}})(?!`)(?P<code>[^\n]{{1,{MOST_MARKED}}}?)(?<!`)(?P=ticks)(?!`)"
    rf"|!?\[(?P<label>[^\]\n]{{0,{MOST_MARKED}}})\]\((?P<target>[^)\s]{{1,{MOST_MARKED}}})\)"
    rf"|\*\*(?=\S)(?P<bold>[^\n]{{1,{MOST_MARKED}}}?)(?<=\S)\*\*"
    rf"|(?<!\w)__(?=\S)(?P<bold2>[^\n]{{1,{MOST_MARKED}}}?)(?<=\S)__(?!\w)"
    rf"|~~(?=\S)(?P<struck>[^\n]{{1,{MOST_MARKED}}}?)(?<=\S)~~"
    rf"|(?<![\w*])\*(?=[^\s*])(?P<italic>[^\n*]{{1,{MOST_MARKED}}}?)(?<=\S)\*(?![\w*])"
    rf"|(?<!\w)_(?=\S)(?P<italic2>[^\n_]{{1,{MOST_MARKED}}}?)(?<=\S)_(?!\w)"
)
_HEADING = re.compile(r" {0,3}#{1,6}\s+(?P<title>.*?)\s*#*\s*$")
_FENCE = ["```"]
_BULLET = re.compile(r"^(?P<indent>\s*)[*+]\s+(?=\S)")


def with_marks(text: str, marks: Marks) -> str:
    """Convert Markdown to a network's own marks."""
    lines: list[str] = []
    fence = b""
    for line in text.split("\n"):
        data = line.encode(errors="surrogatepass")
        if fence:
            if closes(data, fence):
                fence = b""
                lines += _FENCE if marks.has_fences else []
            else:
                lines.append(line)
        elif fence := fence_of(data):
            lines += _FENCE if marks.has_fences else []
            # The first word is the language; the rest of the line belongs to the code.
            lines += [rest] if (rest := line.strip()[len(fence) :].strip().partition(" ")[2].strip()) else []
        else:
            lines.append(_line(line, marks))
    return "\n".join(lines)


def _line(line: str, marks: Marks) -> str:
    heading = _HEADING.match(line)
    if heading:
        return _inside(heading["title"].replace("**", ""), marks.bold, marks)
    return _marked(_BULLET.sub(r"\g<indent>- ", line, count=1), marks)


def _marked(text: str, marks: Marks) -> str:
    return _INLINE.sub(lambda found: _one(found, marks), text)


def _one(found: re.Match[str], marks: Marks) -> str:
    part = found.groupdict()
    if part["escaped"]:
        return part["escaped"]
    if part["code"]:
        return marks.code + part["code"].strip() + marks.code
    if part["target"]:
        label, target = _marked(part["label"], marks), part["target"]
        return target if label in ("", target) else f"{label} ({target})"
    for name, mark in (("bold", marks.bold), ("struck", marks.struck), ("italic", marks.italic)):
        inner = part[name] or part.get(name + "2")
        if inner:
            return _inside(inner, mark, marks)
    return found[0]


def _inside(text: str, mark: str, marks: Marks) -> str:
    return mark + _marked(text, marks) + mark
