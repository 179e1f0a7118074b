"""Senses: `observe` takes readings, which are kept in RAM, and by minute, hour and day on flash."""

from engram import diag, files
from engram.compat import const, finish, ticks_diff, ticks_ms
from engram.errors import ArgumentError, ConfigError, EngramError, NotFound, StoreError
from engram.senses import registry
from engram.senses.history import History
from engram.senses.rows import RowBuffer
from engram.senses.sense import RawReadings, Sense, placed_slot
from engram.senses.values import MINUTE, MINUTE_LEVEL, UNPLACED, add_to, aggregate_of, scale

DECIMALS = const(1)
"""Of a sense for which nothing else is declared."""

_WAIT = const("readings wait in RAM: %s")
_FILE = const("/senses.jsonl")
_FOLDER = const("/senses")
_RETRY_MINUTES = const(10)  # after a refusal of the flash: on a full one each try takes long


class Senses:
    """The senses of a board, kept in a folder below `folder`.

    `declared` has, by name, (unit, decimals) of the senses in config.json. Times are Unix seconds, slots of a level
    minutes or hours of Unix time, or days of the time zone.
    """

    def __init__(
        self, folder: str, clock, most: int, most_bytes: int, write_minutes: int, raw_readings: int, declared=None
    ):
        self._folder = folder + _FOLDER
        self._clock = clock
        self._most = most
        self._write_minutes = write_minutes
        self._raw_readings = raw_readings
        self._declared = declared or {}
        self._senses = {}
        self._by_name = {}
        self._next = 0
        self.history = History(self._folder, most_bytes, clock)
        self._pending = RowBuffer(self.history.file_bytes * 3 // 4)
        """The minutes that wait to be written."""
        self._job = None
        self._retry_at = 0
        self._listeners = []
        self._has_failed = False  # the last call of a listener: one that fails each minute is reported once
        self._uptime = MINUTE  # seconds since the start; its minutes are counted from 1
        self._uptime_ticks = ticks_ms()
        self._waits_for_clock = False
        self.damaged = 0
        """Lines of senses.jsonl that were set aside."""
        self.version = 0
        """Another number when there is something else on flash: a sense, or readings."""
        self.lost_minutes = 0
        """Minutes of a sense that left without having been written: the flash refused them, or the clock was not set."""

    def open(self) -> None:
        """Read which senses there are, and what is kept of them."""
        self._senses, self._next, self.damaged = registry.load(self._folder + _FILE)
        for name, (unit, decimals) in self._declared.items():
            sense = self._same(name)
            if sense is not None:
                self._declare(sense, name, unit, decimals)
        self.history.open()
        for sense in list(self._senses.values()):
            if sense.is_unread and sense.config_name not in self._declared:
                del self._senses[sense.number]
        self._index_names()

    def _declare(self, sense, name: str, unit: str, decimals: int) -> None:
        """Let a sense be what config.json says. It keeps its own name: the companion knows it by that."""
        if sense.is_unread:
            sense.unit, sense.decimals = unit, decimals
        self._check_declared(name, "decimals", decimals, sense.decimals)
        self._check_declared(name, "unit", unit or sense.unit, sense.unit or unit)
        sense.config_name = name

    def _index_names(self) -> None:
        self._by_name = {sense.name: sense for sense in self._senses.values()}
        for sense in self._senses.values():
            self._by_name[sense.config_name] = sense

    def _check_declared(self, name: str, field: str, declared, kept) -> None:
        if declared != kept:
            problem = "is %s for the readings that there are: give the sense another name." % kept
            raise ConfigError("senses.%s.%s" % (name, field), problem)

    # --- readings

    def observe(self, name: str, value, unit: str = "") -> bool:
        """Keep a reading; False if one of the same second was kept already.

        ArgumentError for a value that is no finite number or for a sense that cannot be made, StoreError if a new sense cannot
        be written.
        """
        sense = self._by_name.get(name)
        if sense is None or sense.is_unread:
            scale(value, 0)  # what is no reading makes no sense
            sense = self._sense_for(name, unit)
        if unit and unit != sense.unit:
            self._change_unit(sense, unit)
        return self._keep(sense, self._now(), scale(value, sense.decimals))

    def _keep(self, sense, at: int, value: int) -> bool:
        if at == sense.at:
            sense.too_fast += 1
            return False
        slot, minute = at // MINUTE, sense.minute
        if minute is not None and minute[0] != slot:
            self._close_minute(sense)
            minute = None
        if minute is None:
            sense.minute = [slot, 1, value, value, value, value]
        else:
            minute[1] += 1
            minute[2] = min(minute[2], value)
            minute[3] = max(minute[3], value)
            minute[4] += value
            minute[5] = value
        sense.at, sense.last = at, value
        if self._raw_readings:
            if sense.raw is None:
                sense.raw = RawReadings(self._raw_readings)
            sense.raw.add(at, value)
        return True

    def _close_minute(self, sense) -> None:
        """Let a minute of a sense be over."""
        slot = sense.minute[0]
        aggregate = aggregate_of(sense.minute[1:])
        sense.minute = None
        if not self._pending.add(sense.number, slot, aggregate):
            self._make_room()
            self._pending.add(sense.number, slot, aggregate)
        for on_minute, _ in self._listeners:
            self._call(on_minute, sense.number, slot, aggregate)
        if slot >= UNPLACED // MINUTE:
            self._add_to_hour(sense, slot // 60, aggregate)

    def _add_to_hour(self, sense, slot: int, aggregate: tuple) -> None:
        if sense.hour is not None and sense.hour[0] != slot:
            self._close_hour(sense)
        found = {} if sense.hour is None else {slot: sense.hour[1:]}
        add_to(found, slot, aggregate)
        sense.hour = [slot] + found[slot]

    def _close_hour(self, sense) -> None:
        slot, aggregate = sense.hour[0], aggregate_of(sense.hour[1:])
        sense.hour = None
        for _, on_hour in self._listeners:
            self._call(on_hour, sense.number, slot, aggregate)

    def _call(self, listener, number: int, slot: int, aggregate: tuple) -> None:
        if listener is None:
            return
        try:
            listener(number, slot, aggregate)
            self._has_failed = False
        except EngramError as error:
            if not self._has_failed:
                diag.warning("senses", "a listener failed: %s" % error)
            self._has_failed = True

    # --- the senses

    def make_unread(self, names) -> None:
        """Make senses of config.json before their first reading, so that one whose sensor never works is seen, too."""
        for name in names:
            if name not in self._by_name:
                self._sense_for(name, "", False)

    def _sense_for(self, name: str, unit: str, is_read: bool = True):
        """The sense of a name, made if there is none, or if this is its first reading."""
        plain = registry.check_name(name)
        sense = self._same(plain)
        if sense is None or (is_read and sense.is_unread):
            sense = self._make(plain, unit, sense, not is_read)
        return sense

    def _same(self, name: str):
        key = registry.key_of(name)
        for sense in self._senses.values():
            if registry.key_of(sense.name) == key:
                return sense
        return None

    def _make(self, name: str, unit: str, unread, is_unread: bool):
        """A new sense, in place of the one that had no reading if there is one."""
        if unread is None and len(self._senses) >= self._most:
            raise ArgumentError("name", "is new, and there are %d senses already (senses.most)." % len(self._senses))
        decimals = DECIMALS
        for declared, fields in self._declared.items():
            if registry.key_of(declared) == registry.key_of(name):
                name, unit, decimals = declared, fields[0] or unit, fields[1]
        number, made = self._next, self._clock.now() if self._clock.known else 0
        if unread is not None:
            number, made = unread.number, unread.made  # the companion knows it by these
        sense = Sense(number, name, registry.check_unit(unit), decimals, made, is_unread)
        senses = dict(self._senses)
        senses[number] = sense
        self._save(senses, max(self._next, number + 1))
        return sense

    def _save(self, senses: dict, following: int) -> None:
        files.make_folder(self._folder)
        registry.save(self._folder + _FILE, senses, following)
        self._senses, self._next = senses, following
        self.version += 1
        self._index_names()

    def _change_unit(self, sense, unit: str) -> None:
        """Take the unit of a sense that had none; another one would mix readings."""
        if sense.unit:
            raise ArgumentError("unit", "is %s for %s: give the sense another name." % (sense.unit, sense.name))
        sense.unit = registry.check_unit(unit)
        self._save(self._senses, self._next)

    def forget(self, name: str) -> None:
        """Remove a sense: its name and unit at once, what is kept of it as the rings go round. NotFound if there is none."""
        sense = self.find(name)
        if sense is None:
            raise NotFound("sense", str(name))
        left = {number: other for number, other in self._senses.items() if other is not sense}
        self._save(left, self._next)

    def find(self, name: str):
        """The sense of a name, however it is written, None if there is none."""
        sense = self._by_name.get(name)
        if sense is None and isinstance(name, str):
            sense = self._same(name)
        return sense

    @property
    def next_number(self) -> int:
        """The number that the next new sense gets."""
        return self._next

    def names(self) -> list:
        """The names of all senses, in the order of their numbers."""
        return [self._senses[number].name for number in sorted(self._senses)]

    def sense(self, number: int):
        """The sense with a number, None if there is none."""
        return self._senses.get(number)

    def latest(self) -> list:
        """The senses that have a reading since the start, in the order of their numbers: see Sense."""
        return [self._senses[number] for number in sorted(self._senses) if self._senses[number].at]

    def listen(self, on_minute=None, on_hour=None) -> None:
        """Add functions that are called with (number, slot, aggregate) when a minute or an hour of a sense is over.

        A minute below UNPLACED // 60 is counted from the start: the clock is not set. An hour has what was read since then.
        """
        self._listeners.append((on_minute, on_hour))

    # --- what is kept

    def range(self, number: int, first: int, last: int, level: int):
        """Yield (slot, (count, min, max, mean, last)) of a sense from a slot to another of a level of history.LEVELS.

        From flash and RAM, in the order of the slots, each once; the minute that is not over is left out.
        """
        pending = b"" if self._waits_for_clock else self._pending.bytes()
        return self.history.range(number, first, last, level, pending)

    def bytes_used(self) -> int:
        """Bytes of the files on flash."""
        return self.history.size + max(0, files.size(self._folder + _FILE))

    # --- time

    def _now(self) -> int:
        """Unix seconds; as long as the clock is not set, seconds since the start."""
        if self._clock.known:
            if self._waits_for_clock:
                self._place()
            return self._clock.now()
        self._waits_for_clock = True
        return self._count_uptime()

    def _count_uptime(self) -> int:
        passed = ticks_diff(ticks_ms(), self._uptime_ticks) // 1000
        if passed > 0:
            self._uptime += passed
            self._uptime_ticks = ticks_ms()
        return self._uptime

    def _place(self) -> None:
        """Give what was read before the clock was set its time."""
        self._waits_for_clock = False
        seconds = self._clock.now() - self._count_uptime()
        self._pending.shift_slots(UNPLACED // MINUTE, placed_slot(0, seconds))
        for sense in self._senses.values():
            if 0 < sense.at < UNPLACED:
                sense.at += seconds
            if sense.raw is not None:
                sense.raw.place(seconds)
            if sense.minute is not None:
                sense.minute[0] = placed_slot(sense.minute[0], seconds)

    # --- writing

    def tick(self) -> bool:
        """Do a slice of the work in the background; whether there is more."""
        self._close_old()
        if self._job is None and self._is_due():
            self._job = self._writing()
        if self._job is None:
            return False
        try:
            next(self._job)
            return True
        except StopIteration:
            self._job = None
            return False

    def flush(self) -> None:
        """Write all that there is, also of the minute that is not over, if the clock is set: before the board stops."""
        now = self._now()
        try:
            for sense in self._senses.values():
                if sense.minute is not None:
                    self._close_minute(sense)
            if now >= UNPLACED:
                self._finish_job()
                if self._pending.end:
                    finish(self._writing())
        except MemoryError as error:
            diag.error("senses", _WAIT % error)  # the board goes on to stop

    def _close_old(self) -> None:
        slot = self._now() // MINUTE
        for sense in self._senses.values():
            if sense.minute is not None and sense.minute[0] != slot:
                self._close_minute(sense)
            if sense.hour is not None and sense.hour[0] != slot // 60:
                self._close_hour(sense)

    def _is_due(self) -> bool:
        pending = self._pending
        if not pending.end or not self._clock.known:
            return False
        slot = self._now() // MINUTE
        if 0 <= slot - self._retry_at < _RETRY_MINUTES:
            return False
        if pending.is_nearly_full:
            return True
        return pending.first_slot // self._write_minutes != slot // self._write_minutes

    def _make_room(self) -> None:
        """Make room for a minute: write those that wait, or let the oldest of them leave."""
        slot = self._now() // MINUTE
        if slot >= UNPLACED // MINUTE and not 0 <= slot - self._retry_at < _RETRY_MINUTES:
            self._finish_job()
            finish(self._writing())
        if self._pending.is_nearly_full:
            if not self.lost_minutes:
                diag.error("senses", "minutes that could not be written are lost")
            self.lost_minutes += self._pending.drop_older_half()

    def _finish_job(self) -> None:
        job, self._job = self._job, None
        if job is not None:
            finish(job)

    def _writing(self):
        """Write the minutes that wait, and fold what leaves for them, in slices."""
        try:
            yield from self.history.append(MINUTE_LEVEL, self._pending)
            self._pending.clear()
            self.version += 1
            self._retry_at = 0
        except (StoreError, MemoryError) as error:
            if not self._retry_at:
                diag.error("senses", _WAIT % error)
            self._retry_at = self._now() // MINUTE
