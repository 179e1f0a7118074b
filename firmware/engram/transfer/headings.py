"""The headings of a page: the tag and the day that they give the items below them, and those of headings around them."""

from engram.clock import MONTHS, civil, days_from_civil
from engram.compat import const
from engram.memory.records import fields as record_fields

_NUMBERS = const(" a one two three four five six seven eight nine ten eleven twelve ")
_NUMERALS = const("一二三四五六七八九十")
DEFAULT_TAG = "imported"
NO_DAY = const(-1)

_MOST_LEVELS = const(6)
_AROUND = const(" .:;()[]{}<>*_`\"'!?|~-#")  # what stands around a word
_DASHES = ("–", "—", "·", "•")
_WEEKDAYS = const(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
_MARKS = (("年", "月", "日"), ("年", "月", "号"), ("년", "월", "일"))  # behind a year, a month and a day
_WEEK_MARKS = ("星期", "礼拜", "周")
_WEEK_DAYS = const("一二三四五六日天")


class Headings:
    """The headings that hold for the items that follow."""

    def __init__(self):
        self._open = []  # (level, year, day, tag), the outermost first

    @property
    def day(self) -> int:
        """The day of the items, counted from 1970; NO_DAY without one."""
        return self._open[-1][2] if self._open else NO_DAY

    @property
    def tag(self) -> str:
        """The tag of items without one."""
        return self._open[-1][3] if self._open else DEFAULT_TAG

    def read(self, level: int, heading: str) -> None:
        """Read a heading; it has what those of lower levels before it have, where it does not say better."""
        while self._open and self._open[-1][0] >= min(level, _MOST_LEVELS):
            self._open.pop()
        _, year, day, tag = self._open[-1] if self._open else (0, 0, NO_DAY, DEFAULT_TAG)
        named, year, rest = find_day(heading, year)
        if len(rest) <= record_fields.TAG_LONGEST:
            tag = record_fields.tag(rest) or tag
        self._open.append((min(level, _MOST_LEVELS), year, day if named == NO_DAY else named, tag))


def find_day(text: str, year: int = 0) -> tuple:
    """(the day that a text names or NO_DAY, its year or `year`, the words that name no day). A day without a year is one of
    `year`, and none without that.
    """
    words = text.replace(",", " ").split()
    bare = [word.strip(_AROUND).lower() for word in words]
    years = [year_number(word) for word in bare if year_number(word)]
    year = years[0] if years else year
    for at, word in enumerate(bare):
        day, used = _numeric_day(word), (at,)
        if day == NO_DAY and month_number(word):
            day, used = _month_day(bare, at, year)
        if day != NO_DAY:
            kept = [words[place] for place in range(len(words)) if place not in used and _is_kept(bare[place])]
            return day, civil(day)[0], " ".join(kept).strip(_AROUND)
    if len(text.encode()) > len(text):
        return _marked_day(text, year)
    return NO_DAY, year, text


def _is_kept(bare: str) -> bool:
    """Whether a word beside a day says more than the day does."""
    is_weekday = len(bare) > 2 and [True for name in _WEEKDAYS if name.startswith(bare)]
    return bool(bare) and bare not in _DASHES and not is_weekday


def _numeric_day(word: str) -> int:
    """The day of a word such as 2026-03-14, 14.03.2026, 14-Mar-2026 or 3/14/2026; NO_DAY for one with two meanings."""
    word = word[:10] if word[10:11] == "t" else word
    for sign in "-./":
        parts = word.split(sign)
        if len(parts) != 3:
            continue
        if year_number(parts[0]):
            parts = parts[::-1]
        year, month = year_number(parts[2]), month_number(parts[1]) or number_of(parts[1], 31)
        day = number_of(parts[0], 31)
        is_day_first = sign == "." or day > 12 or day == month or month_number(parts[1]) or word.startswith(parts[2])
        if not is_day_first:
            if month <= 12:
                break
            day, month = month, day
        return _day(year, month, day)
    return NO_DAY


def _month_day(bare: list, at: int, year: int) -> tuple:
    """(day, places of the words that name it) of a month's name and the numbers beside it."""
    before = at - 2 if at > 1 and bare[at - 1] == "of" else at - 1
    for place in (before, at + 1):
        if 0 <= place < len(bare):
            found = _day(year, month_number(bare[at]), number_of(bare[place], 31))
            if found != NO_DAY:
                used = [each for each in range(len(bare)) if bare[each] in ("%d" % year, "of", "the", "on")]
                return found, used + [at, place]
    return NO_DAY, ()


def _marked_day(text: str, year: int) -> tuple:
    """find_day() of a text such as 2026年3月14日."""
    for marks in _MARKS:
        ends = [text.find(mark) for mark in marks]
        begin = number_before(text, ends[1])[0] if ends[1] > 0 else 0
        if ends[0] > 0:
            first, found = number_before(text, ends[0])
            year = found or year
            begin = min(begin, first)
        if 0 < ends[1] < ends[2]:
            day = _day(year, number_before(text, ends[1])[1], number_before(text, ends[2])[1])
            if day != NO_DAY:
                rest = text[:begin] + " " + _without_weekday(text[ends[2] + len(marks[2]) :])
                return day, year, " ".join(rest.split()).strip(_AROUND)
    return NO_DAY, year, text


def _without_weekday(text: str) -> str:
    for mark in _WEEK_MARKS:
        before, _, behind = text.partition(mark)
        if behind and behind[:1] in _WEEK_DAYS:
            text = before + " " + behind[1:]
    for sign in ("（", "）", "，", "：", "、"):
        text = text.replace(sign, " ")
    return text


def _day(year: int, month: int, day: int) -> int:
    """The number of a day, NO_DAY if there is no such day."""
    found = whole_day(year, month, day) if day else None
    return found[0] if found else NO_DAY


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
