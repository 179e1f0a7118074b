"""The senses of a board: takes readings, and keeps them by minute, hour and day on flash.

Times are Unix seconds; slots of a level are minutes or hours of Unix time, or days of the time
zone. Without a clock only the latest reading is known.
"""

from engram import diag, files
from engram.compat import const, finish, first_of
from engram.errors import ArgumentError, ConfigError, NotFound, StoreError
from engram.memory import access
from engram.senses.history import History
from engram.senses.rows import RowBuffer
from engram.senses.values import (
    DAY_LEVEL,
    MINUTE,
    MINUTE_LEVEL,
    add_to,
    aggregate_of,
    check_name,
    check_unit,
    key_of,
    scale,
    value_text,
)  # fmt: skip
from engram.store.table_file import TableFile, needed

MOST_NUMBER = const(127)
"""The highest number of a sense: a number is given once in a board's life."""

_DECIMALS = const(1)  # of a sense that config.json does not name
_WAIT = const("readings wait in RAM: %s")
_RETRY_MINUTES = const(10)  # after a refusal of the flash: on a full one each try takes long
_ROW = (needed("name", str), needed("unit", str), needed("decimals", int), needed("made", int))


class Sense:
    """One sense; `at` and `last` are its latest reading, None and 0 without one since the start.

    `config` is its SenseConfig, None if config.json does not name it. `minute` has the sums of the
    minute that is not over, by its slot.
    """

    def __init__(self, row: dict, config=None):
        self.number = int(row["id"][1:])
        self.name = row["name"]
        self.unit = row["unit"]
        self.decimals = row["decimals"]
        self.made = row["made"]
        self.config = config
        self.at = 0
        """0 if the clock was not set."""
        self.last = None
        self.minute = {}

    def text(self, value: int) -> str:
        """Return a value with its unit, as people read it."""
        said = value_text(value, self.decimals)
        return said + " " + self.unit if self.unit else said


class Senses:
    """The senses of a board, at most `most`, in a folder below `folder`.

    `configs` has a SenseConfig for each sense of config.json; everybody may see the readings of those that are
    shared, or of all if `shares_all`. on_minute(sense, slot, aggregate), if it is set, is called
    when a minute of a sense is over.
    """

    def __init__(
        self, folder: str, clock, most: int, most_bytes: int, write_minutes: int, configs=(), shares_all: bool = False
    ):
        self._folder = folder + "/senses"
        self._table = TableFile(self._folder + "/senses.jsonl", "sense", "s", _ROW, most)
        self._clock = clock
        self._write_minutes = write_minutes
        self._configs = configs
        self._shares_all = shares_all
        self._senses = {}
        self.history = History(self._folder, most_bytes, clock)
        self._pending = RowBuffer(self.history.file_bytes * 3 // 4)
        """The minutes that wait to be written."""
        self._job = None
        self._retry_at = 0
        self.on_minute: object = None
        self.version = 0
        """Another number when there is something else on flash: a sense, or readings."""
        self.lost_minutes = 0
        """Minutes of a sense that the flash refused until there was no room in RAM."""

    def open(self) -> None:
        """Read the senses on flash, and add those of config.json; ConfigError if one cannot be."""
        self._table.open()
        self.history.open()
        self._read_table()
        for config in self._configs:
            sense = self.find(config.name)
            try:
                if sense is None:
                    self._add(config.name, config.unit, config.decimals)
                else:
                    self._adopt(sense, config)
            except (ArgumentError, StoreError) as error:
                diag.warning("senses", "%s is not kept: %s" % (config.name, error))

    def _read_table(self) -> None:
        senses = [Sense(row, self._config_of(row["name"])) for row in self._table.rows]
        # A sense that was there stays as it is, with its readings.
        self._senses = {each.name: self._senses.get(each.name, each) for each in senses}

    def _config_of(self, name: str):
        for config in self._configs:
            if key_of(config.name) == key_of(name):
                return config
        return None

    def _adopt(self, sense, config) -> None:
        """Let a sense on flash be what config.json says, unless it has other readings."""
        unit = config.unit or sense.unit
        if (unit, config.decimals) == (sense.unit, sense.decimals):
            return
        is_other = unit != sense.unit != "" or config.decimals != sense.decimals
        if is_other and first_of(self.range(sense.number, 0, 1 << 17, DAY_LEVEL)):
            problem = "has readings in %s with %d decimals: give the sense another name."
            raise ConfigError("senses." + config.name, problem % (sense.unit or "no unit", sense.decimals))
        self._change(sense, unit, config.decimals)

    def _change(self, sense, unit: str, decimals: int) -> None:
        fields = {"name": sense.name, "unit": unit, "decimals": decimals, "made": sense.made}
        fields["id"] = "s%d" % sense.number
        self._table.change({fields["id"]: fields})
        sense.unit, sense.decimals = unit, decimals
        self.version += 1

    # --- readings

    def observe(self, name: str, value, unit: str = "") -> bool:
        """Keep a reading; False if one of the same second was kept already.

        ArgumentError for a value that is no finite number, or a sense that cannot be made;
        StoreError if a new sense cannot be written.
        """
        sense = self._senses.get(name) or self.find(name)
        if sense is None:
            scale(value, 0)  # what is no reading makes no sense
            config = self._config_of(check_name(name))
            if config is None:
                sense = self._add(name, unit, _DECIMALS)
            else:
                sense = self._add(config.name, config.unit or unit, config.decimals)
        if unit and unit != sense.unit:
            if sense.unit:
                problem = "is %s for %s: give the sense another name."
                raise ArgumentError("unit", problem % (sense.unit, sense.name))
            self._change(sense, check_unit(unit), sense.decimals)
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
            self._make_room()
            self._pending.add(sense.number, slot, aggregate)
        if self.on_minute:
            self.on_minute(sense, slot, aggregate)  # pyright: ignore[reportCallIssue]

    # --- the senses

    def _add(self, name: str, unit: str, decimals: int):
        name = check_name(name)
        if self._table.next > MOST_NUMBER:
            raise ArgumentError("name", "is new, and all %d numbers of senses are used up." % MOST_NUMBER)
        files.make_folder(self._folder)
        made = self._clock.now() if self._clock.known else 0
        self._table.add({"name": name, "unit": check_unit(unit), "decimals": decimals, "made": made})
        self.version += 1
        self._read_table()
        return self._senses[name]

    def forget(self, name: str) -> None:
        """Remove a sense; its readings leave as the rings go round. NotFound if there is none."""
        sense = self.find(name)
        if sense is None:
            raise NotFound("sense", str(name))
        self._table.change({"s%d" % sense.number: None})
        self.version += 1
        self._read_table()

    def find(self, name: str):
        """Return the sense of a name, whatever its case and accents; None if there is none."""
        found = self._senses.get(name)
        if found is None and isinstance(name, str):
            key = key_of(name)
            for sense in self._senses.values():
                if key_of(sense.name) == key:
                    return sense
        return found

    def get(self, number: int):
        """Return the sense with a number, None if there is none."""
        for sense in self._senses.values():
            if sense.number == number:
                return sense
        return None

    def all(self) -> list:
        """Return all senses, in the order of their numbers."""
        return sorted(self._senses.values(), key=lambda sense: sense.number)

    def is_shared(self, sense) -> bool:
        """Return True if everybody may see the readings of a sense."""
        return self._shares_all or (sense.config is not None and sense.config.shared)

    def scope_of(self, sense) -> str:
        """Return the scope of a sense's readings: the owner's, unless they are shared."""
        return access.ALL if self.is_shared(sense) else access.own_scope(access.OWNER)

    @property
    def next_number(self) -> int:
        """The number that the next new sense gets."""
        return self._table.next

    @property
    def damaged(self) -> int:
        """Lines of the list of senses that were set aside."""
        return self._table.damaged

    def range(self, number: int, first: int, last: int, level: int):
        """Yield (slot, aggregate) of a sense from a slot to another of a level of values.LEVELS.

        From flash and RAM, in the order of the slots, each once, without the minute that is not
        over.
        """
        return self.history.range(number, first, last, level, self._pending.bytes())

    def bytes_used(self) -> int:
        """Bytes of the files on flash."""
        return self.history.size + max(0, files.size(self._folder + "/senses.jsonl"))

    # --- writing

    def tick(self) -> bool:
        """Do a slice of the work in the background; True if there is more."""
        if not self._clock.known:
            return False
        slot = self._clock.now() // MINUTE
        for sense in self._senses.values():
            if sense.minute and slot not in sense.minute:
                self._close_minute(sense)
        if self._job is None and self._is_due(slot):
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
        """Write all that there is, also of the minute that is not over: before the board stops."""
        try:
            for sense in self._senses.values():
                self._close_minute(sense)
            self._finish_job()
            if self._pending.end:
                finish(self._writing())
        except MemoryError as error:
            diag.error("senses", _WAIT % error)  # the board goes on to stop

    def _is_due(self, slot: int) -> bool:
        pending = self._pending
        if not pending.end or 0 <= slot - self._retry_at < _RETRY_MINUTES:
            return False
        is_new = pending.first_slot // self._write_minutes != slot // self._write_minutes
        return is_new or pending.is_nearly_full

    def _make_room(self) -> None:
        """Make room for a minute: write those that wait, or let them leave."""
        if not 0 <= self._clock.now() // MINUTE - self._retry_at < _RETRY_MINUTES:
            self._finish_job()
            finish(self._writing())
        if self._pending.is_nearly_full:
            if not self.lost_minutes:
                diag.error("senses", "minutes that could not be written are lost")
            self.lost_minutes += self._pending.count
            self._pending.clear()

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
            self._retry_at = self._clock.now() // MINUTE
