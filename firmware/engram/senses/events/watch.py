"""Watches all senses: limits, what is unusual, readings that stay the same and readings that do not come any more.

`on_minute` takes what Senses gives when a minute of a sense is over, `tick` is called now and then. Both begin and end events
of an Events, see events.py. All times of a Watched are minutes of Unix time.
"""

from engram import diag
from engram.compat import const
from engram.errors import EngramError
from engram.senses.events import baseline_file
from engram.senses.events.baseline import DAY, GAP, REST, Baseline
from engram.senses.events.event_file import key_of
from engram.senses.values import MINUTE, UNPLACED

_QUARTER = const(900)
_QUARTERS_A_DAY = const(96)

# What lasts as long as this many times the longest that is usual is an event, from a shortest time on.
_TIMES = const(3)
_STUCK_LEAST = const(120)  # minutes
_SILENT_LEAST = const(15)
_NEVER = const(2880)  # minutes: what may usually take longer than this says nothing
_LEARNS_DAYS = const(7)  # before readings that stay the same mean anything
_JUMP = const(5)  # minutes between two ticks after which the clock was set, or the board stood still
_QUIET = const(5)  # minutes within a limit until the event is over


class _Watched:
    """What is known of one sense since the start."""

    def __init__(self, baseline):
        self.baseline = baseline
        self.quarter = -1
        self.total = self.count = 0
        self.seen = 0
        self.value = None
        self.value_since = 0
        self.events = {}
        """The fields of its events that have not ended, by kind, of limits with their ids."""
        self.beyond = {}
        """By limit: since when readings are beyond it, or were last."""


class Watch:
    """Watches a board's `senses`; `path` is the file of what is usual. Unless `finds_unusual`, only limits make events."""

    def __init__(self, senses, clock, limits, events, path: str, declared=None, finds_unusual: bool = True):
        self._senses = senses
        self._clock = clock
        self.limits = limits
        self.events = events
        self._path = path
        self._declared = declared or {}
        self._finds_unusual = finds_unusual
        self._watched = {}
        self._since = self._last_tick = 0
        self._day = -1

    def open(self) -> None:
        """Go on with what is on flash."""
        for number, baseline in baseline_file.load(self._path).items():
            self._watched[number] = _Watched(baseline)
        self._watch_declared()
        for fields in self.events.open.values():
            watched = self._watched_of(fields["sense"])
            watched.events[key_of(fields)[1]] = fields
            if fields["kind"] == "stuck":
                watched.value, watched.value_since = fields["value"], fields["start"] // MINUTE
            if fields["kind"] == "unusual":
                watched.baseline.resume(max(0, (self._clock.now() - fields["start"]) // _QUARTER))

    def _watch_declared(self) -> None:
        """Watch each sensor of config.json from the start on: it may never be read."""
        for name, declared in self._declared.items():
            sense = self._senses.find(name) if declared["kind"] != "code" else None
            if sense is not None:
                numbers = self._watched_of(sense.number).baseline.numbers
                numbers[GAP] = max(numbers[GAP], self._declared_pace(sense))

    def baseline(self, number: int):
        """What is usual for a sense, None if nothing is known yet."""
        watched = self._watched.get(number)
        return watched.baseline if watched else None

    def _watched_of(self, number: int) -> _Watched:
        watched = self._watched.get(number)
        if watched is None:
            watched = self._watched[number] = _Watched(Baseline())
            sense = self._senses.sense(number)
            watched.baseline.numbers[GAP] = self._declared_pace(sense) if sense else 0
        return watched

    def _declared_pace(self, sense) -> int:
        """How many minutes config.json lets pass between two readings of a sense, 0 if it does not say."""
        declared = self._declared.get(sense.config_name)
        if declared is None or declared["kind"] == "code":
            return 0
        return (declared.get("every", MINUTE) + MINUTE - 1) // MINUTE

    # --- a minute of a sense

    def on_minute(self, number: int, slot: int, aggregate: tuple) -> None:
        """Take in the (count, min, max, mean, last) of a minute of a sense."""
        if slot < UNPLACED // MINUTE:
            return  # the clock is not set
        watched = self._watched_of(number)
        if slot <= watched.seen:
            watched.value = None  # the clock went back
        self._check_gap(watched, slot)
        self._check_stuck(number, watched, slot, aggregate)
        watched.seen = slot
        self._check_limits(number, watched, slot, aggregate[3])
        quarter = self._quarter_of(slot * MINUTE)
        if quarter != watched.quarter:
            self._close_quarter(number, watched, quarter)
        watched.total += aggregate[3]
        watched.count += 1

    def _quarter_of(self, at: int) -> int:
        return (at + self._clock.offset_minutes(at) * 60) // _QUARTER

    def _check_gap(self, watched, slot: int) -> None:
        """Readings have come again: learn how long they stayed away, as far as the board was there all the time."""
        was_silent = self._end(watched, "silent", slot)
        if watched.seen and self._since <= watched.seen < slot:
            _learn(watched.baseline, GAP, slot - watched.seen, was_silent)
            if slot - watched.seen > max(_SILENT_LEAST, watched.baseline.numbers[GAP]):
                watched.value = None
        elif watched.seen and "stuck" not in watched.events:
            watched.value = None

    def _check_stuck(self, number: int, watched, slot: int, aggregate: tuple) -> None:
        _, low, high, _, last = aggregate
        baseline = watched.baseline
        if low == high == watched.value:
            most = _longest(baseline, REST, _STUCK_LEAST)
            if slot - watched.value_since >= most and baseline.days >= _LEARNS_DAYS and "stuck" not in watched.events:
                usual = [0, max(1, baseline.numbers[REST])]
                self._begin(number, watched, "stuck", watched.value_since, last, usual)
            return
        if watched.value is not None:
            was_stuck = self._end(watched, "stuck", slot)
            _learn(baseline, REST, slot - watched.value_since, was_stuck)
        watched.value, watched.value_since = last, slot

    # --- limits

    def _check_limits(self, number: int, watched, slot: int, value: int) -> None:
        sense = self._senses.sense(number)
        limits = self.limits.of_sense(sense) if sense else ()
        for limit in limits:
            side = "low" if "low" in limit else "high"
            self._check_limit(number, watched, slot, value, limit, side)
        if len(watched.events) > 0:
            self._end_removed(watched, limits, slot)

    def _check_limit(self, number: int, watched, slot: int, value: int, limit: dict, side: str) -> None:
        key, bound = side + limit["id"], limit[side]
        fields = watched.events.get(key)
        if value < bound if side == "low" else value > bound:
            begun, _ = watched.beyond.get(key, (slot, slot))
            watched.beyond[key] = begun, slot
            if fields is None and slot - begun >= limit.get("minutes", 0):
                self._begin(number, watched, side, begun, value, None, limit)
            elif fields is not None:
                fields["value"] = min(value, fields["value"]) if side == "low" else max(value, fields["value"])
            return
        if fields is None:
            watched.beyond.pop(key, None)
            return
        back = watched.baseline.reach() // 4
        is_back = value >= bound + back if side == "low" else value <= bound - back
        begun, last = watched.beyond.get(key, (slot, slot))
        if not is_back:
            last = slot
        watched.beyond[key] = begun, last
        if slot - last >= _QUIET:
            self._end(watched, key, slot)
            watched.beyond.pop(key, None)

    def _end_removed(self, watched, limits, slot: int) -> None:
        """End the events of limits that are not there any more."""
        there = [("low" if "low" in limit else "high") + limit["id"] for limit in limits]
        for key in list(watched.events):
            if watched.events[key]["kind"] in ("low", "high") and key not in there:
                self._end(watched, key, slot)

    # --- what is unusual

    def _close_quarter(self, number: int, watched, quarter: int) -> None:
        """A quarter of an hour is over."""
        before, baseline = watched.quarter, watched.baseline
        watched.quarter = quarter
        if before >= 0 and watched.count:
            found = baseline.add(before, watched.total, watched.count)
            slot = watched.seen
            if found is False:
                self._end(watched, "unusual", slot)
            elif found is not None and "unusual" not in watched.events:
                self._begin(number, watched, "unusual", slot - 60, baseline.mean, list(baseline.usual))
            elif "unusual" in watched.events:
                _note_farthest(watched.events["unusual"], baseline.mean)
        watched.total = watched.count = 0
        if before >= 0 and quarter // _QUARTERS_A_DAY != before // _QUARTERS_A_DAY:
            self._end_day(number, watched)

    def _end_day(self, number: int, watched) -> None:
        baseline = watched.baseline
        found = baseline.end_day()
        if found is False or not baseline.is_drifting:
            self._end(watched, "drift", watched.seen)
        elif found == DAY and "drift" not in watched.events:
            self._begin(number, watched, "drift", watched.seen - 2880, baseline.day_mean, list(baseline.usual))

    # --- events

    def _begin(self, number: int, watched, kind: str, slot: int, value: int, usual, limit=None) -> None:
        if limit is None and not self._finds_unusual:
            return
        fields = self.events.begin(number, kind, slot * MINUTE, value, usual, limit, watched.baseline.days)
        if fields is not None:
            watched.events[key_of(fields)[1]] = fields

    def _end(self, watched, key: str, slot: int) -> bool:
        """End an event; whether there was one."""
        fields = watched.events.pop(key, None)
        if fields is not None:
            self.events.end(fields, slot * MINUTE)
        return fields is not None

    # --- now and then

    def tick(self) -> None:
        """Look for senses that are silent, and write once a day what is usual."""
        if not self._clock.known:
            return
        now = self._clock.now()
        slot = now // MINUTE
        if not 0 <= slot - self._last_tick <= _JUMP:
            self._since = slot  # the start, or the clock was set: silence is counted from now
        if slot == self._last_tick:
            return
        self._last_tick = slot
        quarter = self._quarter_of(now - MINUTE)
        for number, watched in list(self._watched.items()):
            if self._senses.sense(number) is None:
                self._forget(number, slot)
                continue
            if watched.quarter >= 0 and quarter > watched.quarter and watched.count:
                self._close_quarter(number, watched, quarter)
            self._check_silent(number, watched, slot)
        self.events.settle()
        self._end_days(self._quarter_of(now) // _QUARTERS_A_DAY)

    def _check_silent(self, number: int, watched, slot: int) -> None:
        baseline = watched.baseline
        last = max(watched.seen, self._since)
        is_known = baseline.days > 0 or baseline.numbers[GAP]
        if slot - last < _longest(baseline, GAP, _SILENT_LEAST) or not is_known or "silent" in watched.events:
            return
        value = watched.value if watched.value is not None else 0
        self._begin(number, watched, "silent", last, value, [0, max(1, baseline.numbers[GAP])])

    def _forget(self, number: int, slot: int) -> None:
        watched = self._watched.pop(number)
        for key in list(watched.events):
            self._end(watched, key, slot)
        self.limits.forget(number)

    def _end_days(self, day: int) -> None:
        """Once a day: write what is usual, and have the day before written down."""
        if day == self._day:
            return
        is_start, self._day = self._day < 0, day  # also if the flash refuses: not again at each tick
        try:
            self.events.end_day(day)
            if not is_start:
                self._save()
        except EngramError as error:
            diag.warning("senses", str(error))

    def _save(self) -> None:
        baseline_file.save(self._path, [(number, watched.baseline) for number, watched in self._watched.items()])


def _longest(baseline, at: int, least: int) -> int:
    """How many minutes something may last before it is an event."""
    usual = baseline.numbers[at]
    return max(least, _TIMES * usual) if _TIMES * usual <= _NEVER else 1 << 29


def _learn(baseline, at: int, minutes: int, was_event: bool) -> None:
    """Learn how long something usually lasts; what was an event counts for little, in case that it is usual after all."""
    known = baseline.numbers[at]
    baseline.numbers[at] = max(known, min(minutes, 2 * known + 10) if was_event else minutes)


def _note_farthest(fields: dict, value: int) -> None:
    """Keep the reading of an event that is farthest from what is usual."""
    low, high = fields["usual"]
    if abs(2 * value - low - high) > abs(2 * fields["value"] - low - high):
        fields["value"] = value
