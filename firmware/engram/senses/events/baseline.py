"""The usual mean and spread of a sense at each hour of the day, learned in integers."""

from engram.compat import const

_HOURS = const(24)
_FINE = const(4)  # bits after the point
_LEAST_DAYS = const(14)  # of an hour of the day, before anything is unusual at it
_SETTLED_DAYS = const(7)  # from which on a reading teaches no more than _CLIP spreads
_CLIP = const(3)
_MEMORY_DAYS = const(16)
_SHRINK_DAYS = const(96)  # a spread shrinks slowly: what was usual in the winter will be again
_REACH = const(4)  # spreads from the mean that are usual
_LEAST_SPREAD = const(16)  # one unit of the last decimal

HOURS_OFF = const(2)
"""Hours in a row that have to be off what is usual for an event."""


class HourlyBaseline:
    """Exponentially weighted means and mean deviations, one of each for each hour of the day."""

    def __init__(self):
        self._means = [0] * _HOURS
        self._spreads = [0] * _HOURS
        self._days = bytearray(_HOURS)

    def usual(self, hour: int):
        """The lowest and highest mean that is usual at an hour of the day, None if that is not known yet."""
        if self._days[hour] < _LEAST_DAYS:
            return None
        mean, reach = self._means[hour], _REACH * max(self._spreads[hour], _LEAST_SPREAD)
        return (mean - reach) >> _FINE, (mean + reach) >> _FINE

    def learn(self, hour: int, value: int) -> None:
        """Learn the mean of an hour."""
        days, spread = self._days[hour], self._spreads[hour]
        off = (value << _FINE) - self._means[hour] if days else 0
        if not days:
            self._means[hour] = value << _FINE
        if days >= _SETTLED_DAYS:
            most = _CLIP * max(spread, _LEAST_SPREAD)
            off = max(-most, min(most, off))
        gain = min(days + 1, _MEMORY_DAYS)
        self._means[hour] += off // gain
        more = abs(off) * 5 // 4 - spread
        self._spreads[hour] += more // (gain if more > 0 else min(days + 1, _SHRINK_DAYS))
        self._days[hour] = min(days + 1, 255)
