"""Texts of messages: quoted and forwarded words, mentions by name, and Markdown as simpler marks.

Marks cover what models write: headings, lists, quotes, fences, links and inline marks.
"""

import re
from dataclasses import dataclass

from engram.link.messages import FORWARDED_CHARS, QUOTED_CHARS
from engram.text import cut, printable
from engram.text.cutting import closes, fence_of

SOMEBODY = "somebody"
_FENCE = "```"
_CUT = "…"
_BEHIND_A_NAME = ":, "
MOST_MARKED = 1000  # characters that a mark may span: bounds the work for stray asterisks
# Longer runs of backticks stay as they are, or a text of nothing else would take seconds.
MOST_TICKS = 8


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
    line = " ".join(printable(words).split())
    return line if len(line) <= QUOTED_CHARS else cut(line, QUOTED_CHARS - len(_CUT)) + _CUT


def origin(name: str) -> str:
    return cut(" ".join(printable(name).split()), FORWARDED_CHARS) or SOMEBODY


# --- mentions on networks that mark them only by the account's nickname in the text


def without_mention(text: str, nickname: str) -> tuple[str, bool]:
    """Remove a leading nickname ("engram: hello"); also tell if the nickname is in the text."""
    words = text.lstrip()
    start = words.removeprefix("@")
    rest = start[len(nickname) :]
    if start[: len(nickname)].casefold() == nickname.casefold() and (not rest or rest[0] in _BEHIND_A_NAME):
        return rest.lstrip(_BEHIND_A_NAME), True
    # \b fails here, since a nickname may end in "_" or "]".
    as_a_word = rf"(?<![\w-]){re.escape(nickname)}(?![\w-])"
    return text, re.search(as_a_word, text, re.IGNORECASE) is not None


# --- marks


@dataclass(frozen=True)
class Marks:
    """Marks of a network around formatted text ("" for none), and whether it knows fences."""

    bold: str = ""
    italic: str = ""
    struck: str = ""
    code: str = "`"
    has_fences: bool = True


STYLING = Marks(bold="*", italic="_", struck="~")
"""Marks of XMPP (XEP-0393) and Slack, readable as plain text, too."""

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
_BULLET = re.compile(r"^(?P<indent>\s*)[*+]\s+(?=\S)")


def with_marks(text: str, marks: Marks) -> str:
    lines: list[str] = []
    fence = b""
    for line in text.split("\n"):
        data = line.encode(errors="surrogatepass")
        if fence:
            if closes(data, fence):
                fence = b""
                lines += [_FENCE] if marks.has_fences else []
            else:
                lines.append(line)
        elif fence := fence_of(data):
            lines += [_FENCE] if marks.has_fences else []
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
