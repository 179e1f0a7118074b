"""The senses of a board: takes readings, and keeps them by minute and hour on flash.

Times are Unix seconds; slots of a level are minutes or hours of Unix time. Without a clock only the
latest reading is known.
"""

from engram import diag, files
from engram.errors import ArgumentError, StoreError
from engram.memory import access
from engram.schema_check import check
from engram.senses.rings import HOUR_LEVEL, History, RowBuffer
from engram.senses.sense_config import MOST
from engram.senses.values import MINUTE, add_to, aggregate_of, check_name, scale, value_text
from engram.store.table_file import TableFile, needed
from engram.tools.pin_config import UNIT

MOST_NUMBER = const(127)
"""Highest number of a sense, as numbers are never reused."""

_DECIMALS = const(1)  # of a sense that config.json does not name
_RETRY_MINUTES = const(10)  # after a refusal of the flash: on a full one each try takes long
_ROW = (needed("name", str), needed("unit", str), needed("decimals", int), needed("made", int))


class Sense:
    def __init__(self, row: dict):
        self.number = int(row["id"][1:])
        self.name = row["name"]
        self.unit = row["unit"]
        self.decimals = row["decimals"]
        self.made = row["made"]
        self.at = 0
        """Unix seconds, 0 without a set clock."""
        self.last = None
        self.minute = {}

    def text(self, value: int) -> str:
        said = value_text(value, self.decimals)
        return said + " " + self.unit if self.unit else said


class Senses:
    """The senses of a board; on_minute(sense, slot, aggregate) is called after each minute."""

    def __init__(self, folder: str, clock, most_bytes: int, write_minutes: int, configs=(), is_shared: bool = False):
        self._folder = folder + "/senses"
        self.table = TableFile(self._folder + "/senses.jsonl", "sense", "s", _ROW, MOST)
        self._clock = clock
        self._write_minutes = write_minutes
        self._configs = {access.tag(config.name): config for config in configs}
        self.is_shared = is_shared
        self.scope = access.ALL if is_shared else access.own_scope(access.OWNER)
        self._senses = {}
        self.history = History(self._folder, most_bytes)
        self._pending = RowBuffer(self.history.file_bytes * 3 // 4)
        self._retry_at = 0
        self.on_minute: object = None
        self.version = 0
        """Changes whenever senses or readings on flash do."""

    def open(self) -> None:
        files.make_folder(self._folder)
        self.table.open()
        self.history.open()
        self._read_table()
        for sense in self.all():
            config = self._configs.get(access.tag(sense.name))
            if config and config.decimals != sense.decimals:
                diag.warning("senses", "%s keeps its %d decimals until it is forgotten" % (sense.name, sense.decimals))

    def _read_table(self) -> None:
        known, self._senses = self._senses, {}
        for row in self.table.rows:
            key = access.tag(row["name"])
            # A sense that was there stays as it is, with its readings.
            self._senses[key] = known.get(key) or Sense(row)

    # --- readings

    def observe(self, name: str, value, unit: str = "") -> bool:
        """Store a reading; False for a repeated second. ArgumentError, or StoreError for a new sense."""
        sense = self.find(name)
        if sense is None:
            scale(value, 0)  # an invalid reading creates no sense
            sense = self._add(check_name(name), unit)
        if unit and unit != sense.unit:
            problem = "is %s for %s: give the sense another name."
            raise ArgumentError("unit", problem % (sense.unit or "none", sense.name))
        return self._keep(sense, scale(value, sense.decimals))

    def _keep(self, sense, value: int) -> bool:
        at = self._clock.now() if self._clock.known else 0
        if at and at == sense.at:
            return False
        sense.at, sense.last = at, value
        if at:
            slot = at // MINUTE
            if slot not in sense.minute:
                self._close_minute(sense)
            add_to(sense.minute, slot, (1, value, value, value, value))
        return True

    def _close_minute(self, sense) -> None:
        if not sense.minute:
            return
        slot, total = sense.minute.popitem()
        aggregate = aggregate_of(total)
        if not self._pending.add(sense.number, slot, aggregate):
            self._write()
            if self._pending.is_nearly_full:
                diag.error("senses", "minutes that could not be written are lost")
                self._pending.clear()
            self._pending.add(sense.number, slot, aggregate)
        if self.on_minute:
            self.on_minute(sense, slot, aggregate)  # pyright: ignore[reportCallIssue]

    # --- the senses

    def _add(self, name: str, unit: str):
        config = self._configs.get(access.tag(name))
        unit = config.unit or unit if config else unit
        check("unit", unit, UNIT)
        if self.table.next > MOST_NUMBER:
            raise ArgumentError("name", "is new, and all %d numbers of senses are used up." % MOST_NUMBER)
        decimals = config.decimals if config else _DECIMALS
        made = self._clock.now() if self._clock.known else 0
        self.table.add({"name": name, "unit": unit, "decimals": decimals, "made": made})
        self.version += 1
        self._read_table()
        return self.find(name)

    def forget(self, sense) -> None:
        self.table.change({"s%d" % sense.number: None})
        self.version += 1
        self._read_table()

    def find(self, name: str):
        """Return a sense by its name in any case, or None."""
        return self._senses.get(access.tag(name)) if isinstance(name, str) else None

    def all(self) -> list:
        return sorted(self._senses.values(), key=lambda sense: sense.number)

    def range(self, sense, first: int, last: int, level: int) -> list:
        """Return a sense's (slot, aggregate) pairs between two slots, including RAM."""
        found = self.history.range(sense.number, first, last, level, self._pending.bytes())
        for minute, total in sense.minute.items():
            slot = minute // 60 if level == HOUR_LEVEL else minute
            if first <= slot <= last:
                add_to(found, slot, aggregate_of(total))
        return [(slot, aggregate_of(found[slot])) for slot in sorted(found)]

    # --- writing

    def tick(self) -> bool:
        """Close finished minutes, write them when due, and fold a slice of old ones; True if there is more."""
        if not self._clock.known:
            return False
        slot = self._clock.now() // MINUTE
        for sense in self._senses.values():
            if sense.minute and slot not in sense.minute:
                self._close_minute(sense)
        if self._is_due(slot):
            self._write()
        return not self._retry_at and self._fold(slot)

    def _fold(self, now: int) -> bool:
        until = self.history.hours.until
        try:
            is_more = self.history.fold()
        except (StoreError, MemoryError) as error:
            self._put_off(now, error)
            return False
        self.version += until != self.history.hours.until
        return is_more

    def flush(self) -> None:
        for sense in self._senses.values():
            self._close_minute(sense)
        self._retry_at = 0
        self._write()

    def _is_due(self, slot: int) -> bool:
        pending = self._pending
        if not pending.end:
            return False
        is_new = pending.first_slot // self._write_minutes != slot // self._write_minutes
        return is_new or pending.is_nearly_full

    def _write(self) -> None:
        now = self._clock.now() // MINUTE
        if not self._pending.end or 0 <= now - self._retry_at < _RETRY_MINUTES:
            return
        try:
            self.history.append(self._pending)
            self._pending.clear()
            self.version += 1
            self._retry_at = 0
        except (StoreError, MemoryError) as error:
            self._put_off(now, error)

    def _put_off(self, now: int, error) -> None:
        if not self._retry_at:
            diag.error("senses", "readings wait in RAM: %s" % error)
        self._retry_at = now
