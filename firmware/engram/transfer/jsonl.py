"""Memories as JSON Lines for export and import; docs/guides/moving.md describes the fields."""

from engram import text
from engram.compat import const
from engram.memory.records import fields, provenance

FORMAT = 1
_CONTROLS = const(((0x00, 0x09), (0x0B, 0x20), (0x7F, 0xA0), (0x202A, 0x202F), (0x2066, 0x206A)))


def head(epoch: int, at: int, count: int) -> str:
    told = ("engram_export", FORMAT), ("epoch", provenance.epoch_text(epoch)), ("at", at), ("records", count)
    return line(told)


def tail(count: int) -> str:
    return line((("engram_export_end", count),))


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
