"""Parser and writer of IRC's lines, by parts of the library `irc`, without connections."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from irc.client import NickMask
from irc.message import Arguments, Tag
from irc.strings import lower

from engram_host.companion.bridges.texts import Marks

# Text of one line; the 512 bytes of a line include the sender's mask, known to the server only.
MOST_LINE_BYTES = 400
WIRE_BYTES = 510  # whole line as others receive it, without its end
MOST_HOST_BYTES = 63
MOST_USER_BYTES = 10

# Formatting that most clients show; code stays as it is.
CODES = Marks(bold="\x02", italic="\x1d", struck="\x1e", code="", has_fences=False)
_LINE = re.compile(
    r"(?:@(?P<tags>[^ ]*) +)?(?::(?P<source>[^ ]*) +)?(?P<command>[A-Za-z0-9]+)(?P<parameters> .*)?$", re.DOTALL
)
_FORMATTING = re.compile(r"\x03(?:\d{1,2}(?:,\d{1,2})?)?|\x04(?:[0-9a-fA-F]{6})?|[\x02\x0f\x11\x16\x1d\x1e\x1f]")
# A line as clients show and log it, such as `[12:30] <@ann> hello`.
_PASTED = re.compile(r"(?:\[?\d\d?:\d\d(?::\d\d)?\]?\s+)?<[ ~&@%+]?(?P<nick>[^\s<>]{1,32})>\s+(?P<words>.+)")
_NEVER_SENT = re.compile("[\x00\x01\r]")
_ACTION = "\x01ACTION "


@dataclass(frozen=True)
class Line:
    command: str
    parameters: tuple[str, ...] = ()
    source: NickMask = field(default_factory=lambda: NickMask(""))
    tags: Mapping[str, str] = field(default_factory=dict)

    def parameter(self, number: int) -> str:
        """Return a parameter, or "" if missing; -1 is the last."""
        return self.parameters[number] if -len(self.parameters) <= number < len(self.parameters) else ""


def parse_line(raw: bytes) -> Line | None:
    """Parse a line from the server; None if invalid. Bytes that are not UTF-8 come from old clients."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    found = _LINE.match(text.strip("\r\n"))
    if found is None:
        return None
    tags = {tag["key"]: tag["value"] or "" for tag in Tag.from_group(found["tags"]) or ()}
    parameters = tuple(Arguments.from_group(found["parameters"]))
    return Line(found["command"].upper(), parameters, NickMask(found["source"] or ""), tags)


def said(text: str) -> str:
    """Return a message without formatting, "" for a CTCP query."""
    if text.startswith(_ACTION):
        text = text.removeprefix(_ACTION).rstrip("\x01")
    elif text.startswith("\x01"):
        return ""
    return _FORMATTING.sub("", text).replace("\x01", "").strip()


def pasted(text: str) -> tuple[str, str]:
    """Split a line pasted from a log into its author and text; ("", "") for other text."""
    found = _PASTED.match(text)
    return (found["nick"], found["words"]) if found else ("", "")


def room_for(nickname: str, target: str) -> int:
    before = f":{nickname}!@ PRIVMSG {target} :"
    return min(MOST_LINE_BYTES, WIRE_BYTES - len(before.encode()) - MOST_USER_BYTES - MOST_HOST_BYTES)


def lines_of(text: str, most_bytes: int) -> list[str]:
    """Split a text into lines of at most so many UTF-8 bytes, between words if possible."""
    lines = []
    for line in _NEVER_SENT.sub("", text).split("\n"):
        rest = line.rstrip()
        while len(rest.encode()) > most_bytes:
            part = rest.encode()[:most_bytes].decode(errors="ignore")
            space = part.rfind(" ")
            if space > 0 and rest[len(part)] != " ":
                part = part[:space]
            lines.append(part.rstrip())
            rest = rest[len(part) :].lstrip()
        lines.append(rest)
    return [line for line in lines if line]  # IRC has no empty lines


__all__ = ["CODES", "Line", "NickMask", "lines_of", "lower", "parse_line", "pasted", "room_for", "said"]
