"""The times that a query names: "in May 2023", "on 7 May", "2023-05-07", "yesterday", "last week"."""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engram.clock import MONTHS, civil, days_from_civil

_DAY_SECONDS = 86400
_MONTH_NUMBER = {name[:size].lower(): at for at, name in enumerate(MONTHS, 1) for size in (3, len(name))}
_WORD = re.compile(r"\d{4}-\d{2}-\d{2}|[a-z]+|\d+")
_LAST = {"week": 7, "month": 30, "year": 365}
_MOST_YEARS = 2


@dataclass(frozen=True)
class NamedTime:
    """Parts of a date, each 0 if it is not named; or the days from `first` to `last`, counted from 1970."""

    year: int = 0
    month: int = 0
    day: int = 0
    first: int = 0
    last: int = 0

    def holds(self, days: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which days, counted from 1970, are meant."""
        if self.last:
            return (days >= self.first) & (days <= self.last)
        dates = days.astype("datetime64[D]")
        months = dates.astype("datetime64[M]")
        meant = np.ones(len(days), np.bool_)
        if self.year:
            meant &= dates.astype("datetime64[Y]").astype(np.int64) + 1970 == self.year
        if self.month:
            meant &= months.astype(np.int64) % 12 + 1 == self.month
        if self.day:
            meant &= (dates - months.astype("datetime64[D]")).astype(np.int64) + 1 == self.day
        return meant


def named_time(query: str, now: int, zone: int) -> NamedTime | None:
    """The time that a query names first, None if it names none; `now` is Unix seconds, `zone` minutes east of Greenwich."""
    words = _WORD.findall(query.lower())
    today = (now + zone * 60) // _DAY_SECONDS
    for at, word in enumerate(words):
        found = _relative(words[at : at + 2], today) or _iso(word) or _calendar(words, at)
        if found:
            return found
    return None


def days_of(at: NDArray[np.int64], zone: int) -> NDArray[np.int64]:
    """The days of some moments, counted from 1970."""
    return (at + zone * 60) // _DAY_SECONDS


def _relative(words: list[str], today: int) -> NamedTime | None:
    if words[0] in ("today", "yesterday"):
        day = today - (words[0] == "yesterday")
        return NamedTime(first=day, last=day)
    if words[0] == "last" and words[1:] and words[1] in _LAST:
        return NamedTime(first=today - _LAST[words[1]], last=today)
    return None


def _iso(word: str) -> NamedTime | None:
    if len(word) != 10:
        return None
    year, month, day = (int(part) for part in word.split("-")) if word.count("-") == 2 else (0, 0, 0)
    if not (1 <= month <= 12) or civil(days_from_civil(year, month, day)) != (year, month, day):
        return None
    return NamedTime(year, month, day)


def _calendar(words: list[str], at: int) -> NamedTime | None:
    """A month with the day and year beside it, or a year by itself."""
    month = _MONTH_NUMBER.get(words[at], 0)
    if words[at] in (
        "may",
        "mar",
        "march",
        "jan",
        "dec",
        "sep",
        "sept",
        "oct",
        "nov",
        "aug",
        "jun",
        "jul",
        "apr",
        "feb",
    ):
        # "may" is a verb and "march" too: only a number beside it, or "in" or "last" before it, makes it a month.
        beside = words[max(0, at - 1) : at] + words[at + 1 : at + 2]
        if not any(word.isdigit() or word in ("in", "last", "since", "during", "of") for word in beside):
            month = 0
    if month:
        before = _number(words, at - 1, 31)
        after = _number(words, at + 1, 31)
        years = [_year(words, place) for place in range(at - _MOST_YEARS, at + _MOST_YEARS + 1)]
        return NamedTime(max(years), month, before or after)
    year = _year(words, at)
    return NamedTime(year) if year and not any(word in _MONTH_NUMBER for word in words) else None


def _number(words: list[str], at: int, most: int) -> int:
    word = words[at] if 0 <= at < len(words) else ""
    return int(word) if word.isdigit() and len(word) <= 2 and 1 <= int(word) <= most else 0


def _year(words: list[str], at: int) -> int:
    word = words[at] if 0 <= at < len(words) else ""
    return int(word) if word.isdigit() and len(word) == 4 and 1900 <= int(word) < 2200 else 0
