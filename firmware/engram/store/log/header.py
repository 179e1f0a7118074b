"""The header of a segment, its first line:

    {"format":2,"log":NAME,"epoch":EPOCH,"rewrites":COUNT,"segment":NUMBER,"first":SEQ,
     "sealed":[[number, first seq, bytes], ...],"state":{...},"crc":...}

EPOCH is a random number, new after a reset or a restore because seqs are then used again. COUNT says how often the log was
compacted, FIRST is the seq of the segment's first line, `sealed` are the segments before it, and `state` belongs to the log's
owner.
"""

from engram import files, log_line
from engram.compat import const

_FORMAT = const(2)


def line(log, state) -> bytes:
    """The header of a Log's live segment; `state` is the owner's, a dict or None."""
    fields = [("format", _FORMAT), ("log", log.name), ("epoch", log.epoch), ("rewrites", log.rewrites)]
    fields += [("segment", log.live), ("first", log.next_seq), ("sealed", log.sealed), ("state", state)]
    return log_line.encode(fields)


def read(log, file) -> bool:
    """Take what the header in a live segment's file says into the Log; False if there is none that can be read."""
    for _, found, ended in log.lines(file, 0):
        return log_line.is_whole(found, ended) and _apply(log, log_line.decode(found), len(found))
    return False


def _apply(log, header: dict, length: int) -> bool:
    if header.get("format") != _FORMAT or header.get("log") != log.name or "first" not in header:
        return False
    if files.size(log.sealed_path(header["segment"])) >= 0:
        # A sealed segment's content stands here: to seal it again would write over that segment.
        return False
    log.epoch = header["epoch"]
    log.rewrites = header.get("rewrites", 0)
    log.live = header["segment"]
    log.sealed = header["sealed"]
    log.first = log.next_seq = header["first"]
    log.state = header.get("state")
    log.start = length
    return True
