"""Counts how often each record was of use, and when last, and tells how important it is therefore now.

Uses are kept apart from the records and written now and then:

    memory/uses.bin    entries of 8 bytes, newest use last: u32 number of the record, u16 uses, u16 day since 2020;
                       then the crc32 of all of them, 4 bytes; little-endian

What was noted since the last write is lost with the power, and a damaged file begins again: nothing depends on it but the
order in which records may leave a full memory.

The importance now is what a record was given, less what it lost while it was of no use to anybody. It is not stored: it
follows from the record, from its last use and from the time, each time that it is asked for.
"""

from struct import pack, unpack_from

from engram import diag, files
from engram.compat import ticks_diff, ticks_ms
from engram.errors import StoreError
from engram.memory.records import fields

_FILE = const("/uses.bin")
_FORM = const("<IHH")
_ENTRY = const(8)
_MOST = const(4096)  # entries: 32 KB of flash, those whose last use is longest ago leave
_UNSAVED = const(64)  # records noted since the last write: bounds the heap, and what a power cut takes
_UNSAVED_MS = const(3_600_000)
_MOST_USES = const(0xFFFF)
_DAY = const(86400)
_WEEK_DAYS = const(7)
DECAY_AFTER = 30  # days without use, so that monthly use keeps a record
DECAY = 10  # hundredths of importance lost each week after that
_FIRST_DAY = const(18262)  # 2020-01-01


class Usage:
    """The uses of a board's records, in a file of `folder`."""

    def __init__(self, folder: str, clock):
        self._path = folder + _FILE
        self._clock = clock
        self._saved = None  # the entries on flash: at most 32 KB
        self._new = {}
        self._since = 0

    def add(self, number: int) -> None:
        self.put(number, self._new.get(number, (0, 0))[0] + 1, self._clock.now())

    def put(self, number: int, count: int, at: int) -> None:
        """Add `count` uses of a record, the last on the day of `at`."""
        if not self._new:
            self._since = ticks_ms()
        self._new[number] = (count, max(0, min(0xFFFF, at // _DAY - _FIRST_DAY)))
        if len(self._new) >= _UNSAVED:
            self.save()

    def tick(self) -> None:
        if self._new and ticks_diff(ticks_ms(), self._since) > _UNSAVED_MS:
            self.save()

    def usage_of(self, number: int) -> tuple:
        """Return (uses, last day's moment) of a record, (0, 0) if never used."""
        return self.usage_of_some((number,)).get(number, (0, 0))

    def usage_of_some(self, numbers) -> dict:
        """Return usage_of() by number for the records that were used."""
        found = {}
        for number, count, day in self._entries():
            if number in numbers:
                found[number] = (count, (day + _FIRST_DAY) * _DAY)
        for number in numbers:
            if number in self._new:
                count, day = self._new[number]
                before, last = found.get(number, (0, 0))
                found[number] = (min(before + count, _MOST_USES), max(last, (day + _FIRST_DAY) * _DAY))
        return found

    def save(self) -> None:
        """Save the uses; a full flash keeps the old file."""
        if not self._new:
            return
        entries = [entry for entry in self._entries() if entry[0] not in self._new]
        for number, (count, last) in self.usage_of_some(self._new).items():
            entries.append((number, count, last // _DAY - _FIRST_DAY))
        data = b"".join([pack(_FORM, *entry) for entry in entries[-_MOST:]])
        try:
            files.write_packed(self._path, data)
            self._saved = data
        except StoreError as error:
            diag.info("uses", str(error))
        self._new.clear()

    def _entries(self):
        if self._saved is None:
            self._saved = files.read_packed(self._path, _MOST * _ENTRY)
        for at in range(0, len(self._saved) - _ENTRY + 1, _ENTRY):
            yield unpack_from(_FORM, self._saved, at)


class Importance:
    """The importance of a board's records; `uses` is their Usage or None."""

    def __init__(self, uses, clock):
        self._uses = uses
        self._clock = clock

    def importance_of(self, found: list, exactly: bool = False) -> list:
        """Return [(importance in hundredths, last change or use)] for results of stated_importance()."""
        now = self._clock.now()
        wanted = {number for number, _, touched in found if exactly or self._lost(touched, now)}
        used = self._uses.usage_of_some(wanted) if wanted and self._uses else {}
        importances = []
        for number, hundredths, touched in found:
            touched = max(touched, used.get(number, (0, 0))[1])
            importances.append((max(0, hundredths - self._lost(touched, now)), touched))
        return importances

    def now(self, record: dict) -> int:
        return self.importance_of([stated_importance(record)])[0][0]

    def _lost(self, touched: int, now: int) -> int:
        # Its age is unknown without a clock.
        if not touched or not self._clock.known:
            return 0
        return max(0, ((now - touched) // _DAY - DECAY_AFTER) // _WEEK_DAYS * DECAY)


def stated_importance(record: dict) -> tuple:
    """Return (number, stated importance in hundredths, last change or 0 for a guess)."""
    touched = 0 if record.get("guess") else record.get("updated", record["created"])
    return int(record["id"][1:]), round(100 * record.get("importance", fields.IMPORTANCE)), touched
