"""The header of a segment, its first line:

    {"format":2,"log":NAME,"epoch":EPOCH,"rewrites":COUNT,"segment":NUMBER,"first":SEQ,
     "sealed":[[number, first seq, bytes], ...],"state":{...},"crc":...}

EPOCH is a random number, new after a reset or a restore because seqs are then used again. COUNT says how often the log was
compacted, FIRST is the seq of the segment's first line, `sealed` are the segments before it, and `state` belongs to the log's
owner.

A log whose live segment is missing, or has a damaged header after a cut or damage, is recovered: its segments are found by
their files, what the live one holds becomes a sealed one, and a new live one begins.
"""

import os
import random

from engram import diag, files, log_line

_FORMAT = const(2)


def line(log, state) -> bytes:
    """Return the header of a Log's live segment; `state` is the owner's dict or None."""
    fields = [("format", _FORMAT), ("log", log.name), ("epoch", log.epoch), ("rewrites", log.rewrites)]
    fields += [("segment", log.live), ("first", log.next_seq), ("sealed", log.sealed), ("state", state)]
    return log_line.encode(fields)


def read(log, file) -> bool:
    """Read a live segment's header into the Log; False if it is unreadable."""
    for _, found, ended in log_line.lines(file):
        return log_line.is_whole(found, ended) and _apply(log, log_line.decode(found), len(found))
    return False


def _apply(log, header: dict, length: int) -> bool:
    if header.get("format") != _FORMAT or header.get("log") != log.name or "first" not in header:
        return False
    if files.size(log.sealed_path(header["segment"])) >= 0:
        # This is a sealed segment's content: sealing it again would overwrite that segment.
        return False
    log.epoch = header["epoch"]
    log.rewrites = header.get("rewrites", 0)
    log.live = header["segment"]
    log.sealed = header["sealed"]
    log.first = log.next_seq = header["first"]
    log.state = header.get("state")
    log.start = length
    return True


# --- recovery


def recover(segments, owner) -> None:
    """Find a Log's segments and begin a live one; `owner` observes lines after the last header."""
    segments.reset()
    found = []
    for number in _numbers(segments):
        _read_segment(segments, number, segments.sealed_path(number), found)
    segments.live = found[-1][0][0] + 1 if found else 1
    live = segments.path(segments.live)
    if files.size(live) > 0:
        segments.repair.mend(live)
        path = segments.sealed_path(segments.live)
        os.rename(live, path)
        if _read_segment(segments, segments.live, path, found):
            segments.live += 1
        else:
            files.discard(path)
    segments.sealed = [segment for segment, _ in found]
    state = _state(segments, owner, found)
    # The number was lost with the header: copies of this log have to compare all of it.
    segments.rewrites = random.getrandbits(29) if found else 0
    segments.begin(state)
    segments.state = state


def _numbers(segments) -> list:
    prefix = segments.name + "."
    numbers = []
    for name in os.listdir(segments.folder):
        digits = name[len(prefix) : -6]
        if name.startswith(prefix) and name.endswith(".jsonl") and digits.isdigit() and len(digits) < 8:
            numbers.append(int(digits))
    numbers.sort()
    return numbers


def _read_segment(segments, number: int, path: str, found: list) -> bool:
    """Append ([number, first seq, bytes], header or None) to `found`; False for a foreign file."""
    header = None
    first = 0
    with open(path, "rb") as file:
        for _, line, ended in log_line.lines(file):
            if log_line.is_whole(line, ended):
                values = log_line.decode(line)
                if "log" in values:
                    if values["log"] != segments.name:
                        break
                    header = values
                    if values["segment"] < number:
                        # This is another segment's content.
                        break
                first = values.get("first") or values.get("seq", 0)
                break
    if not first or (found and first <= found[-1][0][1]):
        diag.error("store", path + " is no segment of this log and is passed over.")
        return False
    segments.epoch = header["epoch"] if header else segments.epoch
    found.append(([number, first, files.size(path)], header))
    return True


def _state(segments, owner, found: list):
    """Return the owner's state after all lines, and set the log's next seq."""
    start = 0
    for at, (_, header) in enumerate(found):
        if header and "state" in header:
            start = at
    if owner:
        owner.restore(found[start][1].get("state") if found and found[start][1] else None)
    for segment, _ in found[start:]:
        segments.next_seq = max(segments.next_seq, segment[1])
        for _, _, _, values in segments.scan(segment[0], 0):
            segments.next_seq = max(segments.next_seq, values["seq"] + 1)
            if owner:
                owner.observe(values)
    segments.first = segments.next_seq
    return owner.state() if owner else None
