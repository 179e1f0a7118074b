"""The days that a search names, in ten languages: "yesterday", "last week", "on Tuesday", "in May", 3天前.

A name without a year means the latest such day or month that has begun. A day is counted from 1970-01-01.
"""

from collections import namedtuple

from engram.clock import civil, days_from_civil
from engram.compat import const
from engram.text.lexicon import split_words
from engram.text.times import LEXICON, date_of
from engram.text.utf8 import encode

Days = namedtuple("Days", "first last by_today")
"""First and last day, and True if named by today, as "yesterday" is."""

_DAY_MINUTES = const(1440)
_YEAR_MINUTES = const(525600)
_ANY_DAY = const(20000)
_NUMBERS = const(" a one two three four five six seven eight nine ten eleven twelve ")
_NUMERALS = const("一二三四五六七八九十")
_WEEKDAY_SIGNS = const("一二三四五六日天")
_NOT_BEFORE_WEEKDAY = const("下每个個一两几")
_WIDE_YEAR = const("年년")
_WIDE_MONTH = const("月월")
_WIDE_DAY = const("日号號일")
_SURE_LETTERS = const(6)  # of a name that only a month has
_NOT_LATIN = const(0xD0)  # first byte of other scripts
_FIRST_WIDE = const(0xE3)  # lead byte of the scripts without spaces
_FILLERS = const(
    " today tonight yesterday last this past previous ago night before few some weekend morning afternoon evening day days "
    "week weeks month months year years monday tuesday wednesday thursday friday saturday sunday "
)
"""English words that searches ignore beside relative days."""


def find_days(query: str, today: int):
    """Return the first Days that a query names, or None; without a year it is the latest begun one."""
    words = split_words(encode(query))
    for at in range(len(words)):
        found = _days_at(words, at, today)
        if found:
            return Days(max(0, found[0]), max(0, found[1]), found[2])
    return None


def without_days(query: str) -> str:
    """Return a query without relative days, which mean other days in a text."""
    data = encode(query)
    words, kept, begin, at = split_words(data), [], 0, 0
    while at < len(words):
        found = _days_at(words, at, _ANY_DAY)
        end = found[3] if found and found[2] else at + 1
        if end > at + 1 or (found and found[2]) or b" " + words[at][0] + b" " in _FILLERS.encode():
            kept.append(data[begin : words[at][1]])
            begin = words[end - 1][2]
        at = end
    return b" ".join(kept + [data[begin:]]).decode()


def _days_at(words: list, at: int, today: int):
    """Return (first day, last day, is_relative, next word) of days at a word, or None."""
    found = _relative(words, at, today)
    if found:
        return found[0], found[1], True, found[2]
    found = _calendar(words, at, today)
    return (found[0], found[1], False, at + 1) if found else None


def _relative(words: list, at: int, today: int):
    kind, value, end = LEXICON.longest(words, at)
    if kind == "day":
        return today - value, today - value, end
    if kind == "night":
        return today - 1, today, end
    if kind == "weekend" and not [True for word in words if word[0] == b"before"]:
        first, last = _week(value, today)
        return first + 5, last, end
    if kind in ("week", "month", "year"):
        first, last = _period(kind, value, today)
        day = _place(words, end, _WEEKDAY_SIGNS) if kind == "week" else -1
        return (first, last, end) if day < 0 else (first + min(day, 6), first + min(day, 6), end + 1)
    if kind == "weekday":
        return _on_weekday(value, words, at, today, end)
    if kind == "last":
        return _counted_back(words, end, value, today)
    count, after = _number(words, end if kind == "ago_before" else at)
    unit, after = _unit_days(words, after)
    if unit and kind != "ago_before":
        ago, _, after = LEXICON.longest(words, after)
        unit = unit if ago == "ago" else 0
    is_some = not count and words[at][0][0] < _FIRST_WIDE and kind != "ago_before"
    if not unit or not (count or is_some):
        return None
    day = today - (count or 3) * unit  # "some days ago": one to five
    around = unit // 2 if count else 2 * unit
    return day - around, day + around, after


def _on_weekday(day: int, words: list, at: int, today: int, end: int):
    # "Next Tuesday" is to come, "each Tuesday" is no day, and "twice a week" neither.
    if words[at][0][0] >= _FIRST_WIDE and at and _place(words, at - 1, _NOT_BEFORE_WEEKDAY) >= 0:
        return None
    day = today - (today + 3 - day) % 7
    return day, day, end


def _counted_back(words: list, at: int, is_last: int, today: int):
    kind, value, end = LEXICON.longest(words, at)
    if kind == "weekday":
        day = today - ((today + 3 - value) % 7 or 7 * is_last)
        return day, day, end
    count, after = _number(words, at)
    unit, after = _unit_days(words, after) if count else (0, at)
    return (today - count * unit, today, after) if unit else None


def _number(words: list, at: int) -> tuple:
    if at < len(words) and _place(words, at, _NUMERALS) >= 0:
        return _numeral(words, at)
    return _number_of(_word(words, at), 999), at + 1


def _numeral(words: list, at: int) -> tuple:
    """Return a Chinese numeral below 100 in the form of _number()."""
    total, ones = 0, 0
    while at < len(words):
        digit = _place(words, at, _NUMERALS) + 1
        if not digit or (ones and digit < 10):
            break
        total, ones = (total + 10 * (ones or 1), 0) if digit == 10 else (total, digit)
        at += 1
    return total + ones, at


def _place(words: list, at: int, signs: str) -> int:
    word = _word(words, at)
    place = signs.encode().find(word) if len(word) == 3 else -1
    return place // 3 if place % 3 == 0 else -1


def _unit_days(words: list, at: int) -> tuple:
    kind, minutes, end = LEXICON.longest(words, at)
    return (minutes // _DAY_MINUTES, end) if kind == "unit" and minutes >= _DAY_MINUTES else (0, at)


def _calendar(words: list, at: int, today: int):
    word = words[at][0]
    if word[:1].isdigit() or _place(words, at, _NUMERALS) >= 0:
        return _numeric_date(words, at, today)
    kind, month, end = LEXICON.longest(words, at)
    if kind not in ("named_month", "other_month"):
        return None
    is_sure = len(word) >= _SURE_LETTERS or word[0] >= _NOT_LATIN
    before = at - 1
    before_kind, before_value, _ = LEXICON.longest(words[:at], before) if at else (0, 0, 0)
    if before_kind == "of":
        before -= 1
    day = _number_of(_word(words, before), 31) or _number_of(_word(words, end), 31)
    year = _year_number(_word(words, end)) or _year_number(_word(words, end + 1))
    # "May" is a verb, and "march": a number beside it, or "in" before it, makes it a month.
    is_led = before_kind in ("in", "before", "of") or (before_kind == "last" and before_value)
    has_number = year or _word(words, end).isdigit() or _word(words, before).isdigit()
    if kind == "other_month" and not (is_sure or has_number):
        return None
    if day or year or is_sure or is_led:
        return _latest(year, month, day, today)
    return None


def _numeric_date(words: list, at: int, today: int):
    """Return the days of 2026-05-03, 2026年5月3日 or its parts, or a year after a word such as "in"."""
    day = date_of(words[at][0])
    if day >= 0:
        return day, day
    year, month, day = 0, 0, 0
    number, end = _wide_number(words, at) if _place(words, at - 1, _NUMERALS) < 0 else (0, at)
    if _place(words, end, _WIDE_YEAR) >= 0 and 1970 <= number < 2200:
        year, at = number, end + 1
        at += _word(words, at) == "的".encode()
        number, end = _wide_number(words, at)
    if _place(words, end, _WIDE_MONTH) >= 0 and 0 < number < 13:
        month = number
        number, end = _wide_number(words, end + 1)
        day = number if _place(words, end, _WIDE_DAY) >= 0 else 0
        return _latest(year, month, day, today)
    if year:
        return _whole_year(year)
    year = _year_number(words[at][0])
    kind, unit, _ = LEXICON.longest(words[:at], at - 1) if at else (0, 0, 0)
    is_led = kind in ("in", "before", "of") or (kind == "unit" and unit == _YEAR_MINUTES)
    return _whole_year(year) if year and is_led else None


def _wide_number(words: list, at: int) -> tuple:
    word = _word(words, at)
    return (int(word), at + 1) if word.isdigit() and len(word) < 5 else _numeral(words, at)


def _word(words: list, at: int) -> bytes:
    return words[at][0] if 0 <= at < len(words) else b""


def _number_of(word: bytes, most: int) -> int:
    if word[-2:] in (b"st", b"nd", b"rd", b"th") and word[:1].isdigit():
        word = word[:-2]
    if word.isdigit() and len(word) <= 4:
        number = int(word)
    else:
        at = _NUMBERS.encode().find(b" " + word + b" ") if word else -1
        number = _NUMBERS[:at].count(" ") or 1 if at >= 0 else 0  # "a" is 1 as well
    return number if number <= most else 0


def _year_number(word: bytes) -> int:
    return int(word) if len(word) == 4 and word.isdigit() and 1970 <= int(word) < 2200 else 0


def _whole_day(year: int, month: int, day: int):
    """Return a date twice, as first and last day; None if it is invalid."""
    if not 1 <= month <= 12 or not 1970 <= year < 2200:
        return None
    number = days_from_civil(year, month, day)
    return (number, number) if civil(number) == (year, month, day) else None


def _whole_year(year: int) -> tuple:
    return days_from_civil(year, 1, 1), days_from_civil(year + 1, 1, 1) - 1


def _week(back: int, today: int) -> tuple:
    first = today - (today + 3) % 7 - 7 * back
    return first, first + 6


def _period(kind: str, back: int, today: int) -> tuple:
    """Return the first and last day of this week, month or year, or of an earlier one."""
    if kind == "week":
        return _week(back, today)
    year, month, _ = civil(today)
    if kind == "year":
        return _whole_year(year - back)
    return _month(year, month - back) if month > back else _month(year - 1, month - back + 12)


def _month(year: int, month: int) -> tuple:
    after = (year, month + 1) if month < 12 else (year + 1, 1)
    return days_from_civil(year, month, 1), days_from_civil(after[0], after[1], 1) - 1


def _latest(year: int, month: int, day: int, today: int):
    """Return a month's or day's dates; without a year the latest that has begun."""
    now_year, _, _ = civil(today)
    for candidate in (year,) if year else (now_year, now_year - 1):
        found = _whole_day(candidate, month, day) if day else _month(candidate, month)
        if found and (year or found[0] <= today):
            return found
    return None
