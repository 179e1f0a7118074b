"""The time zone of a board: its days and times of day, by the firmware's own rules."""

from dataclasses import dataclass
from functools import lru_cache

from engram.zone import Zone

_DAY_SECONDS = 86400
_MOST_RULES = 256
"""Rules that are kept read: there are some 30 with daylight saving on Earth."""

_zone = lru_cache(maxsize=_MOST_RULES)(Zone)


@dataclass(frozen=True)
class BoardZone:
    """`standard` is the offset of standard time in minutes east of Greenwich, by which the index names days; `rule` says when
    there is daylight saving time, "" where there is none.
    """

    standard: int = 0
    rule: str = ""

    def offset_minutes(self, at: int) -> int:
        """Minutes east of Greenwich at a moment."""
        return _zone(self.rule).offset_minutes(at) if self.rule else self.standard

    def day_of(self, at: int) -> int:
        """The day of a moment, in days since 1970."""
        return (at + self.offset_minutes(at) * 60) // _DAY_SECONDS

    def start_of(self, day: int) -> int:
        """The moment at which a day begins, given in days since 1970."""
        local = day * _DAY_SECONDS
        return _zone(self.rule).moment(local) if self.rule else local - self.standard * 60

    def spans(self, first: int, last: int) -> list[tuple[int, int, int]]:
        """(first, end, minutes east) of the times with one offset in which some moments are, in order."""
        found = []
        at = first
        while self.rule and at <= last:
            begin, end, minutes = _zone(self.rule).span_of(at)
            found.append((begin, end, minutes))
            at = end
        return found


def is_rule(rule: str) -> bool:
    """Whether a text is a rule that the firmware knows."""
    try:
        _zone(rule)
    except ValueError:
        return False
    return True
