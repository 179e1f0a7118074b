"""Whose words a message has: lines that quote others, and who wrote what is forwarded."""

from engram import text
from engram.link.messages import FORWARDED_CHARS, QUOTED_CHARS

SOMEBODY = "somebody"
"""Who wrote a text of which no name is known."""

_QUOTED_BYTES = 600
"""A message to a board has 2,048 bytes, with a piece of the text among them."""

_FENCE = "```"
_CUT = "…"


def separate(
    written: str, quoted: str = "", forwarded: str = "", *, has_attachments: bool = False
) -> tuple[str, str, str]:
    """Split a message into (text, quoted, forwarded); one that only quotes passes on somebody's words."""
    if not forwarded:
        written, lines = split_quotes(written)
        if (lines or quoted) and not (written or has_attachments):
            return (lines, shorten(quoted), SOMEBODY) if lines else (quoted.strip(), "", SOMEBODY)
        quoted = " ".join(part for part in (quoted, lines) if part)
    return written, shorten(quoted), forwarded and origin(forwarded)


def split_quotes(written: str, mark: str = "> ") -> tuple[str, str]:
    """Split a text into the writer's own words and its quoted lines without their marks; code keeps its lines."""
    own: list[str] = []
    quoted: list[str] = []
    is_code = False
    for line in written.split("\n"):
        is_code ^= line.lstrip().startswith(_FENCE)
        if not is_code and _is_quote(line, mark):
            quoted.append(line.lstrip("> "))
        else:
            own.append(line)
    return "\n".join(own).strip(), "\n".join(quoted).strip()


def _is_quote(line: str, mark: str) -> bool:
    behind = line.lstrip(">")
    return line.startswith(mark) or (behind != line and behind[:1] in ("", " "))


def mark_quoted_rest(written: str) -> str:
    """Mark each quoted line of a text in which `>>> ` quotes all lines that follow."""
    lines = written.split("\n")
    at = next((number for number, line in enumerate(lines) if line.startswith(">>> ")), len(lines))
    return "\n".join([*lines[:at], *(f"> {line.removeprefix('>>> ')}" for line in lines[at:])])


def shorten(words: str) -> str:
    """Cut a text to the one line that a board takes as quoted."""
    line = " ".join(text.printable(words).split())
    cut = text.cut_bytes(text.cut(line, QUOTED_CHARS - len(_CUT)), _QUOTED_BYTES - len(_CUT.encode()))
    return line if len(line) <= QUOTED_CHARS and len(line.encode()) <= _QUOTED_BYTES else cut + _CUT


def origin(name: str) -> str:
    """Name who wrote a forwarded message, as a board takes it."""
    return text.cut(" ".join(text.printable(name).split()), FORWARDED_CHARS) or SOMEBODY
