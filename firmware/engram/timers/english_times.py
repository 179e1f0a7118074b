"""Times as English says them: "tomorrow at 8", "in 20 minutes", "every weekday at half past seven". rules_wide.py has the
Chinese.

A time is a dict as when.py has it. Words are (word, where it begins, where it ends), as split_words() gives them.
"""

from engram.clock import MONTHS
from engram.compat import const
from engram.timers import when
from engram.timers.schedule import EVERY_DAY, WEEKDAYS, WEEKEND

_PART_WORDS = const(" morning noon afternoon evening night ")
_NAMES = const(" monday tuesday wednesday thursday friday saturday sunday ")
_NUMBERS = const(" zero one two three four five six seven eight nine ten eleven twelve ")
_MORE_NUMBERS = (
    (b"a", 1), (b"an", 1), (b"fifteen", 15), (b"twenty", 20), (b"thirty", 30), (b"forty", 40), (b"forty-five", 45),
    (b"fifty", 50), (b"sixty", 60), (b"ninety", 90), (b"half", 30), (b"quarter", 15),
)  # fmt: skip
_STRIPPED = const(b",.;:!?()")


def read_time(words: list, at: int) -> tuple:
    """(the time that begins at a word, the word behind it); (None, at) if none does."""
    time, start = {}, at
    while at < len(words):
        found, end = part_of_time(words, at, time)
        if not found or do_collide(time, found):
            break
        time, at = join_times(time, found), end
    return (time, at) if when.is_time(time) else (None, start)


def time_at_end(words: list, first: int) -> tuple:
    """(the longest time with which some words end, its first word), looked for from a word on; (None, 0) without one."""
    for at in range(first, len(words)):
        time, end = read_time(words, at)
        if time and end == len(words):
            return time, at
    return None, 0


def join_times(time: dict, more: dict) -> dict:
    """A time with what more was said of it."""
    time = dict(time)
    time.update(more)
    return time


def do_collide(time: dict, more: dict) -> bool:
    """Whether two times say different things of the same: both a day, or both a time of the day."""
    for names in (("after", "every", "days", "in_days", "weekday", "date"), ("minute",), ("part",)):
        if any(name in time for name in names) and any(name in more for name in names):
            return True
    return False


def part_of_time(words: list, at: int, time: dict) -> tuple:
    """({what one part of a time says}, the word behind it); ({}, at) if there is none."""
    for read in (_after, _repeat, _day, _clock_time, _part_of_day):
        found, end = read(words, at)
        if found:
            return found, end
    if time and ("in_days" in time or "weekday" in time or "days" in time):
        part = _place(_word(words, at), _PART_WORDS)  # "tomorrow morning"
        if part >= 0:
            return {"part": part + 1}, at + 1
    return {}, at


def _after(words: list, at: int) -> tuple:
    if _word(words, at) != b"in":
        return {}, at
    seconds, end = read_length(words, at + 1)
    if seconds:
        return {"after": seconds}, end
    count, end = _number(words, at + 1)
    unit = _word(words, end)
    if count > 0 and unit in (b"day", b"days"):
        return {"in_days": count}, end + 1
    if count > 0 and unit in (b"week", b"weeks"):
        return {"in_days": 7 * count}, end + 1
    return {}, at


def read_length(words: list, at: int) -> tuple:
    """(the seconds of some minutes or hours, the word behind them); (0, at) if there are none."""
    start = at
    if are(words, at, b"half", b"an", b"hour") or are(words, at, b"half", b"a", b"hour"):
        return 1800, at + 3
    if are(words, at, b"a", b"quarter", b"of", b"an", b"hour"):
        return 900, at + 5
    count, at = _number(words, at)
    unit = _word(words, at)
    if count <= 0 or count > 100000:
        return 0, start
    if unit in (b"minute", b"minutes", b"min", b"mins"):
        return 60 * count, at + 1
    if unit in (b"hour", b"hours", b"h"):
        at += 1
        if are(words, at, b"and", b"a", b"half"):
            return 3600 * count + 1800, at + 3
        more, end = _number(words, skip_word(words, at, b"and"))
        if more > 0 and _word(words, end) in (b"minute", b"minutes", b"min"):
            return 3600 * count + 60 * more, end + 1
        return 3600 * count, at
    if are(words, at, b"and", b"a", b"half", b"hours"):
        return 3600 * count + 1800, at + 4
    return 0, start


def _repeat(words: list, at: int) -> tuple:
    word = _word(words, at)
    if word == b"daily":
        return {"days": EVERY_DAY}, at + 1
    if word == b"hourly":
        return {"every": 60}, at + 1
    if word in (b"every", b"each"):
        found, end = _every(words, at + 1)
        return (found, end) if found else _named_days(words, at, at + 1, True)
    return _named_days(words, at, skip_word(words, at, b"on"), False)


def _every(words: list, at: int) -> tuple:
    """What stands behind "every" but for names of days."""
    if are(words, at, b"half", b"hour"):
        return {"every": 30}, at + 2
    word = _word(words, at)
    if word == b"hour":
        return {"every": 60}, at + 1
    seconds, end = read_length(words, at)
    if seconds:
        return {"every": seconds // 60}, end
    if word == b"day":
        return {"days": EVERY_DAY}, at + 1
    if word in (b"morning", b"afternoon", b"evening", b"night"):
        return {"days": EVERY_DAY, "part": _place(word, _PART_WORDS) + 1}, at + 1
    return {}, at


def _named_days(words: list, begin: int, at: int, is_every: bool) -> tuple:
    """Weekdays, weekends, or names of days, in the plural unless "every" stands before them."""
    word = _word(words, at)
    if word in (b"weekdays", b"workdays") or (is_every and word in (b"weekday", b"workday")):
        return {"days": WEEKDAYS}, at + 1
    if word == b"weekends" or (is_every and word == b"weekend"):
        return {"days": WEEKEND}, at + 1
    days, end = 0, begin
    while True:
        word = _word(words, at)
        is_plural = word[-1:] == b"s"
        place = _place(word[:-1] if is_plural else word, _NAMES)
        if place < 0 or not (is_plural or is_every):
            return ({"days": days}, end) if days else ({}, begin)
        days |= 1 << place
        end = at + 1
        at = skip_word(words, end, b"and")


def _day(words: list, at: int) -> tuple:
    word = _word(words, at)
    if word == b"tomorrow":
        return {"in_days": 1}, at + 1
    if word == b"today":
        return {"in_days": 0}, at + 1
    if word == b"tonight":
        return {"in_days": 0, "part": when.NIGHT}, at + 1
    if are(words, at, b"the", b"day", b"after", b"tomorrow"):
        return {"in_days": 2}, at + 4
    if word == b"this" and _place(_word(words, at + 1), _PART_WORDS) >= 0:
        return {"in_days": 0, "part": _place(_word(words, at + 1), _PART_WORDS) + 1}, at + 2
    begin = at
    at = skip_word(words, at, b"on")
    is_next = _word(words, at) in (b"next", b"this", b"coming")
    place = _place(_word(words, at + is_next), _NAMES)
    if place >= 0:
        return {"weekday": place}, at + is_next + 1
    found, end = _date(words, skip_word(words, at, b"the"))
    return (found, end) if found else ({}, begin)


def _date(words: list, at: int) -> tuple:
    word = _word(words, at)
    if len(word) == 10 and word[4:5] == word[7:8] == b"-" and (word[:4] + word[5:7] + word[8:]).isdigit():
        return {"date": (int(word[:4]), int(word[5:7]), int(word[8:]))}, at + 1
    month, day, end = _month(word), _day_of_month(_word(words, at + 1)), at + 2
    if not month:
        day = _day_of_month(word)
        end = skip_word(words, at + 1, b"of")
        month = _month(_word(words, end))
        end += 1
    if not month or not day:
        return {}, at
    year = _word(words, end)
    if len(year) == 4 and year.isdigit() and year[:2] == b"20":
        return {"date": (int(year), month, day)}, end + 1
    return {"date": (0, month, day)}, end


def _month(word: bytes) -> int:
    for at, name in enumerate(MONTHS):
        name = name.lower().encode()
        if word == name or (len(word) == 3 and word == name[:3]):
            return at + 1
    return 0


def _day_of_month(word: bytes) -> int:
    if word[-2:] in (b"st", b"nd", b"rd", b"th"):
        word = word[:-2]
    return int(word) if word.isdigit() and len(word) < 3 and 0 < int(word) < 32 else 0


def _clock_time(words: list, at: int) -> tuple:
    begin = at
    is_at = _word(words, at) == b"at"
    at += is_at
    word = _word(words, at)
    if word == b"noon" or word == b"midnight":
        return {"minute": 720 if word == b"noon" else 0, "is_exact": True}, at + 1
    if word in (b"half", b"quarter") or are(words, at, b"a", b"quarter"):
        return _around(words, at + (word == b"a"), begin)
    minute, is_exact, at = _hour(words, at, is_at)
    if minute < 0:
        return {}, begin
    word = _word(words, at)
    if word in (b"am", b"a.m", b"pm", b"p.m") and minute < 780:
        return {"minute": _half_day(minute, word[:1]), "is_exact": True}, at + 1
    if word in (b"o'clock", b"o\xe2\x80\x99clock", b"oclock"):
        return {"minute": minute}, at + 1
    if not (is_at or is_exact):
        return {}, begin
    found: dict = {"minute": minute}
    if is_exact > 1:
        found["is_exact"] = True
    return found, at


def _around(words: list, at: int, begin: int) -> tuple:
    """The time of "half past 8", "quarter past 8" and "quarter to 8"."""
    minutes = 30 if _word(words, at) == b"half" else 15
    side = _word(words, at + 1)
    hour, end = _number(words, at + 2)
    if side not in (b"past", b"to") or not 0 < hour < 24:
        return {}, begin
    return {"minute": (60 * hour + (minutes if side == b"past" else -minutes)) % 1440}, end


def _hour(words: list, at: int, is_at: bool) -> tuple:
    """(minute of the day or -1; 0 for any number, 1 for a time, 2 if its half of the day is sure; the word behind it)."""
    word = _word(words, at)
    half = b""
    if word[-2:] in (b"am", b"pm") and word[:1].isdigit():
        word, half = word[:-2], word[-2:-1]
    hour, colon, minutes = word.partition(b":")
    if colon and hour.isdigit() and minutes.isdigit() and len(minutes) == 2 and len(hour) < 3:
        minute = 60 * int(hour) + int(minutes)
        if int(hour) > 23 or int(minutes) > 59:
            return -1, 0, at
        is_sure = half or int(hour) > 12 or hour[:1] == b"0"
        return (_half_day(minute, half) if half else minute), 2 if is_sure else 1, at + 1
    if half:
        number = int(word) if word.isdigit() and len(word) < 3 else 99
        return (_half_day(60 * number, half), 2, at + 1) if number < 13 else (-1, 0, at)
    number, end = _number(words, at)
    if not 0 <= number < 24 or word in (b"a", b"an", b"half", b"quarter"):
        return -1, 0, at
    if is_at and not word.isdigit() and _word(words, end) in (b"fifteen", b"thirty", b"forty-five"):
        return 60 * number + _number(words, end)[0], 1, end + 1
    return 60 * number, 2 if is_at and number > 12 else 0, end


def _half_day(minute: int, half: bytes) -> int:
    """A time that was said with am or pm."""
    return minute % 720 + (720 if half == b"p" else 0)


def _part_of_day(words: list, at: int) -> tuple:
    if are(words, at, b"in", b"the"):
        part = _place(_word(words, at + 2), _PART_WORDS)
        return ({"part": part + 1}, at + 3) if part >= 0 else ({}, at)
    return ({"part": when.NIGHT}, at + 2) if are(words, at, b"at", b"night") else ({}, at)


# --- words


def split_words(plain: bytes, begin: int) -> list:
    """(word, where it begins, where it ends) of each word, without the marks around it."""
    found = []
    at = begin
    while at < len(plain):
        end = plain.find(b" ", at)
        end = len(plain) if end < 0 else end
        word = plain[at:end]
        bare = word.lstrip(_STRIPPED)
        first = at + len(word) - len(bare)
        bare = bare.rstrip(_STRIPPED)
        if bare:
            found.append((bare, first, first + len(bare)))
        at = end + 1
    return found


def _word(words: list, at: int) -> bytes:
    return words[at][0] if 0 <= at < len(words) else b""


def are(words: list, at: int, *wanted) -> bool:
    """Whether some words stand one after the other from a word on."""
    return all(_word(words, at + place) == word for place, word in enumerate(wanted))


def skip_word(words: list, at: int, *some) -> int:
    """The next word, behind one of some that may stand there."""
    return at + 1 if _word(words, at) in some else at


def _place(word: bytes, names: str) -> int:
    """The place of a word among names, -1 if it is none of them."""
    at = names.encode().find(b" " + word + b" ") if word else -1
    return names.encode()[:at].count(b" ") if at >= 0 else -1


def _number(words: list, at: int) -> tuple:
    """(a number in digits or words, the word behind it); (-1, at) if there is none."""
    word = _word(words, at)
    if word.isdigit() and len(word) < 5:
        return int(word), at + 1
    place = _place(word, _NUMBERS)
    if place >= 0:
        return place, at + 1
    for name, value in _MORE_NUMBERS:
        if word == name:
            return value, at + 1
    return -1, at
