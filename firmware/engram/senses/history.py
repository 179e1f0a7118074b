"""The aggregates of all senses on flash: a ring for each level, and what folds the finer ones into the coarser.

    minutes as they were  ->  after some days hours, within the step of packing.py  ->  after a month days, likewise

A ring's blocks are folded once: the block that they go into names the last of them. So a level's range is its own ring, and
what the finer ones have not been folded of, worked out as it is read.
"""

from engram import files
from engram.compat import const, finish
from engram.senses import packing
from engram.senses.rings import LARGEST_BLOCK, Ring, part
from engram.senses.values import HOUR, add_to, aggregate_of

LEVELS = ("minute", "hour", "day")
MINUTE_LEVEL, HOUR_LEVEL, DAY_LEVEL = 0, 1, 2

_FILES = const(64)  # of all rings: a full one loses one of its files at a time
_SMALLEST_FILE = const(4096)  # bytes, a block of the flash
_SHARES = (7, 36, 21)  # of the files for minutes, hours, days: docs/design/senses.md
_FEWEST = const(2)

_HOURS_AFTER = const(3)  # days that minutes are kept as they are, if there is room: longer blocks take less
_DAYS_AFTER = const(31)  # likewise of hours
_WINDOWS = (240, 96, 62)
"""Slots of a level that are in RAM at once while a range is read."""


class History:
    """What is kept of a board's senses in a folder, in `most_bytes` at most."""

    def __init__(self, folder: str, most_bytes: int, clock):
        self._folder = folder
        self._clock = clock
        file_bytes = max(_SMALLEST_FILE, most_bytes // _FILES // _SMALLEST_FILE * _SMALLEST_FILE)
        count = most_bytes // file_bytes
        minutes, days = [max(_FEWEST, count * share // sum(_SHARES)) for share in (_SHARES[0], _SHARES[2])]
        caps = (minutes, max(_FEWEST, count - minutes - days), days)
        self.rings = [
            Ring(folder, name + "s", caps[level] * file_bytes, file_bytes) for level, name in enumerate(LEVELS)
        ]

    def open(self) -> None:
        """Find what is on flash."""
        names = files.names(self._folder) if files.size(self._folder) >= 0 else []
        for ring in self.rings:
            ring.open(names)
        for finer, coarser in zip(self.rings, self.rings[1:]):
            # A ring that was lost does not begin with numbers that were folded already.
            finer.next_seq = max(finer.next_seq, coarser.until + 1)

    @property
    def size(self) -> int:
        """Bytes of all rings."""
        return sum(ring.size for ring in self.rings)

    # --- writing

    def append_minutes(self, parts: list, first: int, last: int) -> None:
        """Append minutes of senses, each a part of a block; StoreFull or StoreError when the flash refuses."""
        self._append(MINUTE_LEVEL, b"".join(parts), 0, first, last)

    def _append(self, level: int, parts: bytes, until: int, first: int, last: int) -> None:
        ring = self.rings[level]
        if level != DAY_LEVEL and ring.leaving_seq(len(parts)) > self.rings[level + 1].until:
            # What would leave is folded before, all at once.
            finish(self._folding(level, ring.next_seq - 1))
        ring.append(parts, until, first, last)

    def folding(self):
        """Fold what is due, in slices; StoreFull or StoreError when the flash refuses."""
        today = self._clock.day_number(self._clock.now())
        for level, after in ((MINUTE_LEVEL, _HOURS_AFTER), (HOUR_LEVEL, _DAYS_AFTER)):
            upto = self._due(level, after, today)
            if upto:
                yield from self._folding(level, upto)

    def _due(self, level: int, after: int, today: int) -> int:
        """The seq up to which blocks of a level are to be folded, 0 if none is."""
        upto = 0
        for block in self.rings[level].blocks(self.rings[level + 1].until):
            if not upto and 0 <= today - self._day_of(level, block.first) < after:
                return 0
            if self._day_of(level, block.last) == today:
                break
            upto = block.seq
        return upto

    def _folding(self, level: int, upto: int):
        """Fold the blocks of a level up to a seq, in slices: all into one block, or fewer if that would be too large."""
        heads = self._heads(level, upto)
        while heads:
            is_done = yield from self._fold(level, heads)
            heads = self._heads(level, upto) if is_done else heads[: len(heads) // 2]

    def _heads(self, level: int, upto: int) -> list:
        """(seq, lowest slot, highest slot) of the blocks that have not been folded, up to a seq."""
        return [(block.seq, block.first, block.last) for block in self._unfolded(level, upto)]

    def _fold(self, level: int, heads: list):
        """Fold some blocks into one, in slices; False if that would be too large. A single one never is."""
        upto, is_one = heads[-1][0], len(heads) == 1
        first = self._converted(min([head[1] for head in heads]), level, level + 1)
        last = self._converted(max([head[2] for head in heads]), level, level + 1)
        numbers = set()
        for block in self._unfolded(level, upto):
            numbers.update(block.numbers())
        parts, size = [], 0
        for number in sorted(numbers):
            found = {}
            for block in self._unfolded(level, upto):
                self._collect(found, block, number, level, level + 1)
                yield
            rows = [(slot,) + aggregate_of(found[slot]) for slot in sorted(found)]
            parts.append(part(number, packing.pack(rows, first, False)))
            size += len(parts[-1])
            if not is_one and (size > LARGEST_BLOCK or len(rows) > packing.MOST_ROWS):
                return False
            yield
        self._append(level + 1, b"".join(parts), upto, first, last)
        return True

    def _unfolded(self, level: int, upto: int):
        for block in self.rings[level].blocks(self.rings[level + 1].until):
            if block.seq <= upto:
                yield block

    # --- reading

    def range(self, number: int, first: int, last: int, level: int, pending):
        """Yield (slot, aggregate) of a sense for the slots of a level from `first` to `last`, in their order.

        `pending` yields what of its minutes is not on flash yet, as (minute, aggregate).
        """
        window = _WINDOWS[level]
        while True:
            first = self._next_slot(first, last, level, pending)
            if first > last:
                return
            end = min(last, first + window - 1)
            found = {}
            for source in range_down(level):
                after = 0 if source == level else self.rings[source + 1].until
                low, high = self._finer_bounds(first, end, level, source)
                for block in self.rings[source].blocks(after, low, high):
                    self._collect(found, block, number, source, level, first, end)
            for minute, aggregate in pending():
                slot = self._converted(minute, MINUTE_LEVEL, level)
                if first <= slot <= end:
                    add_to(found, slot, aggregate)
            for slot in sorted(found):
                yield slot, aggregate_of(found[slot])
            first = end + 1

    def reaches(self, level: int, slot: int) -> bool:
        """True if the coarser levels have nothing older that this one lacks from a slot on."""
        if not any(ring.files for ring in self.rings[level + 1 :]):
            return True
        return any(low <= slot for low, _ in self.rings[level].spans())

    def _next_slot(self, first: int, last: int, level: int, pending) -> int:
        """The first slot from `first` on that may have something; above `last` if there is none."""
        best = last + 1
        for source in range_down(level):
            after = 0 if source == level else self.rings[source + 1].until
            for low, high in self.rings[source].spans(after):
                if self._converted(high, source, level) >= first:
                    best = min(best, max(first, self._converted(low, source, level)))
        for minute, _ in pending():
            slot = self._converted(minute, MINUTE_LEVEL, level)
            if slot >= first:
                best = min(best, slot)
        return best

    def _collect(
        self, found: dict, block, number: int, source: int, level: int, first: int = 0, last: int = 1 << 32
    ) -> None:
        """Add a block's aggregates of a sense to those found, by slots of a level."""
        bits = block.bits_of(number)
        if bits is None:
            return
        slot = before = -1
        for at, aggregate in packing.unpack(bits, block.first):
            if source != level and (source != MINUTE_LEVEL or at // 60 != before):
                slot, before = self._converted(at, source, level), at // 60
            elif source == level:
                slot = at
            if first <= slot <= last:
                add_to(found, slot, aggregate)

    # --- slots

    def _converted(self, slot: int, source: int, level: int) -> int:
        """The slot of a level that a slot of a finer one belongs to; an hour belongs to the day in which it begins."""
        if source == level:
            return slot
        if source == MINUTE_LEVEL:
            slot //= 60
        return slot if level == HOUR_LEVEL else self._clock.day_number(slot * HOUR)

    def _day_of(self, level: int, slot: int) -> int:
        return self._converted(slot, level, DAY_LEVEL)

    def _finer_bounds(self, first: int, last: int, level: int, source: int) -> tuple:
        """Bounds in slots of a finer level that surely have all of a level's slots from `first` to `last`."""
        if level == DAY_LEVEL and source != DAY_LEVEL:
            first, last = max(0, first * 24 - 24), last * 24 + 47  # whatever the time zone
        if source == MINUTE_LEVEL and level != MINUTE_LEVEL:
            first, last = first * 60, last * 60 + 59
        return first, last


def range_down(level: int):
    """The levels from one down to the minutes: older first."""
    return range(level, -1, -1)
