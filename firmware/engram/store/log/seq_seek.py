"""Finds a segment's line by seq with a few small reads, as seqs rise about evenly with the offset."""

from engram import files, log_line

_BUFFER = const(512)
_BACKWARDS = const(2048)  # bytes read at once when lines are read backwards
_LINE = const(256)  # bytes that hold many lines
_MORE = const(128)  # bytes that are read of a longer line at once: no large part of the heap is needed in one piece
_SEQ = const(24)  # bytes that hold how a line begins, {"seq":123456789,
_COMMA = const(0x2C)
_PROBES = const(24)  # after that the rest is read through


def find(file, seq: int, hint: int, bounds):
    """Return a line as a dict near `hint`, within `bounds`; None if missing or damaged."""
    if hint >= 0:
        line = line_at(file, hint)
        if line is not None and line["seq"] == seq:
            return line
    for is_careful in (False, True):
        # It is a little before the hint if earlier lines have left.
        offset, here = place(file, seq, *bounds, is_careful=is_careful, hint=hint)
        line = line_at(file, offset) if here == seq else None
        if line is not None:
            return line
    return None


def place(
    file, seq: int, low: int, low_seq: int, high: int, high_seq: int, is_careful: bool = True, hint: int = -1
) -> tuple:
    """Return (offset, seq) of the first line from `seq` on; damage misleads it without care."""
    end, end_seq = high, high_seq  # where a line begins, which `high` need not be
    for probe in range(_PROBES):
        if high - low <= _BUFFER:
            break
        guess = low + (high - low) * (seq - low_seq) // max(1, high_seq - low_seq) - (_BUFFER >> 1)
        if hint >= 0 and not probe:
            guess = hint + _SEQ - _BUFFER
        if probe & 1 and probe > 3:
            guess = (low + high) >> 1  # seqs are uneven here: halves are sure
        guess = max(low, min(guess, high - 1))
        at, here = _line_from(file, guess, low, high, seq, is_careful)
        if here == seq:
            return at, here
        if here > seq and guess > low:
            high, high_seq = guess, here
            if here < log_line.MAX_SEQ:
                end, end_seq = at, here
        elif 0 <= here < seq:
            low, low_seq = at, here
        else:
            break
    return _walk(file, seq, low, end, end_seq)


def _line_from(file, guess: int, low: int, high: int, seq: int, is_careful: bool) -> tuple:
    """Return (offset, seq) of the last line up to `seq` in one buffer; seq -1 if all is damaged."""
    files.seek(file, guess)
    data = file.read(_BUFFER)
    at = 0
    if guess > low:
        at = data.find(b"\n") + 1
        if not at:
            guess = _next_line(file, guess + len(data), high)
            if guess < 0:
                return high, log_line.MAX_SEQ
            files.seek(file, guess)
            data = file.read(_SEQ)
    found = -1, -1
    while at < len(data):
        here = seq_of(data, at)
        if here < 0 and len(data) - at < _SEQ:
            files.seek(file, guess + at)
            here = seq_of(file.read(_SEQ), 0)
        if is_careful and here >= 0 and line_at(file, guess + at) is None:
            here = -1
        if here > seq:
            return found if found[0] >= 0 else (guess + at, here)
        if here >= 0:
            found = guess + at, here
        at = data.find(b"\n", at) + 1
        if not at:
            break
    return found


def _next_line(file, offset: int, high: int) -> int:
    """Return the next line's offset, -1 if none begins before `high`."""
    while offset < high:
        files.seek(file, offset)
        data = file.read(_BUFFER)
        at = data.find(b"\n") + 1
        if at:
            return offset + at if offset + at < high else -1
        if not data:
            break
        offset += len(data)
    return -1


def line_at(file, offset: int):
    """Return the line at an offset as a dict, None if it is not whole."""
    files.seek(file, offset)
    data = file.read(_LINE)
    end = data.find(b"\n")
    while end < 0 and data and len(data) < log_line.MAX_LINE:
        more = file.read(_MORE)
        if not more:
            return None
        end = more.find(b"\n")
        end = end + len(data) if end >= 0 else -1
        data += more
    try:
        values = log_line.decode(data[: end + 1])
    except ValueError:
        return None
    return values if "seq" in values else None


def _walk(file, seq: int, low: int, high: int, high_seq: int) -> tuple:
    for offset, line, ended in log_line.lines(file, low):
        if offset >= high:
            break
        if log_line.is_whole(line, ended):
            here = seq_of(bytes(line[:_SEQ]), 0)  # pyright: ignore
            if here >= seq:
                return offset, here
    return high, high_seq


def lines_before(file, end: int) -> tuple:
    """Return ([lines, last first], offset of the first) of some lines before an offset."""
    span = _BACKWARDS
    while True:
        start = max(0, end - span)
        found = []
        for at, line, ended in log_line.lines(file, start):
            if at >= end:
                break
            if log_line.is_whole(line, ended):  # pyright: ignore
                found.append((at, log_line.decode(line)))  # pyright: ignore
        if found:
            return [values for _, values in reversed(found) if "seq" in values], found[0][0]
        if not start or span > log_line.MAX_LINE:
            return [], start  # nothing but damage
        span *= 2


def lines_backwards(log, below: int = log_line.MAX_SEQ):
    """Yield a Log's lines below a seq as dicts, newest first."""
    while below > log.oldest:
        file, number, (start, first, end, following) = log.open_at(below - 1)
        if below < following:
            end = place(file, below, start, first, end, following)[0]
        while end > 0 and file is not None:
            lines, end = lines_before(file, end)
            for line in lines:
                if line["seq"] < below:
                    below = line["seq"]
                    yield line
            # It may have been reopened meanwhile.
            file = log.file_of(number)
        below = min(below, first)


def begins_at(log, seq: int, offset: int) -> bool:
    """True if lines from a seq on begin at an offset of the live segment."""
    file = log.file_of(log.live)
    if offset != log.size:
        line = line_at(file, offset)
        return line is not None and line["seq"] == seq
    lines = lines_before(file, offset)[0]
    files.seek(file, offset - 1)
    return file.read(1) == b"\n" and (lines[0]["seq"] < seq if lines else offset == log.start)


def seq_of(data: bytes, at: int = 0) -> int:
    """Return a line's seq, -1 if it has none or is cut."""
    if data[at : at + 7] != b'{"seq":':
        return -1
    seq = 0
    at += 7
    while at < len(data):
        digit = data[at] - 48
        if not 0 <= digit <= 9:
            return seq if seq and data[at] == _COMMA else -1
        seq = seq * 10 + digit
        at += 1
    return -1
