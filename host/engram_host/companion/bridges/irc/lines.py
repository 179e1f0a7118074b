"""IRC's lines: read by the parts of the library `irc`, and written. Knows nothing of connections."""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from irc.client import NickMask
from irc.message import Arguments, Tag
from irc.strings import lower

from engram_host.companion.bridges.marks import Marks

MOST_LINE_BYTES = 400
"""Of a text in one line. A line has 512 bytes with the sender's mask before it, whose length only the server knows."""

WIRE_BYTES = 510
"""Of a whole line as others get it, without its end."""

MOST_HOST_BYTES = 63
MOST_USER_BYTES = 10
"""What the account's own mask may have before every line of it that others get."""

CODES = Marks(bold="\x02", italic="\x1d", struck="\x1e", code="", has_fences=False)
"""Formatting that most clients show; code goes as it is."""

_LINE = re.compile(
    r"(?:@(?P<tags>[^ ]*) +)?(?::(?P<source>[^ ]*) +)?(?P<command>[A-Za-z0-9]+)(?P<parameters> .*)?$", re.DOTALL
)
_FORMATTING = re.compile(r"\x03(?:\d{1,2}(?:,\d{1,2})?)?|\x04(?:[0-9a-fA-F]{6})?|[\x02\x0f\x11\x16\x1d\x1e\x1f]")
_PASTED = re.compile(r"(?:\[?\d\d?:\d\d(?::\d\d)?\]?\s+)?<[ ~&@%+]?(?P<nick>[^\s<>]{1,32})>\s+(?P<words>.+)")
"""A line as clients show and log it, such as `[12:30] <@ann> hello`."""

_NEVER_SENT = re.compile("[\x00\x01\r]")
_ACTION = "\x01ACTION "


@dataclass(frozen=True)
class Line:
    """What the server sent: a command or a number, its parameters, whom it comes from, and what it was tagged with."""

    command: str
    parameters: tuple[str, ...] = ()
    source: NickMask = field(default_factory=lambda: NickMask(""))
    tags: Mapping[str, str] = field(default_factory=dict)

    def parameter(self, number: int) -> str:
        """A parameter, "" where there is none; -1 is the last."""
        return self.parameters[number] if -len(self.parameters) <= number < len(self.parameters) else ""


def parse_line(raw: bytes) -> Line | None:
    """A line from the server; None for one that is none. Old clients do not write UTF-8."""
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
    """What a person wrote, without colours and other formatting; "" for a question of their client (CTCP)."""
    if text.startswith(_ACTION):
        text = text.removeprefix(_ACTION).rstrip("\x01")
    elif text.startswith("\x01"):
        return ""
    return _FORMATTING.sub("", text).replace("\x01", "").strip()


def pasted(text: str) -> tuple[str, str]:
    """Whose line somebody pasted from a log, and what it says; ("", "") for words of their own."""
    found = _PASTED.match(text)
    return (found["nick"], found["words"]) if found else ("", "")


def room_for(nickname: str, target: str) -> int:
    """How many bytes of text a line to somebody may have, so that it is not cut on its way."""
    before = f":{nickname}!@ PRIVMSG {target} :"
    return min(MOST_LINE_BYTES, WIRE_BYTES - len(before.encode()) - MOST_USER_BYTES - MOST_HOST_BYTES)


def lines_of(text: str, most_bytes: int) -> list[str]:
    """A text as lines of a most number of bytes of UTF-8, split between words where it can be."""
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


class TokenBucket:
    """Lets `burst` lines go at once, and then one in `seconds`, as servers want it that end a connection which sends more.

    All go at once if `seconds` is 0.
    """

    def __init__(self, burst: int, seconds: float, now: Callable[[], float]):
        self._burst = burst
        self._seconds = seconds
        self._now = now
        self._tokens = float(burst)
        self._at = now()

    def delay(self) -> float:
        """Take the next place; how long until it has come."""
        if not self._seconds:
            return 0.0
        now = self._now()
        self._tokens = min(self._burst, self._tokens + (now - self._at) / self._seconds) - 1
        self._at = now
        return max(0.0, -self._tokens * self._seconds)

    async def wait(self) -> None:
        """Wait until the next line may go."""
        delay = self.delay()
        if delay:
            await asyncio.sleep(delay)


__all__ = ["CODES", "Line", "NickMask", "TokenBucket", "lines_of", "lower", "parse_line", "pasted", "room_for", "said"]
