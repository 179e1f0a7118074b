"""The days that a question names: "yesterday", "last week", "on Tuesday", "in May", "3 days ago", 昨天, 上周, 5月3日.

A name without a year means the latest such day or month that has begun. Only whole days are known, counted from 1970.
"""

from collections import namedtuple

from engram.clock import MONTHS, civil, days_from_civil
from engram.compat import const

_DAYS = const(" monday tuesday wednesday thursday friday saturday sunday ")
_TODAYS = const(
    " today tonight yesterday last this past previous ago night before few some weekend morning afternoon evening "
)
_UNITS = const(" day week month year ")
_NUMBERS = const(" a one two three four five six seven eight nine ten eleven twelve ")
_BEFORE_MONTH = const(" in last since during of early late ")
_NUMERALS = const("一二三四五六七八九十")
_WEEKDAYS = const("一二三四五六日天")
_WIDE_WEEKS = ("星期", "礼拜", "周")
_NO_WEEK = const("下每个一两几")
_MOST_NAMES = const(4)  # that are taken out of a query
_WIDE_DAYS = (("今天", 0), ("今日", 0), ("昨天", 1), ("昨日", 1), ("昨晚", 1), ("前天", 2), ("今晚", 0), ("今早", 0))
_WIDE_SPANS = (
    ("上周", "week", 1), ("上星期", "week", 1), ("上个星期", "week", 1), ("上礼拜", "week", 1), ("本周", "week", 0),
    ("这周", "week", 0), ("这星期", "week", 0), ("这个星期", "week", 0), ("上个月", "month", 1), ("上月", "month", 1),
    ("本月", "month", 0), ("这个月", "month", 0), ("去年", "year", 1), ("今年", "year", 0), ("前年", "year", 2),
)  # fmt: skip


NamedDays = namedtuple("NamedDays", "first last by_today")
"""The first and the last of some days, and whether they are named by today, as "yesterday" is."""


def named_days(query: str, today: int):
    """The NamedDays that a query names first, None if it names none; all are days since 1970-01-01."""
    words = _words(query)
    for at in range(len(words)):
        for names in (_relative, _calendar):
            found = names(words, at, today)
            if found:
                return NamedDays(found[0], found[1], names is _relative)
    if len(query.encode()) == len(query):
        return None
    found = _wide(query, today)
    if found:
        return NamedDays(found[0], found[1], True)
    found = _wide_calendar(query, today)
    return NamedDays(found[0], found[1], False) if found else None


def without_days(query: str) -> str:
    """A query that names days without the words that name them by today: in a text they mean other days."""
    kept = []
    for word in query.split():
        bare = "".join(_words(word))
        if _place(bare, _TODAYS) < 0 and _place(bare, _DAYS) < 0 and not _unit(bare):
            kept.append(word)
    query = " ".join(kept)
    if len(query.encode()) > len(query):
        for _ in range(_MOST_NAMES):
            found = _wide(query, 0)
            if not found:
                break
            query = query[: found[2]] + " " + query[found[3] :]
    return query


def _words(query: str) -> list:
    """The words of a query in lower case, without what stands around them; dates are kept whole."""
    found = []
    for word in query.lower().replace("/", " ").split():
        word = word.strip(".,!?;:\"'()").replace("'s", "").replace("’s", "")
        if word:
            found.append(word)
    return found


def number_of(word: str, most: int) -> int:
    """1 to `most`, as digits, with an ending as in 3rd, or as a word; 0 for all else."""
    if word[-2:] in ("st", "nd", "rd", "th") and word[:1].isdigit():
        word = word[:-2]
    if _is_digits(word) and len(word) <= 4:
        number = int(word)
    else:
        place = _place(word, _NUMBERS)
        number = place or 1 if place >= 0 else 0  # "a" is 1 as well
    return number if number <= most else 0


def _place(word: str, names: str) -> int:
    """The place of a word among names, the first one's being 0; -1 if it is none of them."""
    at = names.find(" " + word + " ") if word else -1
    return names[:at].count(" ") if at >= 0 else -1


def _is_digits(word: str) -> bool:
    # As bytes: str.isdigit knows more digits than int() on CPython.
    return word.encode().isdigit()


def _relative(words: list, at: int, today: int):
    word, then = words[at], words[at + 1] if at + 1 < len(words) else ""
    if word in ("today", "tonight"):
        return today, today
    if word == "yesterday":
        day = today - 2 if words[max(0, at - 2) : at] == ["day", "before"] else today - 1
        return day, day
    if word in ("last", "this", "past", "previous") and then:
        part = _part_of_day(word, then, words, today)
        if part:
            return part
        if _unit(then) and then != "day":
            return _span(_unit(then), word != "this", today)
        count = number_of(then, 999)
        unit = _unit(words[at + 2]) if count and at + 2 < len(words) else ""
        if unit:
            return today - count * _length(unit), today
    if word == "ago" and at > 1 and _unit(words[at - 1]):
        unit, count = _unit(words[at - 1]), number_of(words[at - 2], 999)
        day = today - (count or 3) * _length(unit)  # "some days ago": one to five
        around = 2 * _length(unit) if not count else _length(unit) // 2
        return day - around, day + around
    weekday = _place(word, _DAYS)
    if weekday >= 0:
        back = (today + 3 - weekday) % 7
        day = today - (back or 7 if words[max(0, at - 1) : at] == ["last"] else back)
        return day, day
    return None


def _part_of_day(word: str, then: str, words: list, today: int):
    """The days of "last night", "this morning" or "last weekend"; None for all else, and for a weekend before another day."""
    if then == "night":
        return today - 1, today
    if word == "this" and then in ("morning", "afternoon", "evening"):
        return today, today
    if then == "weekend" and "before" not in words:
        first, last = _span("week", word != "this", today)
        return first + 5, last
    return None


def _unit(word: str) -> str:
    word = word[:-1] if word[-1:] == "s" else word
    return word if _place(word, _UNITS) >= 0 else ""


def _length(unit: str) -> int:
    return 1 if unit == "day" else 7 if unit == "week" else 30 if unit == "month" else 365


def _span(unit: str, back: int, today: int) -> tuple:
    """The first and the last day of this week, month or year, or of the one `back` units earlier."""
    year, month, _ = civil(today)
    if unit == "week":
        first = today - (today + 3) % 7 - 7 * back
        return first, first + 6
    if unit == "month":
        month -= back
        if month < 1:
            year, month = year - 1, month + 12
        return _month(year, month)
    return _whole_year(year - back)


def _whole_year(year: int) -> tuple:
    return days_from_civil(year, 1, 1), days_from_civil(year + 1, 1, 1) - 1


def _month(year: int, month: int) -> tuple:
    after = (year, month + 1) if month < 12 else (year + 1, 1)
    return days_from_civil(year, month, 1), days_from_civil(after[0], after[1], 1) - 1


def _calendar(words: list, at: int, today: int):
    word = words[at]
    if len(word) == 10 and word[4] == word[7] == "-" and _is_digits(word.replace("-", "")):
        return whole_day(int(word[:4]), int(word[5:7]), int(word[8:]))
    month = month_number(word)
    before, after = words[at - 1] if at else "", words[at + 1] if at + 1 < len(words) else ""
    if month:
        day = number_of(before if before != "of" else words[at - 2] if at > 1 else "", 31) or number_of(after, 31)
        year = year_number(after) or year_number(words[at + 2] if at + 2 < len(words) else "")
        # "may" is a verb, and "march": a number beside it, or "in" before it, makes it a month.
        if day or year or _place(before, _BEFORE_MONTH) >= 0 or len(word) > 5:
            return _latest(year, month, day, today)
    year = year_number(word)
    if year and not month_number(before) and before in ("in", "during", "since", "of", "year"):
        return _whole_year(year)
    return None


def month_number(word: str) -> int:
    """The number of a month by its English name or the first letters of it, in lower case; 0 for all else."""
    if len(word) < 3:
        return 0
    for at, name in enumerate(MONTHS):
        name = name.lower()
        if word == name or word == name[:3] or (word == "sept" and at == 8):
            return at + 1
    return 0


def year_number(word: str) -> int:
    """The year that a word is, 0 if it is none."""
    return int(word) if len(word) == 4 and _is_digits(word) and 1970 <= int(word) < 2200 else 0


def whole_day(year: int, month: int, day: int):
    """The first and the last day of a date, which are the same one; None if there is no such date."""
    if not 1 <= month <= 12 or not 1970 <= year < 2200:
        return None
    number = days_from_civil(year, month, day)
    return (number, number) if civil(number) == (year, month, day) else None


def _latest(year: int, month: int, day: int, today: int):
    """A month or a day of it; without a year that of this year if it has begun, or of the last one."""
    now_year, _, _ = civil(today)
    for candidate in (year,) if year else (now_year, now_year - 1):
        found = whole_day(candidate, month, day) if day else _month(candidate, month)
        if found and (year or found[0] <= today):
            return found
    return None


def _wide(query: str, today: int):
    """(first day, last day, where the name begins, where it ends) of days that are named by today in Chinese, None without."""
    for name, back in _WIDE_DAYS:
        place = query.find(name)
        if place >= 0:
            return today - back, today - back, place, place + len(name)
    for name, unit, back in _WIDE_SPANS:
        place = query.find(name)
        if place >= 0:
            first, last = _span(unit, back, today)
            end = place + len(name)
            day = _weekday(query, end) if unit == "week" else -1
            return (first, last, place, end) if day < 0 else (first + day, first + day, place, end + 1)
    for name in _WIDE_WEEKS:
        place = query.find(name)
        day = _weekday(query, place + len(name)) if place >= 0 else -1
        # "Next Tuesday" is to come, "each Tuesday" is no day, and "twice a week" neither.
        if day >= 0 and (query[place - 1] if place else "-") not in _NO_WEEK:
            day = today - (today + 3 - day) % 7
            return day, day, place, place + len(name) + 1
    place = query.find("天前")
    start, count = number_before(query, place) if place > 0 else (0, 0)
    return (today - count, today - count, start, place + 2) if count else None


def _weekday(query: str, place: int) -> int:
    """The day of the week, Monday being 0, whose sign stands at a place; -1 if none does."""
    return min(6, _WEEKDAYS.find(query[place : place + 1] or "?"))


def _wide_calendar(query: str, today: int):
    year = month = day = 0
    place = query.find("年")
    if place > 0:
        year = number_before(query, place)[1]
        year = year if 1970 <= year < 2200 else 0
    place = query.find("月")
    if place > 0:
        month = number_before(query, place)[1]
        end = max(query.find("日", place), query.find("号", place))
        day = number_before(query, end)[1] if end > 0 else 0
    if 1 <= month <= 12:
        return _latest(year, month, day, today)
    return _whole_year(year) if year else None


def number_before(query: str, end: int) -> tuple:
    """(where it begins, the number) of up to four digits, or of a Chinese numeral below 100, before a place; 0 for none."""
    start = end
    while start and _is_digits(query[start - 1]):
        start -= 1
    if start < end:
        return start, int(query[start:end]) if end - start <= 4 else 0
    while start and query[start - 1] in _NUMERALS:
        start -= 1
    tens, ten, ones = query[start:end].rpartition("十")
    if len(tens) > 1 or len(ones) > 1 or "十" in tens:
        return start, 0
    number = _numeral(ones)
    return start, number + 10 * (_numeral(tens) or 1) if ten else number


def _numeral(sign: str) -> int:
    return min(_NUMERALS.find(sign), 9) + 1 if sign else 0
