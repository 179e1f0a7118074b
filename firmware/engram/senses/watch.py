"""Watches limits minute by minute, and the usual values of each hour of the day. Baselines are learned
from the hours on flash after each start; slots are minutes or hours of Unix time.
"""

from engram.senses.values import HOUR, MINUTE, add_to, aggregate_of

_HOURS = const(24)
_FINE = const(4)  # bits after the point
_LEAST_DAYS = const(14)  # of an hour of the day, before anything is unusual at it
_SETTLED_DAYS = const(7)  # from which on a reading teaches no more than _CLIP spreads
_CLIP = const(3)
_MEMORY_DAYS = const(16)
_SHRINK_DAYS = const(96)  # a spread shrinks slowly, as winter comes again
_REACH = const(4)  # spreads from the mean that are usual
_LEAST_SPREAD = const(16)  # one unit of the last decimal
HOURS_OFF = const(2)  # unusual hours in a row that make an event


class HourlyBaseline:
    """The usual mean and spread of each hour of the day, learned in integers."""

    def __init__(self):
        self._means = [0] * _HOURS
        self._spreads = [0] * _HOURS
        self._days = bytearray(_HOURS)

    def usual(self, hour: int):
        """Return an hour's usual range of means, None while unknown."""
        if self._days[hour] < _LEAST_DAYS:
            return None
        mean, reach = self._means[hour], _REACH * max(self._spreads[hour], _LEAST_SPREAD)
        return (mean - reach) >> _FINE, (mean + reach) >> _FINE

    def learn(self, hour: int, value: int) -> None:
        days, spread = self._days[hour], self._spreads[hour]
        off = (value << _FINE) - self._means[hour]
        if not days:
            self._means[hour], off = value << _FINE, 0
        if days >= _SETTLED_DAYS:
            most = _CLIP * max(spread, _LEAST_SPREAD)
            off = max(-most, min(most, off))
        gain = min(days + 1, _MEMORY_DAYS)
        self._means[hour] += off // gain
        more = abs(off) * 5 // 4 - spread
        self._spreads[hour] += more // (gain if more > 0 else min(days + 1, _SHRINK_DAYS))
        self._days[hour] = min(days + 1, 255)


class _SenseState:
    def __init__(self):
        self.baseline = HourlyBaseline()
        self.hour = {}
        """Sums of the current hour by slot."""
        self.off = 0
        """Unusual hours in a row."""
        self.beyond = {}
        """By limit id (first, last) minute of readings beyond it."""


class Watch:
    """A monitor of limits and unusual readings; events end after `quiet` normal minutes."""

    def __init__(self, senses, clock, limits, quiet: int, finds_unusual: bool):
        self._clock = clock
        self._limits = limits
        self._quiet = quiet
        self._finds_unusual = finds_unusual
        self._states = {}
        self._past = senses.history.past_hours() if finds_unusual else None
        senses.on_minute = self.on_minute

    def tick(self) -> bool:
        """Learn a slice of the past; True if there is more."""
        if not self._clock.known:
            return False
        for found in self._past or ():
            if found is True:
                return True
            number, hour, mean = found
            self._state_of(number).baseline.learn(self._hour_of_day(hour), mean)
        self._past = None
        return False

    def on_minute(self, sense, slot: int, aggregate: tuple) -> None:
        state = self._state_of(sense.number)
        for row in self._limits.of_sense(sense):
            if "bound" in row:
                self._check_limit(state, slot, aggregate[3], row)
        if self._finds_unusual:
            hour = slot // 60
            if state.hour and hour not in state.hour:
                past, total = state.hour.popitem()
                self._check_hour(sense, state, past, aggregate_of(total)[3])
            add_to(state.hour, hour, aggregate)
        self._limits.settle()

    def _state_of(self, number: int) -> _SenseState:
        if number not in self._states:
            self._states[number] = _SenseState()
        return self._states[number]

    def _check_limit(self, state, slot: int, value: int, row: dict) -> None:
        is_lasting = "start" in row
        first, last = state.beyond.get(row["id"], (slot, slot))
        if value < row["bound"] if row["kind"] == "below" else value > row["bound"]:
            state.beyond[row["id"]] = first, slot
            if not is_lasting and slot - first >= row["minutes"]:
                self._limits.begin(row, first * MINUTE, value)
        elif is_lasting and slot - last < self._quiet:
            state.beyond[row["id"]] = first, last
        else:
            state.beyond.pop(row["id"], None)
            if is_lasting:
                self._limits.end(row)

    # --- hours

    def _check_hour(self, sense, state, slot: int, mean: int) -> None:
        hour = self._hour_of_day(slot)
        usual = None if self._past else state.baseline.usual(hour)
        lasting = [row for row in self._limits.of_sense(sense) if row["kind"] == "unusual"]
        is_off = usual is not None and not usual[0] <= mean <= usual[1]
        state.off = state.off + 1 if is_off else 0
        if usual and not lasting and state.off >= HOURS_OFF:
            self._limits.begin_unusual(sense, (slot + 1 - HOURS_OFF) * HOUR, mean, list(usual))
        elif lasting and usual and not is_off:
            self._limits.end(lasting[0])
        state.baseline.learn(hour, mean)

    def _hour_of_day(self, slot: int) -> int:
        return (slot + self._clock.offset_minutes(self._clock.now()) // 60) % _HOURS
