"""Reads memories from a page of Markdown: one of a board's /export md, or a list that a person has written.

Each item of a list is a memory; markdown.py has the form. What has no tag or day takes that of its heading, and an item below
another one has that one's text before its own. `engram import` reads with it, too, so a page gives the same on a board and
through a computer.
"""

from engram.clock import day_name, day_number, zone_minutes
from engram.compat import const
from engram.errors import ArgumentError
from engram.log_line import MAX_LINE
from engram.memory import access
from engram.memory.records import fields as record_fields
from engram.memory.records import provenance
from engram.text import cut, utf8
from engram.transfer.headings import DEFAULT_TAG, NO_DAY, Headings

_ZONE = const(", times at ")
_MOST_LINES = const(1000)  # of one item
_PUNCTUATION = const("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_FIRST_SURROGATE = const(0xD800)
_INDENT = const(2)  # columns by which an item stands deeper than the one that it is below
_TAB = const(4)  # columns
_DEEPEST = const(16)  # items that one is below
_ABOVE_CHARS = const(400)  # of their texts: leaves most of a memory to its own
_NOON = const(43200)  # the time of what has only a day: the same day in most time zones


class MarkdownReader:
    """Reads a page line by line. note_unknown("tags") is called if some tags found no place; local_time(seconds) gives the Unix
    seconds of a moment in local time, counted as if it were UTC, or None: a page of a person does not name its time zone.
    """

    def __init__(self, note_unknown, local_time):
        self._note_unknown = note_unknown
        self._local_time = local_time
        self._zone = None
        """Minutes east of Greenwich, None until the page names them."""
        self._headings = Headings()
        self._item = None
        self._bytes = self._first = self._indent = 0
        self._above = []  # (indent, text, tags) of the items that the one that is read is below, the outermost first
        self._is_after_blank = False
        self.outside = 0
        """Lines that are in no list."""

    def read_line(self, number: int, line: str):
        """Read a line; None, or (its first line's number, the fields of a memory or why it is refused) of an item that ends."""
        line = line.rstrip("\r\n")
        plain = line.strip(" \t")
        text = _item_text(line)
        if line[:1] == "#" and line.lstrip("#")[:1] in (" ", ""):
            ended = self.end()
            heading = line.lstrip("#")
            self._read_heading(len(line) - len(heading), heading.strip())
            return ended
        if text is not None:
            indent = _columns(line)
            ended = self.end(indent)
            self._item, self._bytes, self._first, self._indent = [], 0, number, indent
            self._add(self._item, text)
            return ended
        if not plain:
            self._is_after_blank = True
        elif self._item is not None and line.startswith("  "):
            own = self._indent + _INDENT
            self._add(self._item, line[own:] if not line[:own].strip(" ") else plain)
        elif self._item is not None and (line[:1] == "\t" or not self._is_after_blank):
            self._add(self._item, plain)
        else:
            ended = self.end()
            self.outside += 1
            return ended
        return None

    def _add(self, item: list, line: str) -> None:
        self._is_after_blank = False
        self._bytes += len(line.encode()) + 1
        if self._bytes <= MAX_LINE and len(item) < _MOST_LINES:
            item.append(line)

    def end(self, indent: int = 0):
        """End the item that is read, as read_line() does; None if there is none. `indent` is that of the next one: an item with
        others below it is no memory of its own where its whole text stands in theirs.
        """
        item, self._item = self._item, None
        ended = None
        if item is not None:
            ended = self._first, self._ended_item(item, indent >= self._indent + _INDENT)
        while self._above and indent < self._above[-1][0] + _INDENT:
            self._above.pop()
        return ended if ended and ended[1] else None

    def _ended_item(self, item: list, is_above: bool):
        """The fields of a memory, or why it is refused; "" if it is said by the items below it."""
        if self._bytes > MAX_LINE or len(item) == _MOST_LINES:
            return "has %d bytes, which is too long for one memory." % self._bytes
        above, tags = self._above[-1][1:] if self._above else ("", ())
        try:
            memory = self._take_fields(item)
            has_fields = bool(memory)
            self._put_text(memory, item, tags)
        except ArgumentError as error:
            return str(error)
        own = " ".join(memory["content"].split())
        if own:
            memory["content"] = above + memory["content"]
        if not is_above or len(self._above) == _DEEPEST:
            return memory
        own = utf8.strip_end(own, (":", "：")) + ": " if own else ""
        is_whole = len(above + own) <= _ABOVE_CHARS
        shown = above + own if is_whole else cut(own, _ABOVE_CHARS) + "…: "
        self._above.append((self._indent, shown, memory["tags"]))
        return "" if is_whole and not has_fields else memory

    def _read_heading(self, level: int, heading: str) -> None:
        if _ZONE in heading:
            try:
                self._zone = zone_minutes(heading[-6:])
            except ValueError:
                pass
            heading = ""
        self._headings.read(level, heading)

    def _take_fields(self, item: list) -> dict:
        """The fields in an item's last line, which goes; none if that is a part of the text."""
        fields = None
        if len(item) > 1 and item[-1].startswith("(") and item[-1].endswith(")"):
            fields = self._listed_fields(item[-1][1:-1])
        if fields is None:
            return {}
        item.pop()
        return fields

    def _put_text(self, memory: dict, item: list, above_tags) -> None:
        """Give a memory the content and the labels of an item, and the day of its heading."""
        tags = []
        while item:
            rest, _, last = item[-1].rpartition(" ")
            if len(last) < 2 or not last.startswith("#"):
                break
            item[-1] = rest
            tags.insert(0, _unescaped(last[1:]))
        memory["content"] = "\n".join(["" if line == "\\" else _unescaped(line) for line in item])
        tags = tags or list(above_tags) or [self._headings.tag]
        day = self._headings.day
        created = self._unix(day * 86400 + _NOON) if day != NO_DAY and "created" not in memory else None
        if created:
            memory["created"] = created
        if "origin" not in memory:
            memory.setdefault("source", "import")
            if not put_labels(memory, tags, memory.get("keywords", [])):
                self._note_unknown("tags")
            return
        memory["tags"] = tags
        if "scope" not in memory:
            workspace = access.scope_of_tags([record_fields.tag(tag) for tag in tags])
            memory["scope"] = workspace or access.own_scope(access.OWNER)

    def _listed_fields(self, line: str):
        """The fields in a line in parentheses; None if it is a part of the text."""
        memory = {}
        for part in _split_at(line, ";"):
            name, value = self._field(part)
            if value is None:
                return None
            memory[name] = value
        return memory

    def _field(self, part: str) -> tuple:
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
            return "importance", _number(rest)
        if word in ("changed", "until"):
            return "updated" if word == "changed" else "expires", self._moment(rest)
        if word == "for" and rest:
            return "scope", _unescaped(rest)
        if word == "from":
            return "origin", provenance.check("from", _unescaped(rest)) if ":" in rest else None
        day = self._headings.day
        return "created", self._moment(part if rest or day == NO_DAY else day_name(day) + " " + part)

    def _moment(self, shown: str):
        """Unix seconds of a text such as "2026-09-21 14:13:20"; None if it is none."""
        time = shown[10:].encode()  # as bytes, since str.isdigit knows more digits than int() on CPython
        digits = time[1:3] + time[4:6] + time[7:]
        try:
            days = day_number(shown[:10])
        except ValueError:
            return None
        if len(time) != 9 or not digits.isdigit() or time[:1] + time[3:4] + time[6:7] != b" ::":
            return None
        hours, minutes, seconds = int(time[1:3]), int(time[4:6]), int(time[7:])
        if hours > 23 or minutes > 59 or seconds > 59:
            return None
        return self._unix(days * 86400 + hours * 3600 + minutes * 60 + seconds)

    def _unix(self, local: int):
        """Unix seconds of a moment in the page's time zone, None if it has no such moment."""
        return self._local_time(local) if self._zone is None else local - 60 * self._zone


def put_labels(memory: dict, tags: list, keywords: list) -> bool:
    """Set the tags and keywords of a memory; whether all found a place."""
    tags = [tag.strip() for tag in tags if tag.strip()]
    keywords = [word.strip() for word in keywords if word.strip()]
    first = [tag for tag in tags if len(tag) <= record_fields.TAG_LONGEST][: record_fields.MOST_TAGS]
    fitting = []
    for word in keywords + [tag for tag in tags if tag not in first]:
        if word not in fitting and len(word) <= record_fields.KEYWORD_LONGEST:
            fitting.append(word)
    memory["tags"] = first or [DEFAULT_TAG]
    memory["keywords"] = fitting[: record_fields.MOST_KEYWORDS]
    return all(word in first or word in memory["keywords"] for word in keywords + tags)


def _columns(line: str) -> int:
    """How far a line is indented."""
    columns = 0
    for sign in line[: len(line) - len(line.lstrip(" \t"))]:
        columns += 1 if sign == " " else _TAB - columns % _TAB
    return columns


def _item_text(line: str):
    """What stands behind the mark of a list's item; None if there is none."""
    line = line.lstrip(" \t")
    plain = line.lstrip("0123456789")
    marks = (". ", ") ") if len(plain) < len(line) else ("- ", "* ", "+ ")
    return plain[2:] if plain[:2] in marks else None


def _number(shown: str):
    whole, _, fraction = shown.partition(".")
    return float(shown) if (whole + fraction).encode().isdigit() else None


def _next(line: str, marks, at: int) -> int:
    """Where the first of some marks stands in a line from a place on, -1 if none does."""
    found = [place for place in [line.find(mark, at) for mark in marks] if place >= 0]
    return min(found) if found else -1


def _split_at(line: str, separator: str) -> list:
    """The parts between separators that have no backslash before them and end no code of a character."""
    parts = []
    start, at = 0, _next(line, ("\\", "&#", separator), 0)
    while at >= 0:
        if line.startswith(separator, at):
            parts.append(line[start:at].strip(" "))
            start = at = at + 1
        else:
            at = at + 2 if line.startswith("\\", at) else max(at, line.find(";", at, at + 8)) + 1
        at = _next(line, ("\\", "&#", separator), at)
    parts.append(line[start:].strip(" "))
    return parts


def _character(code: int) -> str:
    """As chr(), which MicroPython would keep in memory for ever: see text.utf8."""
    data = bytearray()
    utf8.put(data, code)
    return str(data, "utf-8")


def _unescaped(line: str) -> str:
    """A text without the backslashes and the codes that stand for characters."""
    parts = []
    start, at = 0, _next(line, ("\\", "&#"), 0)
    while at >= 0:
        parts.append(line[start:at])
        if line.startswith("\\", at):
            letter = line[at + 1 : at + 2]
            is_escaped = bool(letter) and letter in _PUNCTUATION
            parts.append(letter if is_escaped else "\\")
            start = at + 1 + is_escaped
        else:
            digits, end, _ = line[at + 2 : at + 8].partition(";")
            is_code = bool(end) and digits.encode().isdigit() and int(digits) < _FIRST_SURROGATE
            parts.append(_character(int(digits)) if is_code else "&#")
            start = at + 2 + (len(digits) + 1 if is_code else 0)
        at = _next(line, ("\\", "&#"), start)
    parts.append(line[start:])
    return "".join(parts)
