"""A limit of a sense that a person plainly asks for, found without a model: "tell me if the cellar is below 5", in English and
Chinese.

As in reminders/rules.py, what is no clear request is no match: a question, a limit without a number, or with words behind it
that it does not know.
"""

from collections import namedtuple

from engram.compat import const
from engram.text.phrases import past, past_several, sentence_end, simplified, skip, split_phrases, statement, unmarked
from engram.text.utf8 import encode

LimitRequest = namedtuple("LimitRequest", "sense side digits minutes")
""""low" or "high" of a sense as it was named, "" for "it"; the number as a text of ASCII digits; for how many minutes."""

_LONGEST = const(400)  # bytes of a sentence that is looked at

_COURTESY = const(
    "please|hey|hi|hello|ok|okay|so|also|and|btw|by the way|engram|can you|could you|would you|will you|i want you to|"
    "请你|请|麻烦你|麻烦|你好|您好|嗨|好的|哦|对了|另外|以后|帮我|记得"
)
_TELL = const("tell me|let me know|warn me|notify me|alert me|inform me|message me|remind me")
_WHEN = const("as soon as|whenever|when|if|once|in case")
_LOW = const(
    " falls below| drops below| goes below| gets below| sinks below| is below| is lower than| is less than| is under|"
    " falls under| drops under| goes under| is colder than| gets colder than| gets lower than"
)
_HIGH = const(
    " rises above| goes above| gets above| climbs above| is above| is higher than| is more than| is over| goes over|"
    " rises over| exceeds| is greater than| is warmer than| gets warmer than| is hotter than| gets hotter than"
    "| gets higher than"
)
_IT = const("|it|that|this|它|这|那")
_ARTICLES = const("the|my|our|temperature of the|temperature in the|humidity in the|humidity of the")
_UNITS = const(
    "degrees celsius|degree celsius|degrees fahrenheit|degrees|degree|percent|per cent|%|°c|°f|°|c|watts|watt|w|volts|volt|v|"
    "mv|dbm|hpa|kb|lux|ppm|摄氏度|度|百分之|％|瓦|伏|℃"
)
_FOR = const("for more than|for at least|for longer than|for")
_MINUTES = const("minutes|minute|min")
_HOURS = const("hours|hour|h")

_TELL_IN_CHINESE = const("告诉我|通知我|提醒我|提醒一下我|跟我说|说一声|报警")
_BEFORE_TELL = const("请|就|时|的时候|的话|，|,|马上|立刻|立即|要")
_WHEN_IN_CHINESE = const("如果|要是|假如|一旦|只要|当|等")
_LOW_IN_CHINESE = const("低于|小于|少于|不到|降到")
_HIGH_IN_CHINESE = const("高于|大于|超过|多于|升到")
_DIGITS_IN_CHINESE = "零一二三四五六七八九"


def may_be(said: str) -> bool:
    """Whether it is worth while to look closer at a message."""
    plain = simplified(encode(said[:_LONGEST]))
    return any(phrase in plain for phrase in split_phrases(_TELL + "|" + _TELL_IN_CHINESE))


def match(said: str):
    """The request in a message, as a LimitRequest, None if it is none."""
    data = encode(said).strip()
    plain = simplified(data)
    if len(plain) > _LONGEST:
        return None
    start = past_several(_COURTESY, plain, skip(plain, 0))
    end = sentence_end(data, start)
    if skip(data, end) < len(data):
        return None
    sentence = unmarked(plain[:end])
    told = past(_TELL, sentence, start)
    if told >= 0:
        begin = past(_WHEN, sentence, told)
        return _in_english(sentence, begin, len(sentence)) if begin >= 0 else None
    begin = past(_WHEN, sentence, start)
    if begin >= 0:
        return _told_behind(sentence, begin)
    return _in_chinese(sentence, start) if statement(data, start) else None


def _told_behind(plain: bytes, begin: int):
    """As "if the cellar is below 5, tell me"."""
    plain = _without_word(plain, b" please")
    for phrase in split_phrases(_TELL):
        if plain.endswith(b" " + phrase):
            clause = _without_word(_without_word(unmarked(plain[: -len(phrase)]), b" please"), b" then")
            return _in_english(clause, begin, len(clause))
    return None


def _without_word(clause: bytes, word: bytes) -> bytes:
    return unmarked(clause[: -len(word)]) if clause.endswith(word) else clause


def _in_english(plain: bytes, begin: int, end: int):
    """The request of "the cellar is below 5 degrees for 10 minutes"."""
    for side, phrases in (("low", _LOW), ("high", _HIGH)):
        for phrase in split_phrases(phrases):
            at = plain.find(phrase + b" ", begin, end)
            if at < 0:
                continue
            after, digits = _number(plain, at + len(phrase) + 1, end)
            minutes, after = _lasting(plain, _past_unit(plain, after, end), end)
            if not digits or after < end:
                return None
            begin = past_several(_ARTICLES, plain, begin)
            return LimitRequest(_named(plain[begin:at]), side, digits, minutes)
    return None


def _named(name: bytes) -> str:
    name = unmarked(name).strip()
    return "" if name in split_phrases(_IT) else name.decode()


def _number(plain: bytes, at: int, end: int) -> tuple:
    """(where a number ends, the number as a text), "" if there is none."""
    sign = ""
    for word in (b"minus ", b"-", "零下".encode(), "负".encode()):
        if plain.startswith(word, at):
            sign, at = "-", at + len(word)
            break
    begin = at
    while at < end and (0x30 <= plain[at] <= 0x39 or (plain[at] == 0x2E and at > begin)):
        at += 1
    digits = plain[begin:at].decode()
    if not digits:
        at, digits = _number_in_chinese(plain, at, end)
    return at, sign + digits if digits and digits.count(".") < 2 and digits[-1] != "." else ""


def _number_in_chinese(plain: bytes, at: int, end: int) -> tuple:
    """As _number(), of one up to 九十九."""
    tens, ones, begin = 0, 0, at
    while at < end:
        sign = plain[at : at + 3]
        if sign == "十".encode() and not tens:
            tens, ones = 10 * (ones or (0 if at > begin else 1)), 0
        else:
            place = _DIGITS_IN_CHINESE.encode().find(sign) if len(sign) == 3 else -1
            if place < 0 or place % 3 or ones or (at > begin and not tens):
                break
            ones = place // 3
        at += 3
    return at, str(tens + ones) if at > begin else ""


def _past_unit(plain: bytes, at: int, end: int) -> int:
    after = past(_UNITS, plain[:end], skip(plain[:end], at))
    return skip(plain[:end], at) if after < 0 else after


def _lasting(plain: bytes, at: int, end: int) -> tuple:
    """(minutes, where it ends) of "for 10 minutes"; 0 if that does not stand there."""
    begin = past(_FOR, plain[:end], at)
    if begin < 0:
        return 0, at
    after, digits = _number(plain, begin, end)
    for factor, words in ((1, _MINUTES), (60, _HOURS)):
        last = past(words, plain[:end], skip(plain[:end], after))
        if last >= 0 and digits.isdigit() and len(digits) < 5:
            return factor * int(digits), last
    return 0, at


def _in_chinese(plain: bytes, start: int):
    """The request of "如果卧室温度低于5度就告诉我" or "告诉我如果…"."""
    end = len(plain)
    told = past(_TELL_IN_CHINESE, plain, start)
    if told >= 0:
        start = told
    else:
        for phrase in split_phrases(_TELL_IN_CHINESE):
            if plain.endswith(phrase):
                end -= len(phrase)
                break
        if end == len(plain):
            return None
        end = _without_fillers(plain, start, end)
    start = max(start, past(_WHEN_IN_CHINESE, plain, start))
    for side, phrases in (("low", _LOW_IN_CHINESE), ("high", _HIGH_IN_CHINESE)):
        for phrase in split_phrases(phrases):
            at = plain.find(phrase, start, end)
            if at >= 0:
                after, digits = _number(plain, skip(plain, at + len(phrase)), end)
                after = _past_unit(plain, after, end)
                if not digits or _without_fillers(plain, after, end) > after:
                    return None
                return LimitRequest(_named(plain[start:at]), side, digits, 0)
    return None


def _without_fillers(plain: bytes, begin: int, end: int) -> int:
    """Where a clause ends without the words that lead over to the next."""
    is_shorter = True
    while is_shorter and end > begin:
        is_shorter = False
        for filler in split_phrases(_BEFORE_TELL):
            if plain[begin:end].endswith(filler):
                end -= len(filler)
                is_shorter = True
    return end


def add_limit_by_rule(tool, said: str, caller, is_new: bool = False) -> str:
    """Keep the limit that a message plainly asks for; a sentence on it, "" if it asks for none of a sense that there is.

    With `is_new` a limit that there is already is none.
    """
    asked = match(said) if may_be(said) else None
    if asked is None:
        return ""
    sense = tool.find(asked.sense, caller) if asked.sense else tool.only_sense(caller)
    if sense is None:
        return ""
    before = tool.refs(caller)
    value = float(asked.digits) if "." in asked.digits else int(asked.digits)
    fields = tool.set(caller, sense, minutes=asked.minutes, **{asked.side: value})
    return "" if is_new and fields["id"] in before else tool.describe(fields)
