"""The aggregates of all senses on flash: a ring for each level.

    minutes  ->  hours, when a file of minutes leaves  ->  days, when a file of hours leaves

A level's range is its own ring, and what the finer ones have, folded as it is read.
"""

from engram import files
from engram.compat import const
from engram.senses.rings import Ring
from engram.senses.rows import SIZE, RowBuffer, rows_in
from engram.senses.values import DAY_LEVEL, HOUR, HOUR_LEVEL, LEVELS, MINUTE_LEVEL, add_to, aggregate_of

_FEWEST_FILES = const(16)
_SMALLEST_FILE = const(4096)  # bytes, a block of the flash
_LARGEST_FILE = const(16384)
_MINUTES, _DAYS, _ALL = 9, 5, 32
"""Shares of the files; the rest are hours."""

_SLICE = const(64)  # rows between two steps of a fold


class History:
    """Keeps the aggregates of a board's senses in a folder, in `most_bytes` of flash at most."""

    def __init__(self, folder: str, most_bytes: int, clock):
        self._folder = folder
        self._clock = clock
        size = most_bytes // _FEWEST_FILES // _SMALLEST_FILE * _SMALLEST_FILE
        self.file_bytes = max(_SMALLEST_FILE, min(_LARGEST_FILE, size))
        count = most_bytes // self.file_bytes
        minutes, days = [max(2, count * share // _ALL) for share in (_MINUTES, _DAYS)]
        caps = minutes, max(2, count - minutes - days), days
        self.rings = [
            Ring(folder, name + "s", caps[level] * self.file_bytes, self.file_bytes)
            for level, name in enumerate(LEVELS)
        ]

    def open(self) -> None:
        """Find what is on flash, and remove what was folded before the power failed."""
        names = files.names(self._folder) if files.size(self._folder) >= 0 else []
        for ring in self.rings:
            ring.open(names)
        for finer, coarser in zip(self.rings, self.rings[1:]):
            for number in sorted(finer.sizes):
                if number <= coarser.until:
                    finer.remove(number)
            finer.newest = max(finer.newest, coarser.until)

    @property
    def size(self) -> int:
        """Bytes of flash of all rings."""
        return sum([ring.size for ring in self.rings])

    # --- writing

    def append(self, level: int, rows, until: int = 0):
        """Append a RowBuffer, and fold what has to leave before, in slices; StoreFull or StoreError."""
        ring = self.rings[level]
        while True:
            number = ring.leaving(rows.end)
            if not number:
                break
            if level != DAY_LEVEL:
                yield from self._fold(level, number)
            ring.remove(number)
        ring.append(rows.bytes(), until)

    def _fold(self, level: int, number: int):
        """Fold a file of a level into one block of the next one, in slices."""
        found, days, count = {}, {}, 0
        for block in self.rings[level].blocks(number):
            for which, slot, aggregate in rows_in(block.rows):
                add_to(found, (self._converted(slot, level, level + 1, days), which), aggregate)
                count += 1
                if count % _SLICE == 0:
                    yield
        rows = RowBuffer(2 * SIZE * (len(found) + 1))
        for slot, which in sorted(found):
            rows.add(which, slot, aggregate_of(found[slot, which]))
        yield from self.append(level + 1, rows, number)

    # --- reading

    def range(self, number: int, first: int, last: int, level: int, pending):
        """Yield (slot, aggregate) of a sense for the slots of a level from `first` to `last`, in their order.

        `pending` are rows of minutes that are not on flash yet.
        """
        found, days = {}, {}
        for source in range(level, -1, -1):  # older first
            low, high = _finer_bounds(first, last, level, source)
            for rows in self.rings[source].rows(low, high):
                self._collect(found, rows, number, source, level, days)
        self._collect(found, pending, number, MINUTE_LEVEL, level, days)
        for slot in sorted(found):
            if first <= slot <= last:
                yield slot, aggregate_of(found[slot])

    def _collect(self, found: dict, rows, number: int, source: int, level: int, days: dict) -> None:
        for _, slot, aggregate in rows_in(rows, number):
            add_to(found, self._converted(slot, source, level, days), aggregate)

    def past_hours(self):
        """Yield (sense, hour, mean) of all hours on flash, oldest first, and None between two slices."""
        for level in (HOUR_LEVEL, MINUTE_LEVEL):
            for number in sorted(self.rings[level].sizes):
                found = {}
                for block in self.rings[level].blocks(number):
                    for which, slot, aggregate in rows_in(block.rows):
                        add_to(found, (self._converted(slot, level, HOUR_LEVEL, {}), which), aggregate)
                    yield None
                for hour, which in sorted(found):
                    yield which, hour, aggregate_of(found[hour, which])[3]

    def reaches(self, level: int, slot: int) -> bool:
        """True if the coarser levels have nothing older that this one lacks from a slot on."""
        ring = self.rings[level]
        if not any(coarser.sizes for coarser in self.rings[level + 1 :]):
            return True
        return any(ring.span(number)[0] <= slot for number in ring.sizes)

    def _converted(self, slot: int, source: int, level: int, days: dict) -> int:
        """The slot of a level that has a slot of a finer one; an hour belongs to the day in which it begins."""
        if source == level:
            return slot
        if source == MINUTE_LEVEL:
            slot //= 60
        if level == HOUR_LEVEL:
            return slot
        if slot not in days:
            days[slot] = self._clock.day_number(slot * HOUR)
        return days[slot]


def _finer_bounds(first: int, last: int, level: int, source: int) -> tuple:
    """Bounds in slots of a finer level that surely have all of a level's slots from `first` to `last`."""
    if level == DAY_LEVEL and source != DAY_LEVEL:
        first, last = max(0, first * 24 - 24), last * 24 + 47  # whatever the time zone
    if source == MINUTE_LEVEL and level != MINUTE_LEVEL:
        first, last = first * 60, last * 60 + 59
    return first, last
