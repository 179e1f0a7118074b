"""Reads memories from a Markdown page of a person's own, and writes such a page.

Each item is a memory, prefixed by the text of its parent item; tag and day default to those of its
heading.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time

from engram.memory.records import fields as record_fields
from engram.text import cut
from engram_host.transfer.formats import DEFAULT_TAG, Fields, Unknown, put_labels
from engram_host.wording import format_day

_ABOVE_CHARS = 400
"""Longest prefix from parent items; leaves most of a memory to its own text."""

_TAB = 4
_INDENT = 2

_HEADING = re.compile(r"(#+)(?: |$)(.*)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]+[.)]) (.*)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])|&#([0-9]{1,6});")
_FIRST_SURROGATE = 0xD800


@dataclass
class _Item:
    number: int
    indent: int
    above: "_Item | None"
    tag: str
    noon: datetime | None
    lines: list[str]
    is_above: bool = False
    prefix: str = ""

    tags: list[str] = field(default_factory=list)


_DAYS = (
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:T\S*|\b)", re.ASCII), "%Y-%m-%d"),
    (re.compile(r"\b[A-Z][a-z]{2,8} \d{1,2}(?:st|nd|rd|th)?, \d{4}\b", re.ASCII), "%b %d %Y"),
)
"""Days as headings name them, such as 2026-03-14 and March 14th, 2026."""

_AROUND = " .,:;()[]{}<>*_`\"'!?|~-–—·•（），：、"


class Headings:
    """Day and tag for the items below the headings that are open."""

    def __init__(self) -> None:
        self._open: list[tuple[int, date | None, str]] = [(0, None, DEFAULT_TAG)]

    @property
    def given(self) -> tuple[date | None, str]:
        return self._open[-1][1:]

    def read(self, level: int, heading: str) -> None:
        """Open a heading; it inherits from the open headings above its level."""
        while self._open[-1][0] >= level:
            self._open.pop()
        day, tag = self.given
        named, rest = find_day(heading)
        if len(rest) <= record_fields.TAG_LONGEST:
            tag = record_fields.tag(rest) or tag
        self._open.append((level, named or day, tag))


def find_day(text: str) -> tuple[date | None, str]:
    """Find a day in a text, and return it with the other words."""
    for pattern, form in _DAYS:
        if found := pattern.search(text):
            words = re.sub(r"(?<=\d)(?:st|nd|rd|th)|,", "", found[0]).partition("T")[0].split()
            named = " ".join([words[0][:3], *words[1:]]) if len(words) > 1 else words[0]
            try:
                day = datetime.strptime(named, form).date()
            except ValueError:
                continue
            rest = f"{text[: found.start()]} {text[found.end() :]}".split()
            return day, " ".join(word for word in rest if word.strip(_AROUND)).strip(_AROUND)
    return None, text


class MarkdownPage:
    """A page; its days are local to this computer."""

    def __init__(self, note_unknown: Unknown):
        self._note_unknown = note_unknown
        self.outside = 0

    def memories(self, lines: Iterator[bytes]) -> Iterator[tuple[int, Fields | str]]:
        for item in self._items(lines):
            if not isinstance(item, _Item):
                yield item
            elif found := self._memory(item):
                yield item.number, found

    def _items(self, lines: Iterator[bytes]) -> list["_Item | tuple[int, str]"]:
        found: list[_Item | tuple[int, str]] = []
        headings = Headings()
        item: _Item | None = None
        is_after_blank = False
        for number, data in enumerate(lines, 1):
            try:
                line = data.decode().rstrip("\r\n")
            except UnicodeDecodeError:
                found.append((number, "is not UTF-8."))
                continue
            plain = line.strip(" \t")
            if heading := _HEADING.fullmatch(line):
                item = None
                headings.read(len(heading[1]), heading[2].strip())
            elif match := _ITEM.fullmatch(line):
                item = _below(item, number, _columns(line), match[1], headings)
                found.append(item)
            elif item and plain and (line[:2] == "  " or line[:1] == "\t" or not is_after_blank):
                own = item.indent + _INDENT
                item.lines.append(line[own:] if line[:own] == " " * own else plain)
            elif plain:
                item = None
                self.outside += 1
            is_after_blank = not plain
        return found

    # --- an item

    def _memory(self, item: _Item) -> Fields | str:
        """Return the fields; "" if nested items carry the text."""
        memory = self._read(item)
        above = item.above.prefix if item.above else ""
        own = " ".join(memory["content"].split())
        if own:
            memory["content"] = above + memory["content"]
        if not item.is_above:
            return memory
        own = own.rstrip(":：") + ": " if own else ""
        is_whole = len(above + own) <= _ABOVE_CHARS
        item.prefix = above + own if is_whole else cut(own, _ABOVE_CHARS) + "…: "
        return "" if is_whole else memory

    def _read(self, item: _Item) -> Fields:
        lines, tags = item.lines, []
        while lines and (tag := re.search(r"(?:^| )#([^ ]+)$", lines[-1])):
            lines[-1] = lines[-1][: tag.start()]
            tags.insert(0, _unescape(tag[1]))
        memory: Fields = {"content": "\n".join("" if line == "\\" else _unescape(line) for line in lines)}
        if item.noon and (created := _unix(item.noon)):
            memory["created"] = created
        memory["source"] = "import"
        put_labels(memory, tags or (item.above.tags if item.above else []) or [item.tag], [], self._note_unknown)
        item.tags = memory["tags"]
        return memory


def _unix(local: datetime) -> int | None:
    """Return Unix seconds; None if out of range."""
    try:
        return int(local.timestamp())
    except (ValueError, OverflowError, OSError):
        return None


def _below(before: _Item | None, number: int, indent: int, text: str, headings: Headings) -> _Item:
    while before and indent < before.indent + _INDENT:
        before = before.above
    if before:
        before.is_above = True
    # Noon is on the same day in most time zones.
    day, tag = headings.given
    noon = datetime.combine(day, time(12)) if day else None
    return _Item(number, indent, before, tag, noon, [text])


def _columns(line: str) -> int:
    expanded = line.expandtabs(_TAB)
    return len(expanded) - len(expanded.lstrip(" "))


def _unescape(line: str) -> str:
    def character(match: re.Match[str]) -> str:
        code = int(match[2] or _FIRST_SURROGATE)
        return match[1] or (chr(code) if code < _FIRST_SURROGATE else match[0])

    return _ESCAPE.sub(character, line)


# --- writing

_MARK = re.compile(r"^([ \t]*[0-9]*)([-*+.)](?: |$))")
"""The begin of an item."""

_SPECIAL = re.compile(r"\\|&(?=#)|(?<![^ ])#")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|^[ \t](?=[ \t]*$)")
"""Controls of a terminal, and the first sign of a line that looks empty."""


def write_page(memories: Iterable[Fields]) -> Iterator[str]:
    """Yield lines for MarkdownPage: a heading for each day on this computer, an item for each memory."""
    day = ""
    for memory in sorted(memories, key=lambda fields: fields.get("created", 0)):
        created = format_day(memory.get("created"))
        if created != day:
            yield from ("", f"## {created}", "") if day else (f"## {created}", "")
            day = created
        tags = "".join(f" #{_escape(tag)}" for tag in memory.get("tags", ()))
        lines = [_MARK.sub(r"\1\\\2", _escape(line)) or "\\" for line in memory["content"].split("\n")]
        yield from ("- " + "\n  ".join(lines) + tags).split("\n")


def _escape(line: str) -> str:
    return _CONTROL.sub(lambda sign: f"&#{ord(sign[0])};", _SPECIAL.sub(r"\\\g<0>", line))
