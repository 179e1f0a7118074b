"""Quoted and forwarded text in messages."""

from engram import text
from engram.link.messages import FORWARDED_CHARS, QUOTED_CHARS

SOMEBODY = "somebody"
_FENCE = "```"
_CUT = "…"


def separate(
    written: str, quoted: str = "", forwarded: str = "", *, has_attachments: bool = False
) -> tuple[str, str, str]:
    """Split a message into (text, quoted, forwarded); a message of quotes alone counts as forwarded."""
    if not forwarded:
        written, lines = split_quotes(written)
        if (lines or quoted) and not (written or has_attachments):
            return (lines, shorten(quoted), SOMEBODY) if lines else (quoted.strip(), "", SOMEBODY)
        quoted = " ".join(part for part in (quoted, lines) if part)
    return written, shorten(quoted), forwarded and origin(forwarded)


def split_quotes(written: str, mark: str = "> ") -> tuple[str, str]:
    """Split a text into its own words and its quoted lines without marks; code stays unchanged."""
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
    """Cut a quotation to the single line that a board accepts."""
    line = " ".join(text.printable(words).split())
    return line if len(line) <= QUOTED_CHARS else text.cut(line, QUOTED_CHARS - len(_CUT)) + _CUT


def origin(name: str) -> str:
    """Return the author of a forwarded message in the form that a board accepts."""
    return text.cut(" ".join(text.printable(name).split()), FORWARDED_CHARS) or SOMEBODY
