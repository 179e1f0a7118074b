"""Opens a log whose live segment is missing or has a damaged header: after a cut while it was sealed, or damage.

The segments are found by their files. What the live segment holds becomes a sealed one, and a new live segment begins.
"""

import os
import random

from engram import diag, files, log_line


def recover(segments, owner) -> None:
    """Find the segments of a Log and begin a live one; `owner` observes the lines after the last good header."""
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
    # The number went with the header: whoever copies this log has to compare all of it.
    segments.rewrites = random.getrandbits(29) if found else 0
    segments.begin(state)
    segments.state = state


def _numbers(segments) -> list:
    """The numbers of the sealed segments by their files, ascending."""
    prefix = segments.name + "."
    numbers = []
    for name in os.listdir(segments.folder):
        digits = name[len(prefix) : -6]
        if name.startswith(prefix) and name.endswith(".jsonl") and digits.isdigit() and len(digits) < 8:
            numbers.append(int(digits))
    numbers.sort()
    return numbers


def _read_segment(segments, number: int, path: str, found: list) -> bool:
    """Add ([number, first seq, bytes], its header or None) to `found`; False for a file with no line of this log."""
    header = None
    first = 0
    with open(path, "rb") as file:
        for _, line, ended in segments.lines(file, 0):
            if log_line.is_whole(line, ended):
                values = log_line.decode(line)
                if "log" in values:
                    if values["log"] != segments.name:
                        break
                    header = values
                    if values["segment"] < number:
                        # Another segment's content stands here.
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
    """The owner's state after all lines that are there; sets the log's next seq."""
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
