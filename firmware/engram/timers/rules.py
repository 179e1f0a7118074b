"""A timer that a person plainly asks for, found without a model: "remind me to water the plants tomorrow at 8", "every day at 7
tell me what is on". This file has the English; rules_wide.py has the Chinese.

As in the rules for what is remembered, what is no clear request is no match: what happened, somebody else's words, a question,
a time in a fact ("remind me that the meeting is at 9"). Texts are worked on as engram.text.phrases does.
"""

from collections import namedtuple

from engram.clock import MONTHS
from engram.compat import const
from engram.text.phrases import COURTESY, past, past_several, sentence_end, simplified, skip, statement, unmarked
from engram.text.tokenizer import split_phrases
from engram.text.utf8 import encode
from engram.timers import when
from engram.timers.schedule import EVERY_DAY, WEEKDAYS, WEEKEND

TimerRequest = namedtuple("TimerRequest", "kind what time rest")
"""kind "say" or "ask"; what, as it was said; the time as when.py has it; and what the message says after it, "" mostly."""

_LONGEST = const(1600)  # bytes of a sentence that is looked at
_CRUMB = const(10)  # bytes of a rest that says nothing
_MOST_WORDS = const(80)

_POLITE = const("don't forget to|do not forget to|remember to|make sure to|from now on")
_REQUEST = const("can you please|could you please|would you please|can you|could you|would you|will you|i want you to")
_ASK = const("tell me|show me|give me|read me|let me know")
_PART_WORDS = const(" morning noon afternoon evening night ")
_NAMES = const(" monday tuesday wednesday thursday friday saturday sunday ")
_NUMBERS = const(" zero one two three four five six seven eight nine ten eleven twelve ")
_MORE_NUMBERS = (
    (b"a", 1), (b"an", 1), (b"fifteen", 15), (b"twenty", 20), (b"thirty", 30), (b"forty", 40), (b"forty-five", 45),
    (b"fifty", 50), (b"sixty", 60), (b"ninety", 90), (b"half", 30), (b"quarter", 15),
)  # fmt: skip
_NOTHING = const("|it|this|that|them|him|her|me|us|again|later|please|up")
_AND = (b"and", b"or", b"but", b"&")
_STRIPPED = const(b",.;:!?()")


def match(said: str):
    """The request in a message, as a TimerRequest, None if it is none."""
    data = encode(said).strip()
    plain = simplified(data[:_LONGEST])
    start = past_several(COURTESY + "|" + _POLITE, plain, skip(plain, 0))
    asked = past(_REQUEST, plain, start)
    if asked >= 0:
        asked = past_several(COURTESY, plain, asked)
    end = sentence_end(data, start)
    if end > len(plain) or (len(data) > len(plain) and end == len(plain)):
        return None
    told = (end, end) if asked >= 0 else statement(data, start)
    if told is None:
        return None
    begin = max(start, asked)
    found = _in_english(unmarked(plain[: told[0]]), begin)
    if not found:
        from engram.timers import rules_wide  # for Chinese only

        found = rules_wide.find(plain[: told[0]], begin)
    if not found:
        return None
    kind, first, last, time = found
    what = data[first:last].decode().strip()
    rest = data[skip(data, told[1]) :]
    return TimerRequest(kind, what, time, rest.decode() if len(rest) > _CRUMB else "")


def match_time(said: str):
    """(the time, the text beside it) of words such as "tomorrow at 8 water the plants"; None if they name no time."""
    data = encode(said).strip()
    plain = simplified(data)
    words = _words(plain, 0)
    time, at = read_time(words, 0)
    if time:
        begin = words[at][1] if at < len(words) else len(plain)
        return time, data[begin:].decode().strip()
    time, at = _time_at_end(words, 1)
    if time:
        return time, data[: words[at - 1][2]].decode().strip()
    from engram.timers import rules_wide  # for Chinese only

    time, begin = rules_wide.read_time(rules_wide.one_form(plain), 0)
    return (time, data[begin:].decode().strip(" ，,")) if time else None


def _in_english(plain: bytes, begin: int):
    """(kind, where what it says begins, where that ends, the time) of a sentence; None if it is no such request."""
    words = _words(plain, begin)
    if len(words) > _MOST_WORDS or not words or plain[begin : begin + 1] in (b'"', b"'", b"\xe2"):
        return None
    time, at = read_time(words, 0)
    if time:
        at = _skip(words, at, b"please", b"then", b"you")
    found = (
        _remind(words, at, time) or _timer(words, at, time) or _wake(words, at, time) or _ask(words, at, time, plain)
    )
    return None if found and plain[found[1] : found[2]] in split_phrases(_NOTHING) else found


def _remind(words: list, at: int, time):
    """Of "remind me ...", as the others below."""
    if not _are(words, at, b"remind", b"me") and not _are(words, at, b"remind", b"us"):
        return None
    at += 2
    last = len(words)
    if not time:
        time, at = read_time(words, at)
    opening = words[at][0] if at < last else b""
    if opening in (b"to", b"about", b"of", b"that"):
        at += 1
    elif not time:
        return None
    if not time or (not when.is_full(time) and "every" not in time):
        # "remind me tomorrow to call Bob at 8"
        more, end = _time_at_end(words, at + 1) if opening != b"that" or time else (None, 0)
        if more and (not time or not _collide(time, more)):
            time = _joined(time or {}, more)
            last = end
    if not time or not when.is_time(time) or at >= last or _has_more(words, at, last):
        return None
    return "say", words[at][1], words[last - 1][2], time


def _has_more(words: list, first: int, last: int) -> bool:
    """Whether what is to be said tells of another time or another request: then it is not for a rule to cut it up."""
    if words[first][0] in _AND or words[last - 1][0] in _AND:
        return True
    for at in range(first, last):
        if at > first and _part_of_time(words[:last], at, {})[0]:
            return True
        if words[at][0] in _AND and _are(words[:last], at + 1, b"tell", b"me"):
            return True
    return False


def _ask(words: list, at: int, time, plain: bytes):
    """Of "at 7 tell me ..." and "tell me every day at 7 ...", which the agent is to answer."""
    first = words[at][1] if at < len(words) else len(plain)
    behind = past(_ASK, plain, first)
    if behind < 0:
        return None
    if not time:
        after = at
        while after < len(words) and words[after][1] < behind:
            after += 1
        time, after = read_time(words, after)
        if time and when.is_full(time) and ("days" in time or "every" in time) and after < len(words):
            return "ask", words[after][1], words[-1][2], time
        return None
    return ("ask", first, words[-1][2], time) if when.is_full(time) and behind < len(plain) else None


def _wake(words: list, at: int, time):
    """Of "wake me up at 7"."""
    if not _are(words, at, b"wake", b"me"):
        return None
    begin = at
    at = _skip(words, at + 2, b"up")
    end = at
    if not time:
        time, at = read_time(words, at)
    is_over = at == len(words) and time and when.is_full(time)
    return ("say", words[begin][1], words[end - 1][2], time) if is_over else None


def _timer(words: list, at: int, time):
    """Of "set a timer for 20 minutes" and "set an alarm for 7"."""
    begin = at
    if time or at >= len(words) or words[at][0] not in (b"set", b"start", b"make"):
        return None
    at = _skip(words, at + 1, b"a", b"an", b"the", b"another")
    for end in range(at, min(at + 4, len(words))):
        if words[end][0] in (b"timer", b"alarm"):
            break
    else:
        return None
    if end > at:  # "a 20 minute timer"
        time, after = _length(words, at)
        is_over = after == end and end + 1 == len(words) and time
        return ("say", words[at][1], words[end][2], {"after": time}) if is_over else None
    at = _skip(words, end + 1, b"for", b"of", b"to")
    seconds, after = _length(words, at)
    time = {"after": seconds}
    if not seconds:
        time, after = read_time(words, at)
        if not time and words[at : at + 1]:
            time, after = read_time([(b"at", 0, 0)] + words[at:], 0)
            after += at - 1
    is_over = after == len(words) and time and when.is_full(time)
    return ("say", words[begin + 1][1], words[after - 1][2], time) if is_over else None


# --- times


def read_time(words: list, at: int) -> tuple:
    """(the time that begins at a word, the word behind it); (None, at) if none does."""
    time, start = {}, at
    while at < len(words):
        if words[at][0] in (b"and", b"on") and time and at + 1 < len(words):
            found, end = _part_of_time(words, at, time)
            if not found:
                break
        else:
            found, end = _part_of_time(words, at, time)
        if not found or _collide(time, found):
            break
        time, at = _joined(time, found), end
    return (time, at) if when.is_time(time) else (None, start)


def _time_at_end(words: list, first: int) -> tuple:
    """(the longest time with which some words end, its first word), looked for from a word on; (None, 0) without one."""
    for at in range(first, len(words)):
        time, end = read_time(words, at)
        if time and end == len(words):
            return time, at
    return None, 0


def _joined(time: dict, more: dict) -> dict:
    time = dict(time)
    time.update(more)
    return time


def _collide(time: dict, more: dict) -> bool:
    for names in (("after", "every", "days", "in_days", "weekday", "date"), ("minute",), ("part",)):
        if any(name in time for name in names) and any(name in more for name in names):
            return True
    return False


def _part_of_time(words: list, at: int, time: dict) -> tuple:
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
    seconds, end = _length(words, at + 1)
    if seconds:
        return {"after": seconds}, end
    count, end = _number(words, at + 1)
    unit = _word(words, end)
    if count > 0 and unit in (b"day", b"days"):
        return {"in_days": count}, end + 1
    if count > 0 and unit in (b"week", b"weeks"):
        return {"in_days": 7 * count}, end + 1
    return {}, at


def _length(words: list, at: int) -> tuple:
    """(the seconds of some minutes or hours, the word behind them); (0, at) if there are none."""
    start = at
    if _are(words, at, b"half", b"an", b"hour") or _are(words, at, b"half", b"a", b"hour"):
        return 1800, at + 3
    if _are(words, at, b"a", b"quarter", b"of", b"an", b"hour"):
        return 900, at + 5
    count, at = _number(words, at)
    unit = _word(words, at)
    if count <= 0 or count > 100000:
        return 0, start
    if unit in (b"minute", b"minutes", b"min", b"mins"):
        return 60 * count, at + 1
    if unit in (b"hour", b"hours", b"h"):
        at += 1
        if _are(words, at, b"and", b"a", b"half"):
            return 3600 * count + 1800, at + 3
        more, end = _number(words, _skip(words, at, b"and"))
        if more > 0 and _word(words, end) in (b"minute", b"minutes", b"min"):
            return 3600 * count + 60 * more, end + 1
        return 3600 * count, at
    if _are(words, at, b"and", b"a", b"half", b"hours"):
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
    return _named_days(words, at, _skip(words, at, b"on"), False)


def _every(words: list, at: int) -> tuple:
    """What stands behind "every" but for names of days."""
    if _are(words, at, b"half", b"hour"):
        return {"every": 30}, at + 2
    word = _word(words, at)
    if word == b"hour":
        return {"every": 60}, at + 1
    seconds, end = _length(words, at)
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
        at = _skip(words, end, b"and")


def _day(words: list, at: int) -> tuple:
    word = _word(words, at)
    if word == b"tomorrow":
        return {"in_days": 1}, at + 1
    if word == b"today":
        return {"in_days": 0}, at + 1
    if word == b"tonight":
        return {"in_days": 0, "part": when.NIGHT}, at + 1
    if _are(words, at, b"the", b"day", b"after", b"tomorrow"):
        return {"in_days": 2}, at + 4
    if word == b"this" and _place(_word(words, at + 1), _PART_WORDS) >= 0:
        return {"in_days": 0, "part": _place(_word(words, at + 1), _PART_WORDS) + 1}, at + 2
    begin = at
    at = _skip(words, at, b"on")
    is_next = _word(words, at) in (b"next", b"this", b"coming")
    place = _place(_word(words, at + is_next), _NAMES)
    if place >= 0:
        return {"weekday": place}, at + is_next + 1
    found, end = _date(words, _skip(words, at, b"the"))
    return (found, end) if found else ({}, begin)


def _date(words: list, at: int) -> tuple:
    word = _word(words, at)
    if len(word) == 10 and word[4:5] == word[7:8] == b"-" and (word[:4] + word[5:7] + word[8:]).isdigit():
        return {"date": (int(word[:4]), int(word[5:7]), int(word[8:]))}, at + 1
    month, day, end = _month(word), _day_of_month(_word(words, at + 1)), at + 2
    if not month:
        day = _day_of_month(word)
        end = _skip(words, at + 1, b"of")
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
    if word in (b"half", b"quarter") or _are(words, at, b"a", b"quarter"):
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
    return 60 * number, 2 if number > 12 else 0, end


def _half_day(minute: int, half: bytes) -> int:
    """A time that was said with am or pm."""
    return minute % 720 + (720 if half == b"p" else 0)


def _part_of_day(words: list, at: int) -> tuple:
    if _are(words, at, b"in", b"the"):
        part = _place(_word(words, at + 2), _PART_WORDS)
        return ({"part": part + 1}, at + 3) if part >= 0 else ({}, at)
    return ({"part": when.NIGHT}, at + 2) if _are(words, at, b"at", b"night") else ({}, at)


# --- words


def _words(plain: bytes, begin: int) -> list:
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


def _are(words: list, at: int, *wanted) -> bool:
    return all(_word(words, at + place) == word for place, word in enumerate(wanted))


def _skip(words: list, at: int, *some) -> int:
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
