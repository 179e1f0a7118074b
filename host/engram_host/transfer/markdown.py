"""Memories in a page of Markdown: a board's `/export md`, or any list that a person has written.

engram.transfer.markdown has the form. What has no tag takes that of its heading.
"""

import contextlib
import re
from datetime import datetime, timedelta, timezone
from typing import Any

from engram.clock import day_number, zone_minutes
from engram.errors import ArgumentError
from engram.log_line import MAX_LINE
from engram.memory import access
from engram.memory.records import fields as record_fields
from engram.memory.records import provenance
from engram_host.transfer.foreign import Fields, Unknown
from engram_host.transfer.labels import DEFAULT_TAG, put_labels

_ZONE = ", times at "
_MARK = re.compile(r"[ \t]*(?:[0-9]+[.)]|[-*+]) ")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])|&#([0-9]{1,5});")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII)
_NUMBER = re.compile(r"[0-9]+\.?[0-9]*|\.[0-9]+")
_MOST_LINES = 1000
"""Of one item."""

Ended = tuple[int, Fields | str] | None
"""The number of an item's first line, and its memory or why it is refused."""


class MarkdownReader:
    """Reads a page line by line."""

    def __init__(self, note_unknown: Unknown):
        self._note_unknown = note_unknown
        self._zone: int | None = None
        """Minutes east of Greenwich; None until the page names them: this computer's time zone."""
        self._day = ""
        self._tag = DEFAULT_TAG
        self._item: list[str] | None = None
        self._bytes = self._first = 0
        self._is_after_blank = False
        self.outside = 0
        """Lines that are in no list."""

    def read_line(self, number: int, line: str) -> Ended:
        """Read a line; the item that ends before it, if one does."""
        line = line.rstrip("\r\n")
        plain = line.strip(" \t")
        mark = _MARK.match(line)
        if line[:1] == "#" and line.lstrip("#")[:1] in (" ", ""):
            ended = self.end()
            self._read_heading(line.lstrip("#").strip())
            return ended
        if mark:
            ended = self.end()
            self._item, self._bytes, self._first = [], 0, number
            self._add(self._item, line[mark.end() :])
            return ended
        if not plain:
            self._is_after_blank = True
        elif self._item is not None and line.startswith("  "):
            self._add(self._item, line[2:])
        elif self._item is not None and (line[0] == "\t" or not self._is_after_blank):
            self._add(self._item, plain)
        else:
            ended = self.end()
            self.outside += 1
            return ended
        return None

    def _add(self, item: list[str], line: str) -> None:
        self._is_after_blank = False
        self._bytes += len(line.encode()) + 1
        if self._bytes <= MAX_LINE and len(item) < _MOST_LINES:
            item.append(line)

    def end(self) -> Ended:
        """End the item that is read, if there is one."""
        item, self._item = self._item, None
        if item is None:
            return None
        if self._bytes > MAX_LINE or len(item) == _MOST_LINES:
            return self._first, f"has {self._bytes} bytes, which is too long for one memory."
        try:
            return self._first, self._memory(item)
        except ArgumentError as error:
            return self._first, str(error)

    def _read_heading(self, heading: str) -> None:
        self._day, self._tag = "", DEFAULT_TAG
        if _ZONE in heading:
            with contextlib.suppress(ValueError):
                self._zone = zone_minutes(heading[-6:])
        elif _is_day(heading):
            self._day = heading
        elif len(heading) <= record_fields.TAG_LONGEST:
            self._tag = record_fields.tag(heading) or DEFAULT_TAG

    def _memory(self, item: list[str]) -> Fields:
        listed = None
        if len(item) > 1 and item[-1].startswith("(") and item[-1].endswith(")"):
            listed = self._listed_fields(item[-1][1:-1])
        memory: Fields = listed or {}
        if listed is not None:
            item.pop()
        tags: list[str] = []
        while item and len(last := item[-1].rpartition(" ")[2]) > 1 and last[0] == "#":
            item[-1] = item[-1].rpartition(" ")[0]
            tags.insert(0, _unescaped(last[1:]))
        memory["content"] = "\n".join("" if line == "\\" else _unescaped(line) for line in item)
        tags = tags or [self._tag]
        if "origin" not in memory:
            memory.setdefault("source", "import")
            if not put_labels(memory, tags, memory.get("keywords", [])):
                self._note_unknown("tags")
            return memory
        memory["tags"] = tags
        if "scope" not in memory:
            workspace = access.scope_of_tags([record_fields.tag(tag) for tag in tags])
            memory["scope"] = workspace or access.own_scope(access.OWNER)
        return memory

    def _listed_fields(self, line: str) -> Fields | None:
        """The fields in a line in parentheses; None if it is a part of the text."""
        memory: Fields = {}
        for part in _split(line, ";"):
            name, value = self._field(part)
            if value is None:
                return None
            memory[name] = value
        return memory

    def _field(self, part: str) -> tuple[str, Any]:
        """(name, value) of a field; the value is None if it is none."""
        word, _, rest = part.partition(" ")
        if part in record_fields.TYPES:
            return "type", part
        if part == "pinned":
            return "pinned", True
        if word == "keywords" and rest:
            return "keywords", [_unescaped(keyword) for keyword in _split(rest, ",")]
        if word == "by":
            return "source", rest if rest in record_fields.SOURCES else None
        if word == "importance":
            return "importance", float(rest) if _NUMBER.fullmatch(rest) else None
        if word in ("changed", "until"):
            return "updated" if word == "changed" else "expires", self._moment(rest)
        if word == "for" and rest:
            return "scope", _unescaped(rest)
        if word == "from":
            return "origin", provenance.check("from", _unescaped(rest)) if ":" in rest else None
        return "created", self._moment(part if rest else f"{self._day} {part}")

    def _moment(self, shown: str) -> int | None:
        """Unix seconds of a text such as "2026-09-21 14:13:20"; None if it is none."""
        if not _MOMENT.fullmatch(shown):
            return None
        zone = None if self._zone is None else timezone(timedelta(minutes=self._zone))
        try:
            return int(datetime.fromisoformat(shown).replace(tzinfo=zone).timestamp())
        except (ValueError, OverflowError, OSError):
            return None


def _is_day(name: str) -> bool:
    try:
        return day_number(name) >= 0
    except ValueError:
        return False


def _split(line: str, separator: str) -> list[str]:
    """The parts between separators that have no backslash before them and end no code of a character."""
    parts: list[str] = []
    start = at = 0
    while at < len(line):
        if line[at] == "\\":
            at += 1
        elif line.startswith("&#", at):
            at = max(at, line.find(";", at, at + 8))
        elif line[at] == separator:
            parts.append(line[start:at].strip(" "))
            start = at + 1
        at += 1
    parts.append(line[start:].strip(" "))
    return parts


def _unescaped(line: str) -> str:
    """A text without the backslashes and the codes that stand for characters."""
    return _ESCAPE.sub(lambda found: found[1] or (chr(int(found[2])) if int(found[2]) < 0xD800 else found[0]), line)
