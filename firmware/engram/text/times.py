"""Reads times and the days that a search names, over one table of ten languages (see engram.text.time_words).

A time has one strict form a language, and one that is not read whole is refused:

    in 20 min · every 30 min · 08:00 · 07:30 daily · 07:30 mon fri · today 18:00 · tomorrow 8:00 · 2026-11-29 08:00

Days stand anywhere in a query: "yesterday", "last week", "on Tuesday", "in May", 3天前. A name without a year means
the latest such day or month that has begun. A day is counted from 1970-01-01.
"""

from collections import namedtuple

from engram.clock import civil, days_from_civil
from engram.errors import ArgumentError
from engram.text.lexicon import split_words
from engram.text.time_words import LEXICON, date_of, length_at, minute_of_day, number_at, word_at
from engram.text.utf8 import encode

Span = namedtuple("Span", "seconds")
Moment = namedtuple("Moment", "at")
"""Unix seconds."""
Repeat = namedtuple("Repeat", "minute days every")
"""A minute of the local day on days (bit 0 is Monday), or each `every` minutes without days."""
Days = namedtuple("Days", "first last by_today")
"""First and last day, and True if named by today, as "yesterday" is."""

_FORMS = const(
    "is not understood; write in 20 min, every 30 min, 08:00, 07:30 daily, 07:30 mon fri, today 18:00, "
    "tomorrow 8:00 or 2026-11-29 08:00."
)
_GOING_ON = (
    "after", "every_behind", "days", "unit", "day", "coming", "refused", "weekday", "short_weekday"
)  # fmt: skip
"""Kinds of words behind a time that may belong to it."""


def read_time(said: str, clock):
    """Return the Span, Moment or Repeat of a whole text; ArgumentError."""
    time, rest = split_time(said, clock)
    if rest:
        raise ArgumentError("time", _FORMS)
    return time


def split_time(said: str, clock) -> tuple:
    """Return (leading time, rest of the text); ArgumentError without a time."""
    data = encode(said)
    words = split_words(data)
    time, at = _repeat_or_span(words)
    if time is None and words:
        time, at = _moment(words, clock)
    if time is None or _goes_on(words, at):
        raise ArgumentError("time", _FORMS)
    return time, data[words[at][1] :].decode().strip() if at < len(words) else ""


def _repeat_or_span(words: list) -> tuple:
    """Return (time, next word) of one that needs no clock, (None, 0) without."""
    kind, value, at = LEXICON.longest(words, 0)
    if kind == "days":
        minute, at = _clock_time(words, at)
        return (Repeat(minute, value, 0), at) if minute >= 0 else (None, 0)
    is_led = kind in ("in", "every")
    minutes, at = _length(words, at if is_led else 0)
    if not is_led and minutes:
        kind, _, at = LEXICON.longest(words, at)
    if minutes and kind in ("in", "after"):
        return Span(minutes * 60), at
    if minutes and kind in ("every", "every_behind"):
        return Repeat(0, 0, minutes), at
    minute, at = _clock_time(words, 0)
    days, at = _days(words, at)
    return (Repeat(minute, days, 0), at) if minute >= 0 and days else (None, 0)


def _days(words: list, at: int) -> tuple:
    days = 0
    while True:
        kind, value, end = LEXICON.longest(words, at)
        if kind == "days":
            days |= value
        elif kind in ("weekday", "short_weekday"):
            days |= 1 << value
        else:
            return days, at
        at = end


def _moment(words: list, clock) -> tuple:
    kind, days, at = LEXICON.longest(words, 0)
    is_by_today = kind == "coming" or (kind == "day" and days == 0)
    at = at if is_by_today else 0
    word = words[0][0]
    date = date_of(word[:10])
    if len(word) > 11 and word[10:11] == b"t" and date >= 0:  # 2026-11-29T08:00
        words = [(word[11:], 0, 0)] + words[1:]
    elif date >= 0 and len(word) == 10:
        at = 1
    minute, at = _clock_time(words, at)
    if minute < 0:
        return None, 0
    now = clock.now()
    today = clock.day_number(now)
    if date < 0:
        date = today + days if is_by_today else today
        if not is_by_today and clock.moment(date, minute) <= now:
            date += 1
    return Moment(clock.moment(date, minute)), at


def _length(words: list, at: int) -> tuple:
    """Return (minutes, next word) of "20 min" or "1 h 30 min"; (0, at) without."""
    total, least = 0, 1 << 20
    while True:
        count, unit, end = length_at(words, at)
        if not 0 < unit < least:
            return total, at
        total, least, at = total + count * unit, unit, end


def _clock_time(words: list, at: int) -> tuple:
    kind, _, end = LEXICON.longest(words, at)
    place = end if kind == "at" else at
    minute = minute_of_day(word_at(words, place))
    return (minute, place + 1) if minute >= 0 else (-1, at)


def _goes_on(words: list, at: int) -> bool:
    """True if the next word belongs to a time, which is then not guessed."""
    kind, _, end = LEXICON.longest(words, at)
    if kind in _GOING_ON:
        return True
    at = end if kind in ("in", "every", "at") else at
    word = word_at(words, at)
    if not word[:1].isdigit():
        return False
    is_length = length_at(words, at)[1] > 0 or LEXICON.longest(words, at + 1)[0] == "refused"
    return is_length or minute_of_day(word) >= 0 or date_of(word) >= 0


# --- days

_DAY_MINUTES = const(1440)
_YEAR_MINUTES = const(525600)
_ANY_DAY = const(20000)
_PERIODS = const(("day", "night", "weekend", "week", "month", "year"))
_PERIOD_OF = {10080: "week", 43200: "month", 525600: "year"}  # by the minutes of a unit
_SOME = const(3)  # some days ago: one to five
_NOT_BEFORE_WEEKDAY = "下每个個一两几".encode()
_YEAR_SIGNS = ("年".encode(), "년".encode())
_MONTH_SIGNS = ("月".encode(), "월".encode())
_DAY_SIGNS = ("日".encode(), "号".encode(), "號".encode(), "일".encode())
_SURE_LETTERS = const(6)  # of a name that only a month has
_NOT_LATIN = const(0xD0)  # first byte of other scripts
_DATES = const(("named_month", "other_month", "number"))
_FILLERS = (
    b"today tonight yesterday last this past previous ago night before few some weekend morning afternoon evening day days "
    b"week weeks month months year years monday tuesday wednesday thursday friday saturday sunday"
).split()
"""English words that searches ignore beside relative days."""


def find_days(query: str, today: int):
    """Return the first Days that a query names, or None; without a year it is the latest begun one."""
    words = split_words(encode(query))
    for at in range(len(words)):
        relative = _relative(words, at, today)
        found = relative or _calendar(words, at, today)
        if found:
            return Days(max(0, found[0]), max(0, found[1]), relative is not None)
    return None


def without_days(query: str) -> str:
    """Return a query without relative days, which mean other days in a text."""
    data = encode(query)
    words, kept, begin, at = split_words(data), [], 0, 0
    while at < len(words):
        found = _relative(words, at, _ANY_DAY)
        end = found[2] if found else at + 1
        if found or words[at][0] in _FILLERS:
            kept.append(data[begin : words[at][1]])
            begin = words[end - 1][2]
        at = end
    return b" ".join(kept + [data[begin:]]).decode()


def without_dates(query: str) -> str:
    """Return the words of a query without months, numbers and their signs."""
    words = split_words(encode(query))
    kinds = [LEXICON.longest(words, at)[0] for at in range(len(words))]
    signs = _YEAR_SIGNS + _MONTH_SIGNS + _DAY_SIGNS
    kept = [word[0] for word, kind in zip(words, kinds) if kind not in _DATES and word[0] not in signs]
    return b" ".join([word for word in kept if not word.isdigit()]).decode()


def _relative(words: list, at: int, today: int):
    """Return (first day, last day, next word) of days named by today at a word, or None."""
    kind, value, end = LEXICON.longest(words, at)
    if kind == "weekend" and [True for word in words if word[0] == b"before"]:
        return None
    if kind in _PERIODS:
        first, last = _period(kind, value, today)
        weekday, day, after = LEXICON.longest(words, at + 1)  # as in 上周二
        is_weekday = kind == "week" and weekday == "weekday"
        return (first + day, first + day, after) if is_weekday else (first, last, end)
    if kind == "last" or kind == "weekday":
        return _latest_days(words, at, end if kind == "last" else at, value, today)
    if kind == "some":
        unit, minutes, after = LEXICON.longest(words, end)
        count, minutes = _SOME, minutes if unit == "unit" else 0
    else:
        count, minutes, after = length_at(words, end if kind == "ago_before" else at)
    if kind != "ago_before":
        ago, _, after = LEXICON.longest(words, after)
        minutes = minutes if ago == "ago" else 0
    if minutes < _DAY_MINUTES:
        return None
    unit = minutes // _DAY_MINUTES
    day = today - count * unit
    around = 2 * unit if kind == "some" else unit // 2
    return day - around, day + around, after


def _latest_days(words: list, at: int, behind: int, is_last: int, today: int):
    """Return the days of "Tuesday", "last Tuesday", "last week" or "last 3 days" in the form of _relative()."""
    kind, value, end = LEXICON.longest(words, behind)
    if value in _PERIOD_OF:
        first, last = _period(_PERIOD_OF[value], is_last, today)
        return first, last, end
    if kind != "weekday":
        count, minutes, end = length_at(words, behind)
        days = count * (minutes // _DAY_MINUTES)
        return (today - days, today, end) if days else None
    # 下周二 is to come, and 一周二次 is no day.
    if behind == at > 0 and words[at - 1][0] in _NOT_BEFORE_WEEKDAY:
        return None
    day = today - ((today + 3 - value) % 7 or (7 * is_last if behind > at else 0))
    return day, day, end


def _period(kind: str, back: int, today: int) -> tuple:
    """Return the first and last day of this week, month or year, or of an earlier one."""
    if kind == "day":
        return today - back, today - back
    if kind == "night":
        return today - 1, today
    year, month, _ = civil(today)
    if kind == "month":
        return _month(year, month - back)
    if kind == "year":
        return _year(year - back)
    first = today - (today + 3) % 7 - 7 * back
    return first + (5 if kind == "weekend" else 0), first + 6


def _calendar(words: list, at: int, today: int):
    """Return the first and last day of a date, month or year at a word, or None."""
    kind, month, end = LEXICON.longest(words, at)
    if kind not in ("named_month", "other_month"):
        return _numeric_date(words, at, today)
    word = words[at][0]
    before = at - 2 if LEXICON.longest(words[:at], at - 1)[0] == "of" else at - 1
    day = _month_day(word_at(words, before)) or _month_day(word_at(words, end))
    year = _year_number(word_at(words, end)) or _year_number(word_at(words, end + 1))
    # "May" is a verb, and "march": a number beside it, or "in" before it, makes it a month.
    is_sure = len(word) >= _SURE_LETTERS or word[0] >= _NOT_LATIN
    is_name = kind == "other_month" and LEXICON.longest(words[:at], at - 1)[0] == "of"  # as in "of Marco"
    if day or year or is_sure or (_is_led(words, at) and not is_name):
        return _latest(year, month, day, today)
    return None


def _is_led(words: list, at: int) -> bool:
    """True for a word behind one such as "in", "since", "last" or "year"."""
    kind, value, _ = LEXICON.longest(words[:at], at - 1)
    return kind in ("in", "before", "of") or (kind == "last" and value == 1) or value == _YEAR_MINUTES


def _numeric_date(words: list, at: int, today: int):
    """Return the days of 2026-05-03, 2026年5月3日 or its parts, or a year after a word such as "in"."""
    day = date_of(words[at][0])
    if day >= 0:
        return day, day
    year = _year_number(words[at][0])
    number, end = number_at(words, at)
    if word_at(words, end) not in _YEAR_SIGNS and year:
        return _year(year) if _is_led(words, at) else None
    if year:
        number, end = number_at(words, end + 1)
    is_begun = LEXICON.longest(words, at - 1)[0] == "number"  # as the second sign of 二十月
    if word_at(words, end) in _MONTH_SIGNS and 0 < number < 13 and not is_begun:
        day, after = number_at(words, end + 1)
        return _latest(year, number, day if word_at(words, after) in _DAY_SIGNS else 0, today)
    return _year(year) if year else None


def _month_day(word: bytes) -> int:
    if word[-2:] in (b"st", b"nd", b"rd", b"th"):
        word = word[:-2]
    return int(word) if word.isdigit() and len(word) < 3 and int(word) < 32 else 0


def _year_number(word: bytes) -> int:
    return int(word) if len(word) == 4 and word.isdigit() and 1970 <= int(word) < 2200 else 0


def _year(year: int) -> tuple:
    return days_from_civil(year, 1, 1), days_from_civil(year + 1, 1, 1) - 1


def _month(year: int, month: int) -> tuple:
    """Return a month's first and last day; month 0 is the December before."""
    return days_from_civil(year, month, 1), days_from_civil(year, month + 1, 1) - 1


def _latest(year: int, month: int, day: int, today: int):
    """Return a month's or day's dates; without a year the latest that has begun."""
    now_year, _, _ = civil(today)
    for candidate in (year,) if year else (now_year, now_year - 1):
        first, last = _month(candidate, month)
        is_date = first + day - 1 <= last
        if day:
            first = last = first + day - 1
        if is_date and (year or first <= today):
            return first, last
    return None
