"""The Chinese of rules.py: "明天八点提醒我浇花", "二十分钟后提醒我关火", "每天早上七点告诉我今天有什么安排"."""

from engram.compat import const
from engram.text.phrases import past, past_several, skip
from engram.text.tokenizer import split_phrases
from engram.timers import when
from engram.timers.schedule import EVERY_DAY, WEEKDAYS, WEEKEND

_COURTESY = const("请你|请|麻烦你|麻烦|记得|记住|到时候|你要|帮我|就|要|再|在|给我|你")
_REMIND = const("提醒我们|提醒一下我|提醒我一下|提醒我|提醒下我")
_ASK = const("告诉我|跟我说|给我讲|给我念|帮我查|帮我看")
_WAKE = const("叫醒我|叫我起床|喊我起床|叫我起来")
_SET = const("设置|设定|设个|设|定个|定|来个|开个|开始")
_ONE = const("一个|个")
_TIMERS = const("定时器|计时器|倒计时|闹钟|闹铃|定时|计时")
_NOT_REMIND = const("了|过|的")  # 提醒我的…, 提醒我了
_NOTHING = const("|一下|它|这个|那个|这件事|那件事|我|吧|我吧|了")
_GAPS = const("，|、|,| |的|在|于")
_LOOSE = const(  # behind a time: it is not all that was said of it
    "多|左右|前后|前|后|以前|以后|之前|之后|差不多|刻|钟|秒|:|：|个|午|饭后|饭前|早饭|晚饭|睡前|下班|放学|正午|黄昏"
)
_COUNTED = const("点|时|分|小时|个小时|个钟头|个半|个多|个月|个星期|个礼拜|钟头|天|月|号|日|周|年|刻|秒|多|几|.")
_VAGUE = const(
    "每月|每个月|每年|每隔|每两|每三|下个月|下月|月底|月初|年底|午后|午前|饭后|饭前|睡前|下班|放学|黄昏|正午|几|两三|半个"
)
_TOLD = const("你|他|她|我|昨|前天|天前|年前|月前")  # before a request: who tells of one that was
_NEAR = const(60)  # bytes of a time before a request
_UNREAD = ("say", 0, 0, None)  # a request with a time that is not understood whole
_SIGNS = "零一二三四五六七八九十两".encode()
_WEEKDAYS = "一二三四五六日天".encode()
_AND = const("和|、|，|及|跟|与")
_AND_WEEK = const("周|星期|礼拜")

_EVERY = const("每隔|每")
_MINUTES = const("分钟|分")
_HOURS = const("个小时|小时|个钟头|钟头")
_LATER = const("钟后|以后|之后|过后|后")
_DAYS = (
    ("今天|今日", 0, 0), ("明天|明日|明儿", 1, 0), ("大后天", 3, 0), ("后天", 2, 0), ("今早", 0, when.MORNING),
    ("今晚", 0, when.NIGHT), ("明早", 1, when.MORNING), ("明晚", 1, when.NIGHT),
)  # fmt: skip
_REPEATS = (
    ("每天|每日|天天", EVERY_DAY, 0), ("每个工作日|每工作日|工作日", WEEKDAYS, 0),
    ("每个周末|每周末|每逢周末", WEEKEND, 0), ("每晚", EVERY_DAY, when.NIGHT), ("每早", EVERY_DAY, when.MORNING),
)  # fmt: skip
_EVERY_WEEK = const("每周|每个周|每星期|每个星期|每个礼拜|每礼拜|每逢周")
_PARTS = (
    ("凌晨|半夜", -1), ("早上|早晨|清晨|一早|上午|早", when.MORNING), ("中午", when.NOON), ("下午", when.AFTERNOON),
    ("傍晚", when.EVENING), ("晚上|夜里|晚间|晚", when.NIGHT),
)  # fmt: skip

# Traditional characters of the words here, each before its simplified form, beside those of engram.text.phrases.
_TRADITIONAL = "點点鐘钟週周號号兩两禮礼設设開开動动鬧闹醒醒澆浇".encode()


def one_form(plain: bytes) -> bytes:
    """A text in simplified characters, as far as times need them."""
    for at in range(0, len(_TRADITIONAL), 6):
        plain = plain.replace(_TRADITIONAL[at : at + 3], _TRADITIONAL[at + 3 : at + 6])
    return plain


def find(plain: bytes, begin: int):
    """(kind, where what it says begins, where that ends, the time) of a sentence; None if it is no such request."""
    plain = one_form(plain)
    begin = past_several(_COURTESY, plain, begin)
    time, at = read_time(plain, begin)
    at = past_several(_COURTESY, plain, at)
    behind = past(_REMIND, plain, at)
    if behind >= 0:
        if past(_NOT_REMIND, plain, behind) == behind + 3:
            return None
        if not time:
            time, behind = read_time(plain, past_several(_COURTESY, plain, behind))
            if is_unread(plain, behind) if time else _is_opening(plain, behind):
                return _UNREAD
        last = _end(plain)
        is_nothing = plain[behind:last] in split_phrases(_NOTHING)
        return ("say", behind, last, time) if time and not is_nothing else None
    behind = past(_WAKE, plain, at)
    if behind >= 0 and time and when.is_full(time):
        return "say", at, behind, time
    behind = past(_ASK, plain, at)
    if behind >= 0 and time and when.is_full(time) and behind < _end(plain):
        return "ask", at, _end(plain), time
    found = None if time else _timer(plain, begin)
    return found or (_UNREAD if _is_unread_request(plain, begin, at, time) else None)


def _is_unread_request(plain: bytes, begin: int, at: int, time) -> bool:
    """Whether a time that was not understood whole stands before a request: 八点差十分提醒我走."""
    for request in split_phrases(_REMIND + "|" + _WAKE + "|" + _ASK + "|" + _TIMERS):
        place = plain.find(request, begin, begin + _NEAR)
        if place >= 0 and not [True for word in split_phrases(_TOLD) if word in plain[begin:place]]:
            if time:
                return is_unread(plain, at) and place > at
            return _is_opening(plain, max(begin, past(_SET, plain, begin), past(_SET + _ONE, plain, begin)))
    return False


def is_unread(plain: bytes, at: int) -> bool:
    """Whether a time that was understood goes on at a place."""
    at = max(at, past(_AND + "|或|或者|到|至|-|~|过|差|:|：", plain, at))
    found = _part_of_time(plain, at)[0] or _number(plain, at)[0] >= 0
    return bool(found) or (past(_LOOSE, plain, at) >= 0 and past("前往", plain, at) < 0)


def _is_opening(plain: bytes, at: int) -> bool:
    """Whether a time that was not understood begins at a place."""
    begin = max(at, past("大约|大概|约|差不多|差|下下个|下下|下个|再过|过", plain, at))
    number, end = _number(plain, begin)
    if number >= 0 and past(_COUNTED, plain, end) >= 0:
        return True
    return past(_VAGUE, plain, at) >= 0 or bool(_part_of_time(plain, begin)[0])


def _timer(plain: bytes, begin: int):
    """Of 设一个20分钟的定时器 and 定个明天七点的闹钟."""
    at = past(_SET, plain, begin)
    if at < 0:
        return None
    at = first = max(at, past(_ONE, plain, at))
    seconds, behind = _length(plain, at)
    time = {"after": seconds}
    if not seconds:
        time, behind = read_time(plain, at)
        if not time or not when.is_full(time):
            return None
    behind = max(behind, past("的", plain, behind))
    last = past(_TIMERS, plain, behind)
    return ("say", first, last, time) if last >= 0 and last >= _end(plain) else None


def _end(plain: bytes) -> int:
    """Where a sentence ends without the marks behind it."""
    end = len(plain)
    while end:
        for mark in split_phrases("。|！|？|!|.|，|、|吧|哦|啊| "):
            if plain[:end].endswith(mark):
                end -= len(mark)
                break
        else:
            break
    return end


def read_time(plain: bytes, at: int) -> tuple:
    """(the time that stands at a place, where the text goes on); (None, at) if none does."""
    time, start = {}, at
    while at < len(plain):
        found, end = _part_of_time(plain, at)
        if not found or any(name in time for name in found):
            break
        time.update(found)
        at = max(end, past_several(_GAPS, plain, end))
    if time.get("part", 0) < 0:
        del time["part"]  # 凌晨三点 is 3:00
        time["is_exact"] = True
    return (time, at) if when.is_time(time) else (None, start)


def _part_of_time(plain: bytes, at: int) -> tuple:
    for read in (_after, _repeat, _day, _clock_time):
        found, end = read(plain, at)
        if found:
            return found, end
    for names, part in _PARTS:
        end = past(names, plain, at)
        if end >= 0:
            return {"part": part}, end
    return {}, at


def _after(plain: bytes, at: int) -> tuple:
    begin = max(at, past("再过|过", plain, at))
    seconds, end = _length(plain, begin)
    if seconds:
        behind = past(_LATER, plain, end)
        # 过20分钟 needs no 后.
        return ({"after": seconds}, behind) if behind >= 0 else ({"after": seconds}, end) if begin > at else ({}, at)
    count, end = _number(plain, begin)
    behind = past("天后|天以后|天之后", plain, end) if count > 0 else -1
    return ({"in_days": count}, behind) if behind >= 0 else ({}, at)


def _length(plain: bytes, at: int) -> tuple:
    """(the seconds of some minutes or hours, where the text goes on); (0, at) if there are none."""
    end = past("半个小时|半小时|半个钟头", plain, at)
    if end >= 0:
        return 1800, end
    end = past("一刻钟", plain, at)
    if end >= 0:
        return 900, end
    count, end = _number(plain, at)
    if count <= 0:
        return 0, at
    half = past("个半小时|个半钟头", plain, end)
    if half >= 0:
        return 3600 * count + 1800, half
    minutes = past(_MINUTES, plain, end)
    if minutes >= 0:
        return 60 * count, minutes
    hours = past(_HOURS, plain, end)
    if hours < 0:
        return 0, at
    more, end = _number(plain, hours)
    minutes = past(_MINUTES, plain, end) if more > 0 else -1
    return (3600 * count + 60 * more, minutes) if minutes >= 0 else (3600 * count, hours)


def _repeat(plain: bytes, at: int) -> tuple:
    begin = past(_EVERY, plain, at)
    if begin >= 0:
        seconds, end = _length(plain, begin)
        if seconds:
            return {"every": seconds // 60}, end
        end = past("小时|个小时", plain, begin)
        if end >= 0:
            return {"every": 60}, end
    for names, days, part in _REPEATS:
        end = past(names, plain, at)
        if end >= 0:
            return ({"days": days, "part": part} if part else {"days": days}), end
    end = past(_EVERY_WEEK, plain, at)
    return _named_days(plain, at, end) if end >= 0 else ({}, at)


def _named_days(plain: bytes, begin: int, at: int) -> tuple:
    """The days of 每周一、三和周五 and 每周一到五."""
    days, end = 0, begin
    place = _weekday(plain, at)
    while place >= 0:
        days |= 1 << place
        end = at + 3
        to = past("到|至", plain, end)
        last = _weekday(plain, max(to, past(_AND_WEEK, plain, to))) if to >= 0 else -1
        if last > place:
            days |= (1 << last + 1) - (1 << place)
            end = max(to, past(_AND_WEEK, plain, to)) + 3
        at = max(end, past(_AND, plain, end))
        at = max(at, past(_AND_WEEK, plain, at)) if at > end else at
        place = _weekday(plain, at)
    return ({"days": days}, end) if days else ({}, begin)


def _day(plain: bytes, at: int) -> tuple:
    for names, days, part in _DAYS:
        end = past(names, plain, at)
        if end >= 0:
            return ({"in_days": days, "part": part} if part else {"in_days": days}), end
    weeks = past("下个|下", plain, at)
    begin = max(at, weeks, past("这个|这|本", plain, at))
    end = past(_AND_WEEK, plain, begin)
    place = _weekday(plain, end) if end >= 0 else -1
    if place >= 0:
        return ({"weekday": place, "weeks": 1} if weeks >= 0 else {"weekday": place}), end + 3
    return _date(plain, at)


def _date(plain: bytes, at: int) -> tuple:
    year, begin = 0, at
    number, end = _number(plain, at)
    behind = past("年", plain, end) if 2000 <= number < 2200 else -1
    if behind >= 0:
        year, begin = number, behind
    month, end = _number(plain, begin)
    behind = past("月", plain, end) if 0 < month < 13 else -1
    if behind < 0:
        return {}, at
    day, end = _number(plain, behind)
    end = past("日|号", plain, end) if 0 < day < 32 else -1
    return ({"date": (year, month, day)}, end) if end >= 0 else ({}, at)


def _clock_time(plain: bytes, at: int) -> tuple:
    hour, end = _number(plain, at)
    if not 0 <= hour < 24:
        return {}, at
    found: dict = {"minute": 60 * hour}
    if hour > 12 or plain[at : at + 1] == b"0":
        found["is_exact"] = True
    behind = past(":|：", plain, end)
    if behind >= 0:
        minutes, end = _number(plain, behind)
        if not 0 <= minutes < 60 or end - behind != 2:
            return {}, at
        found["minute"] += minutes
        return found, end
    behind = past("点钟|点整|点|时", plain, end)
    if behind < 0 or past("间|候|常", plain, behind) >= 0:
        return {}, at
    for words, minutes in (("半", 30), ("一刻", 15), ("三刻", 45)):
        end = past(words, plain, behind)
        if end >= 0:
            found["minute"] += minutes
            return found, end
    zero = past("零|〇", plain, behind)
    minutes, end = _number(plain, max(behind, zero))
    unit = past("分", plain, end)
    if 0 < minutes < 60 and (minutes > 9 or zero >= 0 or unit >= 0):
        found["minute"] += minutes
        return found, max(end, unit)
    return found, behind


def _weekday(plain: bytes, at: int) -> int:
    """The day of the week whose sign stands at a place, Monday being 0; -1 if none does."""
    sign = plain[at : at + 3]
    place = _WEEKDAYS.find(sign) if len(sign) == 3 else -1
    return min(6, place // 3) if place >= 0 and place % 3 == 0 else -1


def _number(plain: bytes, at: int) -> tuple:
    """(a number in digits or in signs below 100, where the text goes on); (-1, at) if there is none."""
    start = at = skip(plain, at)
    while plain[at : at + 1].isdigit():
        at += 1
    if at > start:
        return (int(plain[start:at]), at) if at - start < 5 else (-1, start)
    value = last = -1
    while True:
        sign = plain[at : at + 3]
        place = _SIGNS.find(sign) if len(sign) == 3 else -1
        if place < 0 or place % 3:
            break
        digit = place // 3
        if digit == 10:
            if value > 9:
                break
            value = 10 * (value if value > 0 else 1)
        else:
            digit = 2 if digit == 11 else digit
            if last >= 0 and last != 10:
                break
            value = digit if value < 0 else value + digit
        last = place // 3
        at += 3
    return (value, at) if at > start else (-1, start)
