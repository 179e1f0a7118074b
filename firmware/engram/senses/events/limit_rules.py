"""A limit of a sense that a person plainly asks for, found without a model: "tell me if the cellar is below 5", in English and
Chinese.

As in reminders/rules.py, what is no clear request is no match: a question, a limit without a number, or with words behind it
that it does not know.
"""

from engram.compat import const
from engram.text.phrases import (
    COURTESY,
    has,
    past,
    past_several,
    sentence_end,
    simplified,
    skip,
    split_phrases,
    statement,
    unmarked,
)
from engram.text.utf8 import encode

_LONGEST = const(400)  # bytes of a sentence that is looked at

_ASKING = const("|can you|could you|would you|will you|记得")
_TELL = const("tell me|let me know|warn me|notify me|alert me|inform me|message me|remind me")
_AROUND_TELL = const(" |,| please| then")
_WHEN = const("as soon as|whenever|when|if|once|in case")
_LOW = const(" below | under | lower than | less than | colder than | cooler than ")
_HIGH = const(" above | over | higher than | more than | greater than | warmer than | hotter than | exceeds ")
_VERBS = const(
    " is| gets| goes| falls| drops| sinks| rises| climbs| becomes| has been| ever|'s|’s|"
    "什么时候|的时候|如果|要是|一旦|降到|到|是|在|的"
)
"""What stands between a name and one of these."""
_IT = const("|it|that|this|它|这|那")
_ARTICLES = const("the|my|our|temperature of the|temperature in the|humidity in the|humidity of the")
_IN = const("in the|in my|in our|in|at the")
_UNITS = (
    "celsius|°c|c|摄氏度|℃",
    "fahrenheit|°f|f|华氏度|℉",
    "度|°|°c|°f|c|f|k",
    "percent|per cent|%rh|%|％",
    "volts|volt|v|伏特|伏",
    "millivolts|mv|毫伏",
    "watts|watt|w|瓦特|瓦",
    "dbm",
    "hpa|mbar|百帕",
    "kb",
    "lux|lx|勒克斯",
    "ppm",
)
"""Each: how one unit is said, and how senses write it."""
_PERCENT = const(3)
_DEGREES = const(2)
_DEGREES_IN_WORDS = const("degrees|degree")
_FOR = const("for more than|for at least|for longer than|for|持续|超过")
_MINUTES = const("minutes|minute|min|分钟")
_HOURS = const("hours|hour|h|个小时|小时")

_TELL_IN_CHINESE = const("告诉我|通知我|提醒我|提醒一下我|跟我说|说一声|报警")
_ANY_TELL = _TELL + "|" + _TELL_IN_CHINESE
_BEFORE_TELL = const("请|就|时|的时候|的话|，|,|马上|立刻|立即|要")
_WHEN_IN_CHINESE = const("如果|要是|假如|一旦|只要|当|等")
_STOP = const("stop |don't |do not |no longer |别再|别|不要再|不要|不用再|不用")
_LOW_IN_CHINESE = const("低于|小于|少于|不到|跌破|降到")
_HIGH_IN_CHINESE = const("高于|大于|超过|多于|升到")
_BELOW_ZERO = "零下"
_PERCENT_IN_CHINESE = "百分之"
_DIGITS_IN_CHINESE = "零一二三四五六七八九〇１２３４５６７８９０一两"
_ONES = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    "eighteen|nineteen"
)
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"


def may_be(said: str) -> bool:
    """Whether it is worth while to look closer at a message."""
    return has(_ANY_TELL, simplified(encode(said[:_LONGEST])))


def match(said: str):
    """The request in a message, as (sense, side, digits, minutes, units), None if it is none.

    The sense as it was named, "" for "it"; "low" or "high"; the number as a text of ASCII digits; for how many minutes; one of
    _UNITS, "" if no unit was said.
    """
    data = encode(said).strip()
    plain = simplified(data)
    if len(plain) > _LONGEST:
        return None
    start = past_several(COURTESY + _ASKING, plain, skip(plain, 0))
    end = sentence_end(data, start)
    if skip(data, end) < len(data):
        return None
    sentence = unmarked(plain[:end])
    told = past(_TELL, sentence, start)
    if told >= 0:
        begin = past(_WHEN, sentence, told)
        return _in_english(sentence, begin) if begin >= 0 else None
    begin = past(_WHEN, sentence, start)
    if begin >= 0:
        return _told_behind(sentence, begin)
    return _in_chinese(sentence, start) if statement(data, start) else None


def _told_behind(plain: bytes, begin: int):
    """As "if the cellar is below 5, tell me"."""
    plain = _without(_AROUND_TELL, plain, begin)
    for phrase in split_phrases(_TELL):
        if plain.endswith(b" " + phrase):
            return _in_english(_without(_AROUND_TELL, plain[: -len(phrase)], begin), begin)
    return None


def _in_english(plain: bytes, begin: int):
    """The request of "the cellar is below 5 degrees for 10 minutes"."""
    side, at, number = _find_side(_LOW, _HIGH, plain, begin)
    digits, after, units, minutes = _limit(plain, number)
    name = _named(plain[past_several(_ARTICLES, plain, begin) : at])
    place = -1 if name else past(_IN, plain, after)
    if place >= 0:
        name, after = _named(plain[place:]), len(plain)
    return (name, side, digits, minutes, units) if side and digits and after >= len(plain) else None


def _find_side(low: str, high: str, plain: bytes, begin: int) -> tuple:
    """("low" or "high", where its phrase stands, where that ends); "" if there is none."""
    for side, phrases in (("low", low), ("high", high)):
        for phrase in split_phrases(phrases):
            at = plain.find(phrase, begin)
            if at >= 0:
                return side, at, at + len(phrase)
    return "", 0, 0


def _named(name: bytes) -> str:
    name = unmarked(_without(_VERBS, name, 0)).strip()
    return "" if name in split_phrases(_IT) else name.decode()


def _limit(plain: bytes, at: int) -> tuple:
    """(number as a text, where it ends, units, minutes) of "5 degrees for 10 minutes"; "" for no number."""
    is_percent = plain.startswith(_PERCENT_IN_CHINESE.encode(), at)
    at, digits = _number(plain, at + 9 if is_percent else at)
    units, at = _UNITS[_PERCENT] if is_percent else "", skip(plain, at)
    after = past(_DEGREES_IN_WORDS, plain, at)
    if after >= 0:
        units, at = _UNITS[_DEGREES], after
    for each in () if is_percent else _UNITS:
        after = past(each, plain, at)
        if after >= 0:
            units, at = each, after
            break
    minutes, at = _lasting(plain, at)
    return digits, at, units, minutes


def _number(plain: bytes, at: int) -> tuple:
    """(where a number ends, the number as a text), "" if there is none."""
    sign = ""
    for word in (b"minus ", b"-", "−".encode(), _BELOW_ZERO.encode(), "负".encode()):
        if plain.startswith(word, at):
            sign, at = "-", at + len(word)
            break
    begin = at
    while at < len(plain) and (0x30 <= plain[at] <= 0x39 or (plain[at] == 0x2E and at > begin)):
        at += 1
    digits = plain[begin:at].decode()
    if not digits:
        at, digits = _number_in_chinese(plain, at) if plain[at : at + 1] > b"~" else _number_in_words(plain, at)
    return at, sign + digits if digits and digits.count(".") < 2 and digits[-1] != "." else ""


def _number_in_words(plain: bytes, at: int) -> tuple:
    """As _number(), of one up to ninety-nine."""
    tens, after = _word(_TENS, plain, at)
    ones, end = _word(_ONES, plain, after + (tens >= 0))
    value = max(ones, 0) + (10 * tens + 20 if tens >= 0 else 0)
    return (after if ones < 0 else end), str(value) if tens >= 0 or ones >= 0 else ""


def _word(words: str, plain: bytes, at: int) -> tuple:
    """(which of some words stands at `at`, -1 for none; where it ends)."""
    for place, word in enumerate(split_phrases(words)):
        end = at + len(word)
        if plain.startswith(word, at) and not plain[end : end + 1].isalpha():
            return place, end
    return -1, at


def _number_in_chinese(plain: bytes, at: int) -> tuple:
    """As _number(), of one up to 九百九十九, with 点 for a point."""
    total, ones, factor, digits, begin = 0, 0, 1, "", at
    while True:
        sign = plain[at : at + 3]
        place = _DIGITS_IN_CHINESE.encode().find(sign) if len(sign) == 3 else -1
        if place >= 0 and not place % 3:
            digit = place // 3 % 10
            if digits:
                digits += str(digit)
            else:
                ones, factor = 10 * ones + digit, factor if digit else 1
        elif sign in ("十".encode(), "百".encode()) and not digits:
            factor = 1 if sign == "十".encode() else 10  # 一百二 is 120
            total, ones = total + 10 * factor * (ones or 1), 0
        elif sign == "点".encode() and at > begin and not digits:
            digits = str(total + ones) + "."
        else:
            return at, digits or (str(total + factor * ones) if at > begin else "")
        at += 3


def _lasting(plain: bytes, at: int) -> tuple:
    """(minutes, where it ends) of "for 10 minutes"; 0 if that does not stand there."""
    begin = past(_FOR, plain, at)
    if begin < 0:
        return 0, at
    after, digits = _number(plain, begin)
    for factor, words in ((1, _MINUTES), (60, _HOURS)):
        last = past(words, plain, skip(plain, after))
        if last >= 0 and digits.isdigit() and len(digits) < 5:
            return factor * int(digits), last
    return 0, at


def _in_chinese(plain: bytes, start: int):
    """The request of "如果卧室温度低于5度就告诉我", "告诉我如果…", or "卧室5度以下…"."""
    for behind, before in (("以下", "低于"), ("以上", "高于")):
        place = plain.find(behind.encode())
        for at in range(start, place):
            digits, after, _, _ = _limit(plain[:place], at)
            if digits and after == place:
                plain = plain[:at] + before.encode() + plain[at:place] + plain[place + 6 :]
                break
    told = past(_TELL_IN_CHINESE, plain, start)
    if told < 0:
        clause = _without(_TELL_IN_CHINESE, plain, start)
        if clause == plain:
            return None
        plain = _without(_BEFORE_TELL, clause, start)
    start = max(start, told)
    start = max(start, past(_WHEN_IN_CHINESE, plain, start))
    side, at, number = _find_side(_LOW_IN_CHINESE, _HIGH_IN_CHINESE, plain, start)
    if not side:
        side, at, _ = _find_side(_BELOW_ZERO, _BELOW_ZERO, plain, start)
        number = at
    digits, after, units, minutes = _limit(plain, skip(plain, number))
    if not side or not digits or len(_without(_BEFORE_TELL, plain, after)) > after:
        return None
    return _named(plain[start:at]), side, digits, minutes, units


def _without(words: str, plain: bytes, begin: int) -> bytes:
    """A text without some words at the end of what begins at `begin`."""
    size = 0
    while size != len(plain):
        size = len(plain)
        for word in split_phrases(words):
            if plain[begin:].endswith(word):
                plain = plain[: -len(word)]
    return plain


def _without_stop(said: str) -> tuple:
    """(the message without what asks for no more reports, whether it had that)."""
    plain = said[:_LONGEST].lower().replace("’", "'").replace("ing me", " me")
    for word in _STOP.split("|"):
        before, _, after = plain.partition(word)
        if past(_ANY_TELL, encode(after), 0) >= 0:
            return before + after, True
    return said, False


def add_limit_by_rule(tool, said: str, caller, is_new: bool = False) -> str:
    """Keep or remove the limit that a message plainly asks for; a sentence on it, "" if it asks for none of a sense that
    there is.

    With `is_new` a limit that there is already is none, nor one to remove that is gone.
    """
    said, is_stop = _without_stop(said)
    asked = match(said) if may_be(said) else None
    if asked is None:
        return ""
    name, side, digits, minutes, units = asked
    sense = tool.find(name, caller, units)
    if sense is None:
        return ""
    before = tool.refs(caller, sense, side)
    if is_stop:
        if is_new and not before:
            return ""
        ref = before[0] if before else sense.name
        tool.run({"action": "remove", "id": ref}, caller)
        return ref + " is removed"
    value = float(digits) if "." in digits else int(digits)
    fields = tool.set(caller, sense, minutes=minutes, **{side: value})
    return "" if is_new and fields["id"] in before else tool.describe(fields)
