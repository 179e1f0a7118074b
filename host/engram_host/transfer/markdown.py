"""Reads memories from a Markdown page: a board's /export md, or a person's list.

Each item is a memory, prefixed by the text of its parent item; tag and day default to those of its
heading.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, timezone

from engram.errors import ArgumentError
from engram.memory import access
from engram.memory.records import fields as record_fields
from engram.memory.records import provenance
from engram.text import cut
from engram_host.transfer.formats import DEFAULT_TAG, Fields, Unknown, put_labels

_ABOVE_CHARS = 400
"""Longest prefix from parent items; leaves most of a memory to its own text."""

_TAB = 4
_INDENT = 2

_HEADING = re.compile(r"(#+)(?: |$)(.*)")
_ZONE = re.compile(r", times at ([+-])(\d\d):(\d\d)$", re.ASCII)
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
    """A page; times are local to this computer until it names a zone."""

    def __init__(self, note_unknown: Unknown):
        self._note_unknown = note_unknown
        self._zone: timezone | None = None
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
                self._read_heading(headings, len(heading[1]), heading[2].strip())
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

    def _read_heading(self, headings: Headings, level: int, heading: str) -> None:
        if zone := _ZONE.search(heading):
            offset = timedelta(hours=int(zone[2]), minutes=int(zone[3]))
            self._zone = timezone(-offset if zone[1] == "-" else offset)
            heading = ""
        headings.read(level, heading)

    # --- an item

    def _memory(self, item: _Item) -> Fields | str:
        """Return the fields or the reason of a refusal; "" if nested items carry the text."""
        try:
            memory = self._listed_fields(item)
            has_fields = bool(memory)
            self._put_text(memory, item)
        except ArgumentError as error:
            return str(error)
        above = item.above.prefix if item.above else ""
        own = " ".join(memory["content"].split())
        if own:
            memory["content"] = above + memory["content"]
        if not item.is_above:
            return memory
        own = own.rstrip(":：") + ": " if own else ""
        is_whole = len(above + own) <= _ABOVE_CHARS
        item.prefix = above + own if is_whole else cut(own, _ABOVE_CHARS) + "…: "
        return "" if is_whole and not has_fields else memory

    def _put_text(self, memory: Fields, item: _Item) -> None:
        lines, tags = item.lines, []
        while lines and (tag := re.search(r"(?:^| )#([^ ]+)$", lines[-1])):
            lines[-1] = lines[-1][: tag.start()]
            tags.insert(0, _unescape(tag[1]))
        memory["content"] = "\n".join("" if line == "\\" else _unescape(line) for line in lines)
        item.tags = tags = tags or (item.above.tags if item.above else []) or [item.tag]
        if item.noon and "created" not in memory and (created := self._unix(item.noon)):
            memory["created"] = created
        if "origin" not in memory:
            memory.setdefault("source", "import")
            put_labels(memory, tags, memory.get("keywords", []), self._note_unknown)
            item.tags = memory["tags"]
            return
        memory["tags"] = tags
        workspace = access.scope_of_tags([record_fields.tag(tag) for tag in tags])
        memory.setdefault("scope", workspace or access.own_scope(access.OWNER))

    def _listed_fields(self, item: _Item) -> Fields:
        last = item.lines[-1]
        if len(item.lines) == 1 or not (last.startswith("(") and last.endswith(")")):
            return {}
        found: Fields = dict(self._field(part, item.noon) for part in _split(last[1:-1], ";"))
        if not found or None in found.values():
            return {}
        item.lines.pop()
        return found

    def _field(self, part: str, noon: datetime | None) -> tuple[str, object]:
        word, _, rest = part.partition(" ")
        if part in record_fields.TYPES:
            return "type", part
        if part == "pinned":
            return "pinned", True
        if word == "keywords" and rest:
            return "keywords", [_unescape(keyword) for keyword in _split(rest, ",")]
        if word == "by":
            return "source", rest if rest in record_fields.SOURCES else None
        if word == "importance":
            return "importance", float(rest) if re.fullmatch(r"[0-9]*\.?[0-9]+", rest) else None
        if word in ("changed", "until"):
            return "updated" if word == "changed" else "expires", self._moment(rest)
        if word == "for" and rest:
            return "scope", _unescape(rest)
        if word == "from":
            return "origin", provenance.check("from", _unescape(rest)) if ":" in rest else None
        return "created", self._moment(part if rest or not noon else f"{noon:%Y-%m-%d} {part}")

    def _moment(self, shown: str) -> int | None:
        try:
            return self._unix(datetime.strptime(shown, "%Y-%m-%d %H:%M:%S"))
        except ValueError:
            return None

    def _unix(self, local: datetime) -> int | None:
        """Return Unix seconds in the page's zone; None if out of range."""
        try:
            return int(local.replace(tzinfo=self._zone).timestamp())
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


def _split(line: str, separator: str) -> list[str]:
    """Split at separators that are not escaped and end no character code."""
    return [part.strip(" ") for part in re.findall(rf"(?:\\.|&#[0-9]{{1,6}};|[^{separator}])+", line)]


def _unescape(line: str) -> str:
    def character(match: re.Match[str]) -> str:
        code = int(match[2] or _FIRST_SURROGATE)
        return match[1] or (chr(code) if code < _FIRST_SURROGATE else match[0])

    return _ESCAPE.sub(character, line)
