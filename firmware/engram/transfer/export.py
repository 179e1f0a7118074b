"""Exports the memories that a caller may see, oldest first, so that replaced ones come first. It reads
the log in slices, as others may write, compact and restart it meanwhile.
"""

from engram.compat import const
from engram.memory import access
from engram.memory.records import provenance
from engram.store.types import LIVE, SUPERSEDED

_LINES_AT_ONCE = const(16)
_BYTES_AT_ONCE = const(4096)  # of those lines, from which on no more are read at once: bounds the heap


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
