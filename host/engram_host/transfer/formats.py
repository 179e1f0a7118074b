"""Memories of other programs, and in a page of Markdown, in the form that a board imports.

engram.transfer.markdown has the form. What has no tag takes that of its heading.
"""

import contextlib
import re
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

from engram.clock import day_number, zone_minutes
from engram.errors import ArgumentError
from engram.log_line import MAX_LINE
from engram.memory import access
from engram.memory.records import fields as record_fields
from engram.memory.records import provenance
from engram.transfer.jsonl import whole

DEFAULT_TAG = "imported"


def put_labels(memory: dict[str, Any], tags: list[str], keywords: list[str]) -> bool:
    """Set the tags and keywords of a memory; whether all found a place."""
    tags = [tag.strip() for tag in tags if tag.strip()]
    keywords = [word.strip() for word in keywords if word.strip()]
    first = [tag for tag in tags if len(tag) <= record_fields.TAG_LONGEST][: record_fields.MOST_TAGS]
    words = list(dict.fromkeys(keywords + [tag for tag in tags if tag not in first]))
    fitting = [word for word in words if len(word) <= record_fields.KEYWORD_LONGEST][: record_fields.MOST_KEYWORDS]
    memory["tags"] = first or [DEFAULT_TAG]
    memory["keywords"] = fitting
    return all(word in first or word in fitting for word in keywords + tags)


# --- other programs


Fields = dict[str, Any]
Unknown = Callable[[str], None]

_ESP_CLAW_ONLY = ("summary_ids", "created_at", "deleted")
_ESP_CLAW = (
    *("id", "source", "content", "tags", "keywords", "created_at", "updated_at", "access_count", "deleted"),
    *("summary_ids", "summary_labels"),
)
_SEPARATORS = ";/|"
"""Beside the comma: ESP-Claw takes them all."""
_COCLAW_ONLY = ("createdAt", "lastUsedAt")
_COCLAW = ("id", "content", "type", "tags", "importance", "createdAt", "lastUsedAt", "source", "pinned")
_COCLAW_SOURCES = {"auto-extracted": "auto_llm", "manual": "manual", "distilled": "distilled"}
_FIRST_KNOWN = 1577836800
"""2020-01-01: an earlier moment comes from a clock that nobody had set."""


def convert_memory(fields: Fields, note_unknown: Unknown) -> Fields:
    """A memory in the board's own form, whatever program wrote it; ArgumentError.

    `note_unknown(name)` is called for each field that is not known, and for "tags" if some found no place.
    """
    if "origin" in fields:
        return fields
    if "content" not in fields and not fields.get("deleted"):
        raise ArgumentError("content", "is missing.")
    if any(name in fields for name in _ESP_CLAW_ONLY):
        return _esp_claw(fields, note_unknown)
    if any(name in fields for name in _COCLAW_ONLY):
        return _coclaw(fields, note_unknown)
    return fields


def _esp_claw(fields: Fields, note_unknown: Unknown) -> Fields:
    """A line of ESP-Claw's log: tags and keywords with commas between, a tombstone says "deleted"."""
    _note_unknown(fields, _ESP_CLAW, note_unknown)
    origin = _origin("esp-claw:", fields)
    if fields.get("deleted") is True:
        if not origin:
            raise ArgumentError("id", "is missing, so it is not known what was deleted.")
        return {**origin, "deleted": True}
    memory: Fields = {"content": fields.get("content")}
    if fields.get("source") in record_fields.SOURCES:
        memory["source"] = fields["source"]
    tags = _split(fields, "tags") or _texts(fields, "summary_labels")
    _put_labels(memory, tags, _split(fields, "keywords"), note_unknown)
    for name, theirs in (("created", "created_at"), ("updated", "updated_at")):
        _put_moment(memory, name, _count(fields, theirs))
    uses = _count(fields, "access_count")
    return _finish_memory(memory, origin, uses, memory.get("updated") or memory.get("created") or 0)


def _coclaw(fields: Fields, note_unknown: Unknown) -> Fields:
    """An entry of CoClaw's export: up to twenty tags, and times in milliseconds."""
    _note_unknown(fields, _COCLAW, note_unknown)
    memory = {name: fields[name] for name in ("content", "type", "importance", "pinned") if name in fields}
    source = fields.get("source")
    if isinstance(source, str) and source in _COCLAW_SOURCES:
        memory["source"] = _COCLAW_SOURCES[source]
    _put_labels(memory, _texts(fields, "tags"), [], note_unknown)
    _put_moment(memory, "created", _count(fields, "createdAt") // 1000)
    used = _count(fields, "lastUsedAt") // 1000
    # It does not count: what was used after it was made was so once at least.
    return _finish_memory(memory, _origin("coclaw:", fields), int(used > memory.get("created", used)), used)


def _finish_memory(memory: Fields, origin: Fields, uses: int, used: int) -> Fields:
    memory.setdefault("source", "import")
    if memory.get("updated") == memory.get("created"):
        memory.pop("updated", None)
    for tag in [tag for tag in memory["tags"] if tag.startswith("ws:") and len(tag) > 3]:
        # A tag by which such programs keep the memories of a workspace apart.
        memory["scope"] = tag
        if len(memory["tags"]) > 1:
            memory["tags"].remove(tag)
    if uses and used:
        memory |= {"uses": uses, "used": used}
    # What such a program has no field for, a pin or an importance, stays as it is on the board.
    return {**origin, **memory, "partial": True}


def _put_labels(memory: Fields, tags: list[str], keywords: list[str], note_unknown: Unknown) -> None:
    if not put_labels(memory, tags, keywords):
        note_unknown("tags")


def _note_unknown(fields: Fields, known: tuple[str, ...], note_unknown: Unknown) -> None:
    for name in fields:
        if name not in known:
            note_unknown(name)


def _origin(source: str, fields: Fields) -> Fields:
    ref = fields.get("id")
    return {"origin": provenance.check("id", source + ref)} if isinstance(ref, str) and ref else {}


def _count(fields: Fields, name: str) -> int:
    return 0 if fields.get(name) is None else whole(fields, name)


def _put_moment(memory: Fields, name: str, at: int) -> None:
    if at >= _FIRST_KNOWN:
        memory[name] = at


def _split(fields: Fields, name: str) -> list[str]:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise ArgumentError(name, "must be a text with commas between.")
    for separator in _SEPARATORS:
        value = value.replace(separator, ",")
    return [part for part in value.split(",") if part.strip()]


def _texts(fields: Fields, name: str) -> list[str]:
    value = fields.get(name) or []
    if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
        raise ArgumentError(name, "must be a list of texts.")
    return value


# --- Markdown


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
        for part in _split_at(line, ";"):
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
            return "keywords", [_unescaped(keyword) for keyword in _split_at(rest, ",")]
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


def _split_at(line: str, separator: str) -> list[str]:
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
