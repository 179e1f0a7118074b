"""Which notes leave: those whose days are over, and the oldest where all of them take too much of the flash."""

from engram import diag, files
from engram.clock import day_number
from engram.compat import const

_BLOCK = const(4096)  # of the flash: a file takes whole ones


def sweep_notes(folder: str, notes: list, today: str, bounds: tuple, is_unread, waits_for_reading: bool):
    """Let notes go: a generator that pauses after each, and gives whether some went.

    `notes` are (day, file, principal), oldest first, `bounds` the days that they are kept and the bytes that they may take;
    `is_unread(file)` tells whether one was not distilled. Such a note stays beyond its days if it waits for that.
    """
    days, most_bytes = bounds
    last = day_number(today) - days
    left = []
    total = 0
    for day, file, _ in notes:
        yield
        if day_number(day) < last and not (waits_for_reading and is_unread(file)):
            files.remove(folder + "/" + file)
            diag.info("daily", "the note %s left: its days are over (notes.days)" % file)
            continue
        size = (files.size(folder + "/" + file) + _BLOCK - 1) // _BLOCK * _BLOCK
        total += size
        left.append((day, file, size))
    has_gone = len(left) < len(notes)
    for may_be_unread in (False, True):
        for day, file, size in left:
            if total <= most_bytes:
                return has_gone
            yield
            if day == today or files.size(folder + "/" + file) < 0 or (not may_be_unread and is_unread(file)):
                continue
            files.remove(folder + "/" + file)
            diag.warning("daily", "the note %s left: all notes together take too much (notes.bytes)" % file)
            total -= size
            has_gone = True
    return has_gone
