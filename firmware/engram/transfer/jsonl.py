"""Memories as JSON Lines for export and import; docs/guides/moving.md describes the fields."""

from engram import log_line, text
from engram.compat import const
from engram.errors import ArgumentError
from engram.memory.records import fields, provenance
from engram.text.utf8 import valid

_FORMAT = const(1)
_BOM = const(b"\xef\xbb\xbf")
_CONTROLS = const(((0x00, 0x09), (0x0B, 0x20), (0x7F, 0xA0), (0x202A, 0x202F), (0x2066, 0x206A)))


def head(epoch: int, journal_epoch: int, at: int, count: int) -> str:
    return line(
        (
            ("engram_export", _FORMAT),
            ("epoch", provenance.epoch_text(epoch)),
            ("journal", provenance.epoch_text(journal_epoch)),
            ("at", at),
            ("records", count),
        )
    )


def tail(count: int) -> str:
    return line((("engram_export_end", count),))


def is_count(value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def whole(fields: dict, name: str) -> int:
    """Return a count, 0 if absent; ArgumentError."""
    value = fields.get(name, 0)
    if not is_count(value):
        raise ArgumentError(name, "must be a whole number from 0 on.")
    return value


class Reader:
    """A reader of an import's lines; `reader` names what is too old for later forms."""

    def __init__(self, reader: str):
        self._reader = reader
        self._lines = self._expected = 0
        self.head = {}
        """Fields of the export's first line, if any."""

    def read(self, line):
        """Return the fields to import, else a refusal or "" for nothing; ArgumentError."""
        if isinstance(line, int) or len(line) > log_line.MAX_LINE:
            self._lines += 1
            length = line if isinstance(line, int) else len(line)
            return "has %d bytes, at most %d fit." % (length, log_line.MAX_LINE)
        if not line.strip():
            return ""
        self._lines += 1
        try:
            found = text.loads(line.lstrip(_BOM))
        except ValueError:
            found = None
        if not isinstance(found, dict):
            return "is no JSON object." if valid(line) else "is not UTF-8."
        if "engram_export_end" in found:
            self._expected = whole(found, "engram_export_end")
            self._lines -= 1
            return ""
        if "engram_export" not in found:
            return found
        if found["engram_export"] != _FORMAT:
            problem = "is of a form that this %s does not know: update it first." % self._reader
            raise ArgumentError("engram_export", problem)
        self.head = found
        return ""

    def notes(self, is_over: bool):
        """Yield sentences on the import; omissions only if it is over."""
        if is_over and self.head and self._lines != self._expected:
            lines = "it had %d lines, %d were read" % (self._expected, self._lines)
            yield "the file is not whole: " + (lines if self._expected else "its last line is missing")


def pairs(epoch: int, record: dict, follows: str, is_past: bool, used: tuple):
    """Yield an exported record's (name, value) pairs; `used` is (uses, last day's moment)."""
    for name, value in fields.pairs(record):
        if name == "id":
            yield name, value
            yield "origin", provenance.origin_of(record, epoch)
        elif name == "supersedes":
            if follows:
                yield name, follows
        elif name not in ("origin", "past"):
            yield name, value
    if is_past:
        yield "superseded", True
    if used[0]:
        yield "uses", used[0]
        yield "used", used[1]


def line(fields) -> str:
    """Return a JSON line with terminal controls escaped."""
    shown = text.dumps_fields(fields)
    if text.printable(shown) != shown or "\r" in shown:
        for first, end in _CONTROLS:
            for code in range(first, end):
                shown = shown.replace(chr(code), "\\u%04x" % code)
    return shown
