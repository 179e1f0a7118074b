"""Memories as JSON Lines for export and import; docs/guides/moving.md describes the fields. An export is of what a
caller may see, oldest first, so that replaced ones come first. It reads the log in slices, as others may write,
compact and restart it meanwhile.
"""

from engram import text
from engram.memory import access
from engram.memory.records import fields, provenance
from engram.store.types import LIVE, SUPERSEDED

FORMAT = 1
_CONTROLS = const(((0x00, 0x09), (0x0B, 0x20), (0x7F, 0xA0), (0x202A, 0x202F), (0x2066, 0x206A)))
_LINES_AT_ONCE = const(16)
_BYTES_AT_ONCE = const(4096)  # of those lines, from which on no more are read at once: bounds the heap


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


def memories(records, caller):
    entries = records.entries
    seq = entries.oldest
    while seq < entries.next_seq:
        lines, seq = _slice(entries, seq)
        numbers = [entries.describe(line).number for line in lines]
        used = records.uses.usage_of_some(numbers)
        for number, line in zip(numbers, lines):
            if number < 0 or not access.may_see_line(caller, line):
                continue
            state, latest = entries.state_and_latest(number)
            if state not in (LIVE, SUPERSEDED) or latest["seq"] != line["seq"]:
                continue
            yield line, _follows(records, line, caller), state != LIVE, used.get(number, (0, 0))
        yield None


def _slice(entries, seq: int) -> tuple:
    lines = []
    last = entries.next_seq - 1
    size = 0
    for _, _, length, line in entries.log.scan_from(seq, last):
        lines.append(line)
        size += length
        if len(lines) == _LINES_AT_ONCE or size >= _BYTES_AT_ONCE:
            return lines, line["seq"] + 1
    return lines, last + 1


def _follows(records, line: dict, caller) -> str:
    if "supersedes" not in line:
        return ""
    state, older = records.entries.state_and_latest(int(line["supersedes"][1:]))
    if state not in (LIVE, SUPERSEDED) or not access.may_see_line(caller, older):
        return ""
    return provenance.origin_of(older, records.entries.epoch)
