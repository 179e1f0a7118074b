"""The words of times and days in ten languages, numbers and dates among the words of a text
(words/times_*.txt).

An entry has a kind, a value (0 if none is given), and phrases with "|" between those of one
meaning; "," leads to the next value.

    in, at, every, after, every_behind   of "in 20 min", "at 8:00", "every 20 min", 20分钟后, 20分ごと
    ago, ago_before                      of "3 days ago", "vor 3 Tagen"
    number, some                         before a unit: three, some
    unit                                 minutes
    days                                 of the week, on which something repeats: bit 0 is Monday
    day, coming                          days back, days to come
    night, weekend, week, month, year    the last night; how many weeks, months or years back
    last                                 before a week, month, year or number of days; 1 if it is not the current one
    weekday, short_weekday               Monday is 0; the short form is read in commands only
    named_month, other_month             January is 1; a short name needs a number beside it, or a
                                         word such as "in" before it, so that Mars alone is no month
    of, before                           what stands before a month
    refused                              a word of time that is not read
    nothing                              a phrase that only looks like another

"Hier" alone is no French yesterday: in German it is "here".
"""

from engram.clock import day_number
from engram.text.lexicon import Lexicon

LEXICON = Lexicon("times")

_MOST_DIGITS = const(4)  # of a number
_DIGITS = b"0123456789"


def word_at(words: list, at: int) -> bytes:
    """Return a word, empty outside of the text."""
    return words[at][0] if 0 <= at < len(words) else b""


def number_at(words: list, at: int) -> tuple:
    """Return (number, next word) of 20, a, three or 二十一; (0, at) without."""
    word = word_at(words, at)
    if word == b"a":  # in the table it is a French "à"
        return 1, at + 1
    if word.isdigit() and len(word) <= _MOST_DIGITS:
        return int(word), at + 1
    total = ones = 0
    kind, value, end = LEXICON.longest(words, at)
    while kind == "number" and not (ones and value < 10):
        total, ones = (total + 10 * (ones or 1), 0) if value == 10 else (total, value)
        at = end
        kind, value, end = LEXICON.longest(words, at)
    return total + ones, at


def length_at(words: list, at: int) -> tuple:
    """Return (count, minutes of the unit, next word) of "20 min", "20min", "a week" or 三天; zeros without."""
    word = word_at(words, at)
    unit = word.lstrip(_DIGITS)
    if unit and len(unit) < len(word):
        (count, _), end = number_at([(word[: -len(unit)], 0, 0)], 0), at + 1
        kind, minutes, _ = LEXICON.longest([(unit, 0, 0)], 0)
    else:
        count, end = number_at(words, at)
        kind, minutes, end = LEXICON.longest(words, end)
    return (count, minutes, end) if count and kind == "unit" else (0, 0, at)


def minute_of_day(word: bytes) -> int:
    """Return the minute of the day of a word such as 7:30, or -1."""
    hour, _, minute = word.partition(b":")
    if not (hour.isdigit() and minute.isdigit() and len(hour) < 3 and len(minute) == 2):
        return -1
    return 60 * int(hour) + int(minute) if int(hour) < 24 and int(minute) < 60 else -1


def date_of(word: bytes) -> int:
    """Return the day of a word such as 2026-11-29, or -1."""
    try:
        return day_number(word.decode())
    except ValueError:
        return -1
