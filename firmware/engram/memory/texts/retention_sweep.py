"""Removes notes whose days are over, and the oldest where all of them take too much of the flash."""

from engram import diag, files
from engram.clock import day_number
from engram.compat import const

_BLOCK = const(4096)  # of the flash: a file takes whole ones


def remove_old(keeper, notes: list, today: str, bounds: tuple, is_read, waits_for_reading: bool, leaves):
    """A generator that pauses after each note. `notes` are (day, file, principal), oldest first; `bounds` the days that they
    are kept and the bytes that they may take. A note that is_read(file) denies stays beyond its days if it waits for that.
    leaves(file) is called before each that goes.
    """
    days, most_bytes = bounds
    last = day_number(today) - days
    left = []
    total = 0
    for day, file, _ in notes:
        yield
        path = keeper.folder + "/" + file
        if day_number(day) < last and not (waits_for_reading and not is_read(file)):
            leaves(file)
            keeper.drop(path)
            diag.info("daily", "the note %s left: its days are over (notes.days)" % file)
            continue
        size = (files.size(path) + _BLOCK - 1) // _BLOCK * _BLOCK
        total += size
        left.append((day, file, path, size))
    for may_be_unread in (False, True):
        for day, file, path, size in left:
            if total <= most_bytes:
                return
            yield
            if day != today and files.size(path) >= 0 and (may_be_unread or is_read(file)):
                leaves(file)
                keeper.drop(path)
                diag.warning("daily", "the note %s left: all notes together take too much (notes.bytes)" % file)
                total -= size
