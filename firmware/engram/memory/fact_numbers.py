"""Numbers, days and times of a fact's tokens in one form.

"five", 三十 and 1,000 are digits, 3.50 euros are `3.5 $eur`, 7 pm, 19:00 and 晚上7点 are `T1140`: minutes of the day. Dates are
`D2024-05-03`, without what was not said. What could be an identifier (a version, a code, a phone number) keeps its zeros.
"""

from engram.compat import const
from engram.memory.fact_words import unit

_NOON = const(720)

_ONES = (
    b"zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    b"eighteen nineteen "
)
_TENS = b"twenty thirty forty fifty sixty seventy eighty ninety "
_ORDINALS = b"th first second third fourth fifth sixth seventh eighth ninth tenth "
_POWERS = {b"hundred": 2, b"thousand": 3, b"million": 6, "千".encode(): 3, "万".encode(): 4}
_YEAR, _MONTH, _DAY, _DAY_TOO, _CLOCK, _MINUTE, _HALF = [sign.encode() for sign in "年月日号点分半"]
_DAYS = (_DAY, _DAY_TOO)
_BEFORE = (b"$percent", b"$eur", b"$usd", b"$gbp", b"$yuan")
_BEFORE_YEARS = (b"@in", b"@since", b"@until", b"@by", b"@from")
_SCALES = (b"c", b"celsius", b"f", b"fahrenheit")

# What is measured in numbers in which 3.50 is 3.5; a version 3.10 is not 3.1.
_QUANTITIES = (
    b" #price #rent #salary #weight #height #temperature #humidity #threshold #limit #budget #balance #fee #pressure "
    b"#voltage #speed #distance #length #width #depth "
)


def is_number(token: bytes) -> bool:
    """Whether a token is a plain number."""
    return token.lstrip(b"-").replace(b".", b"", 1).isdigit()


def number(words: list, at: int) -> tuple:
    """The token of the number, date or time that begins at a word, and how many words it takes: 0 where there is none."""
    low = words[at].lower()
    if low[:1].isdigit() or (low[:1] in b"-." and low[1:2].isdigit()):
        return _figures(low), 1
    value = _place(_TENS, low)
    if value >= 0:
        more = _place(_ONES, words[at + 1].lower()) if at + 1 < len(words) else -1
        return (b"%d" % (10 * value + 20 + more), 2) if 0 < more < 10 else (b"%d" % (10 * value + 20), 1)
    value = _place(_ONES, low)
    if value >= 0:
        return b"%d" % value, 1
    value = _place(_ORDINALS, low)
    if value < 1 or (low == b"second" and at > 0 and words[at - 1][-1:].isdigit()):
        return b"", 0
    return b"%dth" % value, 1


def joined(found: list) -> list:
    """The tokens with numbers, units, times and dates put together."""
    out = []
    at = 0
    while at < len(found):
        token = found[at]
        if token[:1] == b"%":
            at += _join_month(found, at, out)
        elif is_number(token) or _is_ordinal(token):
            at += _join_number(found, at, out)
        elif token[:1] == b"T" and token[1:].isdigit():
            at += _join_time(found, at, out, int(token[1:]), 1)
        elif token == b"noon" or token == b"midnight":
            out.append(b"T720" if token == b"noon" else b"T0")
            at += 1
        elif is_number(_at(found, at + 1)) and unit(token) in _BEFORE:
            out.append(_plain(found[at + 1]))
            out.append(unit(token))
            at += 2
        else:
            out.append(token)
            at += 1
    return out


def _place(names: bytes, word: bytes) -> int:
    """The how-manieth of some names a word is, -1 if it is none."""
    at = names.find(word + b" ")
    return names[:at].count(b" ") if at == 0 or (at > 0 and names[at - 1] == 0x20) else -1


def _figures(low: bytes) -> bytes:
    """The token of a word that begins with a digit."""
    if low[-2:] in (b"st", b"nd", b"rd") and low[:-2].isdigit():
        return low[:-2] + b"th"
    if b":" in low:
        hour, _, minute = low.partition(b":")
        return b"T%d" % (60 * int(hour) + int(minute)) if hour.isdigit() and minute.isdigit() else low
    for separator in (b"-", b"/", b"."):
        parts = low.split(separator)
        if len(parts) == 3 and all(part.isdigit() for part in parts):
            first, second, third = parts
            if len(first) == 4:
                return _date(first, second, third)
            if len(third) == 4 and (separator == b"." or int(first) > 12):
                return _date(third, second, first)
            if len(third) == 4 and int(second) > 12:
                return _date(third, first, second)
    digits = low.replace(b"-", b"")
    return digits if digits.isdigit() and len(digits) >= 7 and low[:1] != b"-" else low


def _date(year: bytes, month: bytes, day: bytes) -> bytes:
    return b"D%s-%s-%s" % (year, month and b"%02d" % int(month), day and b"%02d" % int(day))


def _at(found: list, at: int) -> bytes:
    return found[at] if at < len(found) else b" "


def _is_ordinal(token: bytes) -> bool:
    return token[-2:] == b"th" and token[:-2].isdigit()


# --- dates


def _is_day(token: bytes) -> bool:
    day = token[:-2] if _is_ordinal(token) else token
    return day.isdigit() and len(day) < 3 and 0 < int(day) <= 31


def _join_month(found: list, at: int, out: list) -> int:
    """`May 3rd, 2024`, or only the month; how many tokens that is."""
    day = _at(found, at + 1)
    if not _is_day(day):
        out.append(_date(b"", found[at][1:], b""))
        return 1
    return _add_date(found, at, 2, found[at], day, out)


def _add_date(found: list, at: int, size: int, month: bytes, day: bytes, out: list) -> int:
    """Append a month and a day, and the year if it follows; how many tokens that is."""
    comma = _at(found, at + size) == b","
    year = _at(found, at + size + comma)
    if len(year) == 4 and year.isdigit():
        size += 1 + comma
    else:
        year = b""
    out.append(_date(year, month[1:], day[:-2] if _is_ordinal(day) else day))
    return size


def _join_number(found: list, at: int, out: list) -> int:
    """A day of a month, a time, or a quantity that begins with a number; how many tokens that is."""
    token = found[at]
    after = _at(found, at + 1)
    if _is_day(token):
        behind = 2 if after == b"@of" else 1
        month = _at(found, at + behind)
        if month[:1] == b"%":
            return _add_date(found, at, behind + 1, month, token, out)
    if after == _YEAR and len(token) == 4:
        month, size = _numbered(found, at + 2, (_MONTH,))
        day, more = _numbered(found, at + 2 + size, _DAYS) if size else (b"", 0)
        out.append(_date(token, month, day))
        return 2 + size + more
    if after == _MONTH and _is_day(token):
        day, size = _numbered(found, at + 2, _DAYS)
        if not size and _is_day(_at(found, at + 2)):
            day, size = found[at + 2], 1
        out.append(_date(b"", token, day))
        return 2 + size
    if token.isdigit() and len(token) < 3 and int(token) <= 24:
        size = _join_hour(found, at, out, int(token))
        if size:
            return size
    return _join_quantity(found, at, out)


def _numbered(found: list, at: int, signs: tuple) -> tuple:
    """A number with one of the signs after it, and how many tokens that is."""
    return (found[at], 2) if _is_day(_at(found, at)) and _at(found, at + 1) in signs else (b"", 0)


# --- times


def _join_hour(found: list, at: int, out: list, hour: int) -> int:
    """An hour that is a time: 7 pm, 3点半, "at 7", "half past 7"; how many tokens, 0 if it is none."""
    after = _at(found, at + 1)
    if after == _CLOCK:
        minute = _at(found, at + 2)
        if minute == _HALF:
            return _join_time(found, at, out, 60 * hour + 30, 3)
        if minute.isdigit() and len(minute) < 3:
            size = 4 if _at(found, at + 3) == _MINUTE else 3
            return _join_time(found, at, out, 60 * hour + int(minute), size)
        return _join_time(found, at, out, 60 * hour, 2)
    if out[-2:-1] in ([b"half"], [b"quarter"]) and out[-1] in (b"past", b"@to"):
        minutes = 30 if out[-2] == b"half" else 15
        if out.pop() == b"@to":
            minutes = -minutes
        out.pop()
        return _join_time(found, at, out, 60 * hour + minutes, 1)
    if after[:1] == b"^" or (out[-1:] == [b"@at"] and (after[:1] in b" @,;WPFRD" or after == b"and")):
        return _join_time(found, at, out, 60 * hour, 1)
    return 0


def _join_time(found: list, at: int, out: list, minutes: int, size: int) -> int:
    """A time with am, pm or the part of the day that stands beside it; how many tokens that is."""
    part = _at(found, at + size)
    if part == b"@in" and _at(found, at + size + 1)[:1] == b"P":  # "in the evening"
        size += 1
        part = found[at + size]
    if part[:1] in b"^P":
        size += 1
    elif out and out[-1][:1] == b"P":
        part = out.pop()
    if (
        part in (b"^pm", b"Pafternoon", b"Pevening")
        or (part == b"Pnight" and minutes >= 360)
        or (part == b"Pnoon" and minutes < 600)
    ):
        if minutes < _NOON:
            minutes += _NOON
    elif part in (b"^am", b"Pnight") and _NOON <= minutes < _NOON + 60:
        minutes -= _NOON
    out.append(b"T%d" % minutes)
    return size


# --- quantities


def _join_quantity(found: list, at: int, out: list) -> int:
    """A number with what makes it larger, and its unit; how many tokens that is."""
    token, size = _large(found, at)
    listed = unit(_at(found, at + size))
    if listed or any(b" " + other + b" " in _QUANTITIES for other in out):
        token = _plain(token)
    elif len(token) == 4 and b"1900" <= token < b"2100" and out and out[-1] in _BEFORE_YEARS:
        token = _date(token, b"", b"")
    elif (
        out
        and out[-1].isdigit()
        and token.isdigit()
        and (out[-1][:1] == b"0" or b"#number" in out[-3:] or b"#mobile" in out[-3:])
    ):
        token = out.pop() + token  # a phone number in pieces
    out.append(token)
    if not listed:
        return size
    size += 1
    if listed == b"$c" and _at(found, at + size) in _SCALES:
        if found[at + size][:1] == b"f":
            listed = b"$f"
        size += 1
    if listed != b"-":
        out.append(listed)
    return size


def _large(found: list, at: int) -> tuple:
    """A number with "thousand" and the like, "two thousand and fifty", and how many tokens that is."""
    token = found[at]
    if not token.isdigit() or _at(found, at + 1) not in _POWERS:
        return token, 1
    total = size = 0
    while True:
        part = int(found[at + size])
        size += 1
        is_last = _at(found, at + size) not in _POWERS
        while _at(found, at + size) in _POWERS:
            part *= 10 ** _POWERS[found[at + size]]
            size += 1
        total += part
        behind = size + (_at(found, at + size) == b"and")
        more = _at(found, at + behind)
        if is_last or not more.isdigit() or len(more) > 3:
            return b"%d" % total, size
        size = behind


def _plain(token: bytes) -> bytes:
    """A quantity without zeros that say nothing."""
    if token.count(b".") != 1:
        return token
    token = token.rstrip(b"0").rstrip(b".")
    return b"0" + token if token[:1] in b"." else token
