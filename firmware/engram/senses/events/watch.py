"""Watches all senses: limits, hours that are unusual, and sensors that are silent.

`on_minute` and `on_hour` take what Senses gives when a minute or an hour of a sense is over, `tick` is called now
and then. They begin and end events of an Events, see events.py. Times are minutes of Unix time.
"""

from engram import diag
from engram.compat import const
from engram.errors import EngramError
from engram.senses.events.baseline import HOURS_OFF, HourlyBaseline
from engram.senses.events.event_file import key_of
from engram.senses.values import MINUTE, UNPLACED

_SILENT_TIMES = const(3)  # the pace of a sensor
_SILENT_LEAST = const(15)  # minutes
_JUMP = const(5)  # minutes between two ticks after which the clock was set, or the board stood still
_QUIET = const(5)  # minutes within a limit until the event is over
_DAY = const(1440)


class _Watched:
    """The state of one sense since the start."""

    def __init__(self):
        self.baseline = HourlyBaseline()
        self.seen = self.value = self.off = 0
        self.events = {}
        """The fields of its events that have not ended, by kind, of limits with their ids."""
        self.beyond = {}
        """By limit: since when readings are beyond it, and when they were last."""


class Watch:
    """Watches a board's `senses`. Unless `finds_unusual`, only limits make events."""

    def __init__(self, senses, clock, limits, events, declared=None, finds_unusual: bool = True):
        self._senses = senses
        self._clock = clock
        self.limits = limits
        self.events = events
        self._declared = declared or {}
        self._finds_unusual = finds_unusual
        self._watched = {}
        self._past = None
        self._since = self._last_tick = 0
        self._day = -1

    def open(self) -> None:
        """Go on with what is on flash."""
        for fields in self.events.open.values():
            self._watched_of(fields["sense"]).events[key_of(fields)[1]] = fields
        if self._finds_unusual:
            self._past = self._senses.history.past_hours()

    def _watched_of(self, number: int) -> _Watched:
        if number not in self._watched:
            self._watched[number] = _Watched()
        return self._watched[number]

    # --- a minute of a sense

    def on_minute(self, number: int, slot: int, aggregate: tuple) -> None:
        """Handle the (count, min, max, mean, last) of a minute of a sense."""
        if slot < UNPLACED // MINUTE:
            return  # the clock is not set
        watched = self._watched_of(number)
        self._end(watched, "silent", slot)
        watched.seen, watched.value = slot, aggregate[4]
        self._check_limits(number, watched, slot, aggregate[3])

    def _check_limits(self, number: int, watched, slot: int, value: int) -> None:
        sense = self._senses.sense(number)
        limits = self.limits.of_sense(sense) if sense else ()
        for limit in limits:
            self._check_limit(number, watched, slot, value, limit)
        there = [_side(limit) + limit["id"] for limit in limits]
        for key in list(watched.events):
            if watched.events[key]["kind"] in ("low", "high") and key not in there:
                self._end(watched, key, slot)  # the limit was removed

    def _check_limit(self, number: int, watched, slot: int, value: int, limit: dict) -> None:
        side = _side(limit)
        key, bound = side + limit["id"], limit[side]
        fields = watched.events.get(key)
        begun, last = watched.beyond.get(key, (slot, slot))
        if value < bound if side == "low" else value > bound:
            watched.beyond[key] = begun, slot
            if fields is None and slot - begun >= limit.get("minutes", 0):
                self._begin(number, watched, side, begun, value, None, limit)
            elif fields is not None:
                fields["value"] = min(value, fields["value"]) if side == "low" else max(value, fields["value"])
        elif fields is None or slot - last >= _QUIET:
            self._end(watched, key, slot)
            watched.beyond.pop(key, None)
        else:
            watched.beyond[key] = begun, last

    # --- an hour of a sense

    def on_hour(self, number: int, slot: int, aggregate: tuple) -> None:
        """Handle the aggregate of an hour of a sense."""
        watched, mean = self._watched_of(number), aggregate[3]
        hour = self._hour_of_day(slot)
        usual = None if self._past else watched.baseline.usual(hour)
        fields = watched.events.get("unusual")
        watched.off = watched.off + 1 if usual and not usual[0] <= mean <= usual[1] else 0
        if usual and watched.off:
            if fields is None and watched.off >= HOURS_OFF:
                self._begin(number, watched, "unusual", (slot + 1 - HOURS_OFF) * 60, mean, list(usual))
            elif fields is not None:
                _note_farthest(fields, mean)
        elif usual:
            self._end(watched, "unusual", slot * 60)
        watched.baseline.learn(hour, mean)

    def _hour_of_day(self, slot: int) -> int:
        return (slot + self._clock.offset_minutes(self._clock.now()) // 60) % 24

    def _learn_past(self) -> bool:
        """Learn a slice of the hours on flash; True if there are more."""
        for found in self._past or ():
            if found is None:
                return True
            number, slot, mean = found
            self._watched_of(number).baseline.learn(self._hour_of_day(slot), mean)
        self._past = None
        return False

    # --- events

    def _begin(self, number: int, watched, kind: str, slot: int, value: int, usual, limit=None) -> None:
        if limit is None and not self._finds_unusual:
            return
        fields = self.events.begin(number, kind, slot * MINUTE, value, usual, limit)
        if fields is not None:
            watched.events[key_of(fields)[1]] = fields

    def _end(self, watched, key: str, slot: int) -> None:
        fields = watched.events.pop(key, None)
        if fields is not None:
            self.events.end(fields, slot * MINUTE)

    # --- now and then

    def tick(self) -> bool:
        """Look for silent sensors once a minute; True if there is more to do."""
        if not self._clock.known:
            return False
        slot = self._clock.now() // MINUTE
        if slot != self._last_tick:
            self._look(slot)
        return self._learn_past()

    def _look(self, slot: int) -> None:
        if not 0 <= slot - self._last_tick <= _JUMP:
            self._since = slot  # the start, or the clock was set: silence is counted from now
        self._last_tick = slot
        for number in list(self._watched):
            if self._senses.sense(number) is None:
                self._forget(number, slot)
        for name, declared in self._declared.items():
            sense = self._senses.find(name)
            if sense is not None and (declared["kind"] != "code" or "every" in declared):
                self._check_silent(sense.number, slot, declared.get("every", MINUTE))
        self.events.settle()
        self._end_days(slot)

    def _check_silent(self, number: int, slot: int, every: int) -> None:
        watched, pace = self._watched_of(number), (every + MINUTE - 1) // MINUTE
        last = max(watched.seen, self._since)
        if slot - last >= max(_SILENT_LEAST, _SILENT_TIMES * pace) and "silent" not in watched.events:
            self._begin(number, watched, "silent", last, watched.value, [0, pace])

    def _forget(self, number: int, slot: int) -> None:
        watched = self._watched.pop(number)
        for key in list(watched.events):
            self._end(watched, key, slot)
        self.limits.forget(number)

    def _end_days(self, slot: int) -> None:
        """Have the day before written down, once a day."""
        day = (slot + self._clock.offset_minutes(slot * MINUTE)) // _DAY
        if day == self._day:
            return
        self._day = day  # also if the flash refuses: not again at each tick
        try:
            self.events.end_day(day)
        except EngramError as error:
            diag.warning("senses", str(error))


def _side(limit: dict) -> str:
    return "low" if "low" in limit else "high"


def _note_farthest(fields: dict, value: int) -> None:
    """Keep the mean of an event that is farthest from what is usual."""
    low, high = fields["usual"]
    if abs(2 * value - low - high) > abs(2 * fields["value"] - low - high):
        fields["value"] = value
