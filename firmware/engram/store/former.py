"""Reads pieces of the index in the form before (EGX5), until they are made anew.

words    a varint for each row: its distance from the row before times 8, plus the level of the word's weight
runs     varints for each session's run: session minus the one before, rows minus 1
"""

from engram.store import codec


def postings(parts):
    """Yield a word's postings as codec.put_posting() makes them."""
    value = shift = 0
    for part in parts:
        digits = bytearray()
        for byte in part:
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte <= 0x7F:
                codec.put_posting(digits, value >> 3, value & 7)
                value = shift = 0
        yield digits


def each_run(parts, session: int, row: int):
    """Yield (session, row after the last) of each run; the first one is of a session and begins with a row."""
    step = -1
    value = shift = 0
    is_first = True
    for part in parts:
        for byte in part:
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte > 0x7F:
                continue
            if step < 0:
                step = value
            else:
                if not is_first:
                    session += step
                row += value + 1
                step, is_first = -1, False
                yield session, row
            value = shift = 0
