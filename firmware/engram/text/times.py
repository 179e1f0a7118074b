"""Reads times, in one strict form a language: a time that is not read whole is refused.

    in 20 min · every 30 min · 08:00 · 07:30 daily · 07:30 mon fri · today 18:00 · tomorrow 8:00 · 2026-11-29 08:00

The words of ten languages are in time_words.py. A day is counted from 1970-01-01.
"""

from collections import namedtuple

from engram.clock import day_number
from engram.compat import const
from engram.errors import ArgumentError
from engram.text.lexicon import split_words
from engram.text.time_words import LEXICON
from engram.text.utf8 import encode

Span = namedtuple("Span", "seconds")
Moment = namedtuple("Moment", "at")
"""Unix seconds."""
Repeat = namedtuple("Repeat", "minute days every")
"""At a minute of the local day on days of the week (bit 0 is Monday), or, with no days, every `every` minutes."""

_FORMS = const(
    "is not understood; write in 20 min, every 30 min, 08:00, 07:30 daily, 07:30 mon fri, today 18:00, "
    "tomorrow 8:00 or 2026-11-29 08:00."
)
_NOT_SET = const("needs the clock, which is not set yet; write in 20 min, every 30 min or 07:30 daily.")
_GOING_ON = (
    "after", "every_behind", "days", "unit", "day", "coming", "refused", "weekday", "short_weekday"
)  # fmt: skip
"""Kinds of words behind a time that may belong to it."""
_MOST_DIGITS = const(4)  # of a count


def read_time(said: str, clock):
    """The Span, Moment or Repeat that a text is; ArgumentError if it is not read whole."""
    time, rest = split_time(said, clock)
    if rest:
        raise ArgumentError("time", _FORMS)
    return time


def split_time(said: str, clock) -> tuple:
    """(the time with which a text begins, the text behind it); ArgumentError without a time."""
    data = encode(said)
    words = split_words(data)
    time, at = _repeat_or_span(words) if words else (None, 0)
    if time is None and words:
        time, at = _moment(words, clock)
    if time is None or (at < len(words) and _goes_on(words, at)):
        raise ArgumentError("time", _FORMS)
    return time, data[words[at][1] :].decode().strip() if at < len(words) else ""


def _repeat_or_span(words: list) -> tuple:
    """(time, the word behind it) of one that needs no clock; (None, 0) if there is none."""
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
    """(days of the week, the word behind them)."""
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
    """(Moment, the word behind it), (None, 0) if there is none."""
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
    if not clock.known:
        raise ArgumentError("time", _NOT_SET)
    now = clock.now()
    today = clock.day_number(now)
    if date < 0:
        date = today + days if is_by_today else today
        if not is_by_today and clock.moment(date, minute) <= now:
            date += 1
    return Moment(clock.moment(date, minute)), at


def _length(words: list, at: int) -> tuple:
    """(the minutes of "20 min" or "1 h 30 min", the word behind them); (0, at) without them."""
    total, least = 0, 1 << 20
    while at < len(words):
        count, unit, end = _counted(words, at)
        if not 0 < unit < least:
            break
        total, least, at = total + count * unit, unit, end
    return total, at


def _counted(words: list, at: int) -> tuple:
    """(count, minutes of the unit, the word behind it) of "20 min" or "20min"; or (0, 0, at)."""
    word = words[at][0]
    unit = word.lstrip(b"0123456789")
    count = word[: len(word) - len(unit)]
    kind, minutes, end = LEXICON.longest([(unit, 0, 0)] if unit else words, 0 if unit else at + 1)
    if kind != "unit" or not 0 < len(count) <= _MOST_DIGITS:
        return 0, 0, at
    return int(count), minutes, at + 1 if unit else end


def _clock_time(words: list, at: int) -> tuple:
    """(minute of the day, the word behind it), (-1, at) if there is no time of the day."""
    kind, _, end = LEXICON.longest(words, at)
    place = end if kind == "at" else at
    minute = minute_of_day(words[place][0]) if place < len(words) else -1
    return (minute, place + 1) if minute >= 0 else (-1, at)


def minute_of_day(word: bytes) -> int:
    """Return the minute of the day of a word such as 7:30, -1 if it is none."""
    hour, _, minute = word.partition(b":")
    if not (hour.isdigit() and minute.isdigit() and len(hour) < 3 and len(minute) == 2):
        return -1
    return 60 * int(hour) + int(minute) if int(hour) < 24 and int(minute) < 60 else -1


def _goes_on(words: list, at: int) -> bool:
    """True if a word belongs to a time: one that goes on behind what was read is not guessed."""
    kind, _, end = LEXICON.longest(words, at)
    if kind in ("in", "every", "at"):
        return end < len(words) and _is_timed(words, end)
    return kind in _GOING_ON or _is_timed(words, at)


def _is_timed(words: list, at: int) -> bool:
    word = words[at][0]
    is_refused = word.isdigit() and LEXICON.longest(words, at + 1)[0] == "refused"
    return is_refused or _counted(words, at)[1] > 0 or minute_of_day(word) >= 0 or date_of(word) >= 0


def date_of(word: bytes) -> int:
    """The day of a word such as 2026-11-29, -1 if it is none."""
    try:
        return day_number(word.decode())
    except ValueError:
        return -1
