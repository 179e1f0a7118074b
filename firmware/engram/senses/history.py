"""The aggregates of all senses on flash: a ring of minutes, and a ring of hours of older minutes."""

from engram.compat import const
from engram.senses.rings import SIZE, Ring, RowBuffer, rows_in
from engram.senses.values import add_to, aggregate_of

MINUTE_LEVEL, HOUR_LEVEL = 0, 1
_SLOT_MINUTES = (1, 60)  # of a slot of each level

_FEWEST_FILES = const(64)
_SLICE = const(128)  # minutes that are added up at once: more would keep others waiting
_SMALLEST_FILE = const(4096)  # bytes, a block of the flash
_LARGEST_FILE = const(16384)


class History:
    def __init__(self, folder: str, most_bytes: int):
        size = most_bytes // _FEWEST_FILES // _SMALLEST_FILE * _SMALLEST_FILE
        self.file_bytes = max(_SMALLEST_FILE, min(_LARGEST_FILE, size))
        count = most_bytes // self.file_bytes
        minutes = max(3, count // 3)
        self.minutes = Ring(folder, "minutes", minutes, self.file_bytes)
        self.hours = Ring(folder, "hours", count - minutes, self.file_bytes)
        self.rings = self.minutes, self.hours
        self._folding = None

    def open(self) -> None:
        for ring in self.rings:
            ring.open()
        for number in sorted(self.minutes.sizes):
            if number <= self.hours.until:
                self.minutes.remove(number)
        self.minutes.newest = max(self.minutes.newest, self.hours.until)

    def append(self, rows) -> None:
        """Append minutes; StoreFull or StoreError."""
        while self.minutes.leaving(rows.end):
            self.fold()
        self.minutes.append(rows.bytes())

    def fold(self) -> bool:
        """Turn a slice of the oldest minutes into hours if no file is left; True if there is more."""
        if len(self.minutes.sizes) < self.minutes.most_files:
            return False
        self._folding = self._folding or self._fold(min(self.minutes.sizes))
        return next(self._folding, False)

    def _fold(self, number: int):
        """Yield True after each slice; at the end the hours are on flash in place of the minutes."""
        try:
            found = yield from self._hours_of(MINUTE_LEVEL, number)
            rows = RowBuffer(2 * SIZE * (len(found) + 1))
            for hour, sense in sorted(found):
                rows.add(sense, hour, aggregate_of(found[hour, sense]))
            leaving = self.hours.leaving(rows.end)
            if leaving:
                self.hours.remove(leaving)
            self.hours.append(rows.bytes(), number)
            self.minutes.remove(number)
        finally:
            self._folding = None

    def range(self, sense: int, first: int, last: int, level: int, pending) -> dict:
        """Return a sense's sums by slot of a level; `pending` are unwritten minutes."""
        found = {}
        for source in range(level, -1, -1):  # older first
            size = _SLOT_MINUTES[level] // _SLOT_MINUTES[source]
            for rows in self.rings[source].rows(first * size, last * size + size - 1):
                _collect(found, rows, sense, size, first, last)
        _collect(found, pending, sense, _SLOT_MINUTES[level], first, last)
        return found

    def past_hours(self):
        """Yield (sense, hour, mean) of all hours, oldest first, and True between slices."""
        for level in (HOUR_LEVEL, MINUTE_LEVEL):
            for number in sorted(self.rings[level].sizes):
                found = yield from self._hours_of(level, number)
                for hour, sense in sorted(found):
                    yield sense, hour, aggregate_of(found[hour, sense])[3]

    def _hours_of(self, level: int, number: int):
        """Yield True after each slice of a file's rows; return their sums by (hour, sense)."""
        found, left = {}, _SLICE
        for block in self.rings[level].blocks(number):
            for sense, slot, aggregate in rows_in(block.rows):
                add_to(found, (slot * _SLOT_MINUTES[level] // 60, sense), aggregate)
                left -= 1
                if not left:
                    left = _SLICE
                    yield True
        yield True
        return found

    def has_minute(self, slot: int) -> bool:
        """True if all minutes since a slot are still there."""
        return not self.hours.sizes or any(self.minutes.span(number)[0] <= slot for number in self.minutes.sizes)


def _collect(found: dict, rows, sense: int, size: int, first: int, last: int) -> None:
    for _, slot, aggregate in rows_in(rows, sense):
        if first <= slot // size <= last:
            add_to(found, slot // size, aggregate)
