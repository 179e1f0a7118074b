"""Memories as Markdown that people read and write: a list item each, both ways.

    # Memories, times at +01:00

    ## 2026-09-21

    - The bike is green #bike #colour
      (14:13:20; importance 0.8; pinned; from 1a2b3c4d:m12)

The tags stand at the end, and the line in parentheses has all else that is not as usual. Where a text has what would be
taken for something else, a backslash stands before it. Any list that a person writes is read as well: what has no tag
takes that of its heading.
"""

from engram import text
from engram.clock import day_number, zone_minutes
from engram.compat import const
from engram.errors import ArgumentError
from engram.log_line import MAX_LINE
from engram.memory import access
from engram.memory.records import fields as record_fields
from engram.memory.records import provenance
from engram.transfer.item import DEFAULT_TAG, item, put_labels

_ZONE = ", times at "
_CONTROLS = ((0x00, 0x09), (0x0B, 0x20), (0x7F, 0xA0), (0x202A, 0x202F), (0x2066, 0x206A))
_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
_DAY = const(86400)
_MOST_LINES = const(1000)  # of one item: bounds the heap beside the bytes of its texts


# --- writing


def title(clock) -> str:
    """The first line of a page."""
    minutes = clock.zone_minutes
    return "# Memories%s%s%02d:%02d" % (_ZONE, "-" if minutes < 0 else "+", abs(minutes) // 60, abs(minutes) % 60)


def lines(record: dict, clock, own_scope: str, epoch: int):
    """Yield the lines of a record's item."""
    tags = "".join([" #" + _escaped(tag) for tag in record.get("tags", ())])
    mark = "- "
    content = record["content"].split("\n")
    for number, each in enumerate(content):
        yield mark + (_content_line(each, number > 0) + (tags if number == len(content) - 1 else ""))
        mark = "  "
    told = [_second(clock, record["created"])[11:]]
    for name, word in (("type", "%s"), ("importance", "importance %s"), ("source", "by %s")):
        if name in record:
            told.append(word % record[name])
    if record.get("pinned"):
        told.append("pinned")
    if record.get("keywords"):
        told.append("keywords " + ", ".join([_escaped(word, ",;") for word in record["keywords"]]))
    for name, word in (("updated", "changed "), ("expires", "until ")):
        if name in record:
            told.append(word + _second(clock, record[name]))
    if record.get("scope", access.ALL) != own_scope:
        told.append("for " + _escaped(record.get("scope", access.ALL), ";"))
    told.append("from " + _escaped(provenance.origin_of(record, epoch), ";"))
    yield "  (" + "; ".join(told) + ")"


def _second(clock, at: int) -> str:
    return clock.minute(at) + ":%02d" % (at % 60)


def _content_line(line: str, is_later: bool) -> str:
    """A line of a content so that it is read as one."""
    if not line:
        return "\\"
    shown = _escaped(line).replace(" #", " \\#")
    if shown[0] == "#":
        shown = "\\" + shown
    if is_later and _after_mark(shown):
        at = len(shown) - len(shown.lstrip(" \t"))
        while shown[at] in "0123456789":
            at += 1
        shown = shown[:at] + "\\" + shown[at:]
    return shown


def _escaped(value: str, more: str = "") -> str:
    shown = value.replace("\\", "\\\\").replace("&#", "\\&#")
    for letter in more:
        shown = shown.replace(letter, "\\" + letter)
    if text.printable(shown) != shown or "\n" in shown or "\r" in shown:
        for first, end in _CONTROLS:
            for code in range(first, end):
                shown = shown.replace(chr(code), "&#%d;" % code)
    return shown.replace("\n", "&#10;")


# --- reading


class Reader:
    """Reads a page line by line; `clock` tells the time zone where the page does not."""

    def __init__(self, clock, left_out):
        self._zone = clock.zone_minutes
        self._left_out = left_out
        self._day = ""
        self._tag = DEFAULT_TAG
        self._item = None  # the lines of the item that is read
        self._bytes = 0
        self._first = 0
        self._is_after_blank = False
        self.outside = 0
        """Lines that are in no list."""

    def line(self, number: int, line: str):
        """Take a line; (number of its first line, Item or why it is refused) of the item that it ends, or None."""
        line = line.rstrip("\r\n")
        plain = line.strip(" \t")
        start = _after_mark(line)
        if line[:1] == "#" and line.lstrip("#")[:1] in (" ", ""):
            ended = self.end()
            self._heading(line.lstrip("#").strip())
            return ended
        if start:
            ended = self.end()
            self._item, self._bytes, self._first = [], 0, number
            self._add(line[start:])
            return ended
        if not plain:
            self._is_after_blank = True
        elif self._item is not None and line[:2] == "  ":
            self._add(line[2:])
        elif self._item is not None and (line[0] == "\t" or not self._is_after_blank):
            self._add(plain)
        else:
            ended = self.end()
            self.outside += 1
            return ended
        return None

    def _add(self, line: str) -> None:
        self._is_after_blank = False
        self._bytes += len(text.encode(line)) + 1
        if self._bytes <= MAX_LINE and len(self._item or ()) < _MOST_LINES:
            self._item.append(line)

    def end(self):
        """The item that was read last, as line() gives it; None if there is none."""
        found, self._item = self._item, None
        if found is None:
            return None
        if self._bytes > MAX_LINE or len(found) == _MOST_LINES:
            return self._first, "has %d bytes, which is too long for one memory." % self._bytes
        try:
            return self._first, self._read(found)
        except ArgumentError as error:
            return self._first, str(error)

    def _heading(self, heading: str) -> None:
        if _ZONE in heading:
            try:
                self._zone = zone_minutes(heading[-6:])
            except ValueError:
                pass
        self._day, self._tag = "", DEFAULT_TAG
        if _day(heading) >= 0:
            self._day = heading
        elif heading and _ZONE not in heading and len(heading) <= 32:
            self._tag = record_fields.tag(heading) or DEFAULT_TAG

    def _read(self, found: list):
        values = {}
        told = None
        if len(found) > 1 and found[-1][:1] == "(" and found[-1][-1:] == ")":
            told = self._told(found[-1][1:-1])
        if told is not None:
            found.pop()
            values.update(told)
        tags = []
        while found and found[-1].rpartition(" ")[2][:1] == "#" and len(found[-1].rpartition(" ")[2]) > 1:
            found[-1], _, tag = found[-1].rpartition(" ")
            tags.insert(0, _plain(tag[1:]))
        values["content"] = "\n".join(["" if line == "\\" else _plain(line) for line in found])
        if told is not None and "origin" in told:
            values["tags"] = tags or [self._tag]
            return item(values, True, values.pop("origin"))
        if put_labels(values, tags or [self._tag], values.get("keywords", [])):
            self._left_out("tags")
        values.setdefault("source", "import")
        return item(values)

    def _told(self, line: str):
        """The fields that a line in parentheses tells of; None if it is a part of the text."""
        values = {}
        for part in _split(line, ";"):
            name, value = self._field(part)
            if value is None:
                return None
            values[name] = value
        return values

    def _field(self, part: str) -> tuple:
        """(name, value) of a field that is told, the value is None if it is none."""
        word, _, rest = part.partition(" ")
        if part in record_fields.TYPES:
            return "type", part
        if part == "pinned":
            return "pinned", True
        if word == "keywords" and rest:
            return "keywords", [_plain(keyword) for keyword in _split(rest, ",")]
        if word == "by":
            return "source", rest if rest in record_fields.SOURCES else None
        for name, known in (("importance", "importance"), ("updated", "changed"), ("expires", "until")):
            if word == known:
                return name, _number(rest) if name == "importance" else self._moment(rest)
        if word == "for" and rest:
            return "scope", _plain(rest)
        if word == "from":
            return "origin", provenance.check("from", _plain(rest)) if ":" in rest else None
        return "created", self._moment(part if rest else self._day + " " + part)

    def _moment(self, told: str):
        """Unix seconds of a text such as "2026-09-21 14:13:20" in the page's time zone; None if it is none."""
        day, _, time = told.partition(" ")
        days = _day(day)
        parts = time.split(":")
        digits = [text.encode(part) for part in parts]
        if days < 0 or len(parts) != 3 or [part for part in digits if len(part) != 2 or not part.isdigit()]:
            return None
        hours, minutes, seconds = [int(part) for part in parts]
        return days * _DAY + hours * 3600 + (minutes - self._zone) * 60 + seconds


def _after_mark(line: str) -> int:
    """Where the text of a list's item begins, 0 if the line begins none."""
    at = len(line) - len(line.lstrip(" \t"))
    start = at
    while line[at : at + 1] and line[at] in "0123456789":
        at += 1
    marks = ".)" if at > start else "-*+"
    if line[at : at + 1] and line[at] in marks and line[at + 1 : at + 2] == " ":
        return at + 2
    return 0


def _day(name: str) -> int:
    try:
        return day_number(name)
    except ValueError:
        return -1


def _number(told: str):
    for letter in told:
        if letter not in "0123456789.":
            return None
    try:
        return float(told)
    except ValueError:
        return None


def _split(line: str, separator: str) -> list:
    """The parts of a line between separators that have no backslash before them and end no code of a character."""
    parts = []
    start = at = 0
    while at < len(line):
        if line[at] == "\\":
            at += 1
        elif line[at : at + 2] == "&#":
            at = max(at, line.find(";", at, at + 8))
        elif line[at] == separator:
            parts.append(line[start:at].strip(" "))
            start = at + 1
        at += 1
    parts.append(line[start:].strip(" "))
    return parts


def _plain(line: str) -> str:
    """A text without the backslashes and the codes that stand for characters."""
    if "\\" not in line and "&#" not in line:
        return line
    out = []
    at = 0
    while at < len(line):
        letter = line[at]
        if letter == "\\" and line[at + 1 : at + 2] and line[at + 1] in _PUNCTUATION:
            at += 1
            letter = line[at]
        elif letter == "&" and line[at + 1 : at + 2] == "#":
            end = line.find(";", at, at + 8)
            digits = text.encode(line[at + 2 : end]) if end > 0 else b""
            if digits.isdigit() and int(digits) < 0xD800:
                letter = chr(int(digits))
                at = end
        out.append(letter)
        at += 1
    return "".join(out)
