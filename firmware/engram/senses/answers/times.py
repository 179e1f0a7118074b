"""The moment or the time of day that a question names: "last night", "at 7 yesterday", "between 7 and 9", 昨晚, 早上七点.

The days are those of engram.text.named_days. A night begins in the evening of its day and ends in the morning.
"""

from collections import namedtuple

from engram.compat import const
from engram.senses.answers.words import plain_words
from engram.text import named_days

Span = namedtuple("Span", "first until is_moment")
"""Unix seconds from which and up to which is asked, and whether it is one moment: `first`."""

_HOUR = const(60)  # minutes
_MINUTE_S = const(60)
_HOUR_S = const(3600)

_NIGHT = (1260, 1860)  # 21:00 to 07:00
_MORNING = (360, 720)
_NOON = (660, 840)
_AFTERNOON = (720, 1080)
_EVENING = (1080, 1440)
_TONIGHT = (1080, 1860)
_EARLY = (0, 360)
_PARTS = (
    ("tonight", _TONIGHT), ("night", _NIGHT), ("morning", _MORNING), ("noon", _NOON), ("afternoon", _AFTERNOON),
    ("evening", _EVENING),
)  # fmt: skip
_WIDE_PARTS = (
    ("今晚", _TONIGHT), ("今夜", _TONIGHT), ("今天晚上", _TONIGHT), ("昨晚", _NIGHT), ("昨夜", _NIGHT), ("昨天晚上", _NIGHT),
    ("夜", _NIGHT), ("凌晨", _EARLY), ("早", _MORNING), ("清晨", _MORNING), ("上午", _MORNING), ("中午", _NOON),
    ("下午", _AFTERNOON), ("傍晚", _EVENING), ("晚", _EVENING),
)  # fmt: skip
_NUMBERS = const(" one two three four five six seven eight nine ten eleven twelve ")
_BEFORE_TIME = const(" at by around about between from since to and until till ")
_WIDE_AGO = (("小时前", 60), ("分钟前", 1))
_WIDE_LAST = (("过去", "小时", 60), ("最近", "小时", 60), ("过去", "分钟", 1), ("最近", "分钟", 1))
_WIDE_NIGHT = (("昨夜", "昨晚"), ("今夜", "今晚"))


def span_of(said: str, clock):
    """The Span that a text names, which ends by now at the latest; None if it names none."""
    for wide, plain in _WIDE_NIGHT:
        said = said.replace(wide, plain)
    reader = _Reader(said, clock)
    found = reader.recent() or reader.of_day()
    if found is None or found.is_moment:
        return found
    return Span(found.first, min(found.until, clock.now() + 1), False)


def day_span(day: int, clock) -> Span:
    """A whole day, counted from 1970, as far as it has passed."""
    return Span(clock.moment(day), min(clock.moment(day + 1), clock.now() + 1), False)


class _Reader:
    """Reads one text."""

    def __init__(self, said: str, clock):
        self._said = said
        self._clock = clock
        self._now = clock.now()
        self._today = clock.day_number(self._now)
        self._words = plain_words(said)

    def recent(self):
        """A time that is counted back from now: "2 hours ago", "in the last 3 hours"."""
        words = self._words
        for at, word in enumerate(words):
            minutes = _unit_minutes(word)
            if not minutes:
                continue
            before = words[at - 1] if at else ""
            if words[at + 1 : at + 2] == ["ago"]:
                return self._ago((1 if before in ("an", "a") else _count(before)) * minutes)
            if before in ("last", "past"):
                return self._last(minutes)
            if _count(before) and at > 1 and words[at - 2] in ("last", "past", "previous"):
                return self._last(_count(before) * minutes)
        for phrase, minutes in _WIDE_AGO:
            count = self._wide_count(self._said.find(phrase))
            if count:
                return self._ago(count * minutes)
        for opening, unit, minutes in _WIDE_LAST:
            begin = self._said.find(opening)
            count = self._wide_count(self._said.find(unit, begin)) if begin >= 0 else 0
            if count:
                return self._last(count * minutes)
        return None

    def _ago(self, minutes: int):
        return Span(self._now - minutes * _MINUTE_S, self._now, True) if minutes else None

    def _last(self, minutes: int) -> Span:
        return Span(self._now - minutes * _MINUTE_S, self._now + 1, False)

    def _wide_count(self, place: int) -> int:
        if place <= 0:
            return 0
        for measure in ("个半", "个"):
            if self._said[:place].endswith(measure):
                place -= len(measure)
                break
        if self._said[:place].endswith("两"):
            return 2
        return named_days.number_before(self._said, place)[1]

    def of_day(self):
        """A day, a part of it, or a time of it."""
        days = named_days.named_days(self._said, self._today)
        part = self._part()
        times = self._times(part)
        day = days.last if days else self._today
        if days and part is _NIGHT and days.last - days.first == 1:
            day = days.first  # "last night" is the one of yesterday and today
        if times:
            return self._at(day, times, days is not None)
        if part and (days is None or days.last - days.first < 2):
            if days is None and (part is _NIGHT or self._moment(day, part[0]) > self._now):
                day -= 1
            return Span(self._moment(day, part[0]), self._moment(day, part[1]), False)
        if days is None:
            return None
        until = self._now + 1 if self._has("since") or "以来" in self._said else self._moment(days.last + 1, 0)
        return Span(self._moment(days.first, 0), until, False)

    def _has(self, word: str) -> bool:
        return word in self._words

    def _moment(self, day: int, minute: int) -> int:
        return self._clock.moment(day + minute // 1440, minute % 1440)

    def _part(self):
        """The minutes of the day between which a named part of it lies, None if none is named."""
        for name, part in _PARTS:
            if self._has(name) or self._has(name + "s"):
                return part
        for name, part in _WIDE_PARTS:
            if name in self._said:
                return part
        return None

    # --- times of the clock

    def _at(self, day: int, times: list, is_named: bool) -> Span:
        first = self._moment(day, times[0])
        if first > self._now and not is_named:
            day -= 1
            first = self._moment(day, times[0])
        if len(times) > 1:
            until = self._moment(day, times[1])
            return Span(first, until if until > first else self._moment(day + 1, times[1]), False)
        if self._has("since"):
            return Span(first, self._now + 1, False)
        return Span(first, first, True)

    def _times(self, part) -> list:
        """Minutes of the day, at most two."""
        found = []
        for at, word in enumerate(self._words):
            before = self._words[at - 1] if at else ""
            minute = _clock_minute(word, self._words[at + 1 : at + 2], " " + before + " " in _BEFORE_TIME)
            if minute >= 0 and len(found) < 2:
                found.append(minute)
        end = self._said.find("点")
        while end > 0 and len(found) < 2:
            hour = named_days.number_before(self._said, end)[1] or (2 if self._said[:end].endswith("两") else -1)
            if 0 <= hour <= 24:
                found.append(60 * hour + self._wide_minutes(end + 1))
            end = self._said.find("点", end + 1)
        return [_in_part(minute, part) for minute in found]

    def _wide_minutes(self, at: int) -> int:
        rest = self._said[at:]
        if rest.startswith("半"):
            return 30
        if rest.startswith("一刻"):
            return 15
        return min(59, named_days.number_before(rest, rest.find("分"))[1]) if 0 < rest.find("分") < 4 else 0


def _in_part(minute: int, part) -> int:
    """A minute of the day, or of the one after it, as it is meant in a part of the day: "at 3" of a night, "at 3" of an
    afternoon.
    """
    if part in (_AFTERNOON, _EVENING, _NOON) and minute < 720 and minute + 720 >= part[0]:
        return minute + 720
    if part in (_NIGHT, _TONIGHT):
        return minute + 1440 if minute < 540 else minute + 720 if minute < 720 else minute
    return minute


def _clock_minute(word: str, following: list, is_after: bool) -> int:
    """The minute of the day that a word such as 7, 7pm or 19:30 stands for, -1 if it is none."""
    if word in ("noon", "midnight") and is_after:
        return 720 if word == "noon" else 1440
    half = word[-2:] if word[-2:] in ("am", "pm") else following[0].replace(".", "") if following else ""
    half = half if half in ("am", "pm") else ""
    if word[-2:] == half:
        word = word[:-2]
    hour, colon, minute = word.partition(":")
    if not (_is_digits(hour) and (not colon or _is_digits(minute))) or len(hour) > 2 or len(minute) > 2:
        hour = str(_count(word))
        if hour == "0":
            return -1
        colon = minute = ""
    if not (is_after or half or colon) or int(hour) > 24 or int(minute or "0") > 59:
        return -1
    if following and _unit_minutes(following[0]):
        return -1
    if half and int(hour) <= 12:
        hour = str(int(hour) % 12 + (12 if half == "pm" else 0))
    return 60 * int(hour) + int(minute or "0")


def _count(word: str) -> int:
    """A small number as digits or as a word, 0 for all else."""
    if _is_digits(word) and len(word) <= 3:
        return int(word)
    at = _NUMBERS.find(" " + word + " ") if word else -1
    return _NUMBERS[:at].count(" ") + 1 if at >= 0 else 0


def _unit_minutes(word: str) -> int:
    return 60 if word in ("hour", "hours") else 1 if word in ("minute", "minutes") else 0


def _is_digits(word: str) -> bool:
    # As bytes: str.isdigit knows more digits than int() on CPython.
    return word.encode().isdigit()
