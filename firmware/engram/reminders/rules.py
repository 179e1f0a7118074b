"""A standing intent that a person plainly asks for, found without a model: "when X comes up, remind me of Y", English and
Chinese.

As in rules.py, what is no clear request is no match: what happened once, somebody else's words, a place or a time that only a
clock could know ("when I get home"), or a "remind me" without both halves. Texts are worked on as engram.text.phrases does.
"""

from collections import namedtuple

from engram.compat import const
from engram.text.phrases import find_request, past, skip, split_phrases, unmarked
from engram.text.tokenizer import terms
from engram.text.utf8 import encode

ReminderRequest = namedtuple("ReminderRequest", "when remind rest")
"""What is to come up, what to remind of, as they were said, and what the message says after it, "" mostly."""

_LONGEST = const(1600)  # bytes of a sentence that is looked at: both halves at their longest fit
_FILLERS = const(4)
_CRUMB = const(10)  # bytes of a rest that says nothing

_COURTESY = const(
    "please|hey|hi|hello|ok|okay|so|also|and|but|btw|by the way|engram|i want you to|i'd like you to|you should|from now on|"
    "in future|in the future|don't forget to|do not forget to|remember to|make sure to|"
    "请你|请|麻烦你|麻烦|你好|您好|嗨|好的|哦|对了|另外|以后|今后|从现在开始|记得|记住|帮我|你要"
)
_REQUEST = const("can you|could you|would you|will you|can you please|could you please|would you please")

_WHEN = const(
    "when|whenever|if|once|as soon as|the next time that|the next time|next time|every time that|every time|each time|"
    "any time|anytime|in case"
)
_SPEAKER = const("i|we|he|she|they|somebody|someone|anybody|anyone|people")
_MENTION = const(
    "mention|mentions|bring up|brings up|talk about|talks about|am talking about|are talking about|start talking about|"
    "speak of|speaks of|speak about|speaks about|ask about|asks about|ask you about|asks you about|tell you about|"
    "say|says|write about|writes about|discuss|discusses"
)
_ONCE_MORE = const("next|ever|again|first")
_COMES_UP = const(
    " comes up in conversation| come up in conversation| comes up again| come up again| comes up| come up| is mentioned|"
    " are mentioned| gets mentioned| get mentioned| is brought up| are brought up| pops up| pop up"
)
_REMIND = const("remind me|remind us")
_BEFORE_REMIND = const(
    "then|please|you should|you can|can you|could you|you must|always|also|just|kindly|make sure to|don't forget to|"
    "i want you to|i'd like you to"
)
_OF = const("of|about|to|that")
_NOT_ASKED = const(" don't| dont| not| never| always| will| would| to| it| he| she| they| you| people| others| that")
_THE_WORD = const(
    "the word|the words|the name|the topic of|the subject of|the topic|the subject|anything about|something about"
)
_NO_SUBJECT = const(
    "|something|anything|everything|nothing|somebody|someone|anybody|anyone|another one|more|others|topic|"
    "什么|谁|这个|那个|这|那|它|他|她|你|我|这件事|那件事|别的|其他"
)
_NO_REMINDER = const("|it|this|that|them|him|her|me|later|again|一下|它|这个|那个|这件事|那件事|他|她|我")

_WHEN_IN_CHINESE = const("每当|当|每次|如果|要是|只要|一旦|下次|下一次|等")
_SPEAKER_IN_CHINESE = const("我们|我|有人|大家|别人|谁|他们|她们|他|她")
_AGAIN = const("再次|再|又|一")
_MENTION_IN_CHINESE = const("提到|说到|谈到|聊到|讲到|提起|说起|谈起|聊起|讲起|问到|问起|提及|谈论|讨论")
_REMIND_IN_CHINESE = const("提醒我们|提醒一下我|提醒我")
_BEFORE_REMIND_IN_CHINESE = const("就|请你|请|你|记得|要|也|再|都|麻烦|务必|一定要|一定|帮我|那么|那")
_MOMENT = const("的时候|时候|的话|之后|以后|那时|时|后")
_NO_MOMENT = const("小时|平时|同时|及时|先后|前后|背后")
_NOT_ASKED_IN_CHINESE = const("他|她|它|们|总是|总|会|让|能|常常|经常|常|老|曾经|曾|没有|没|不|别|不要|不用|不必|的")
_OF_IN_CHINESE = const("一下|关于")
_OPEN_QUOTES = const("\"|'|“|‘|「|《|『")
_CLOSE_QUOTES = const("\"|'|”|’|」|》|』")


def may_be(said: str) -> bool:
    """Whether it is worth while to look closer at a message."""
    said = said[:_LONGEST].lower()
    return "remind" in said or "提醒" in said


def match(said: str):
    """The request in a message, as a ReminderRequest, None if it is none."""
    data = encode(said).strip()
    request = find_request(data, _LONGEST, _COURTESY, _REQUEST, _COURTESY)
    if not request:
        return None
    plain, start, end, after = request
    sentence = unmarked(plain[:end])
    for read in (_condition_first, _reminder_first, _in_chinese):
        found = read(sentence, start)
        if found:
            when, remind = [data[begin:end].strip().decode() for begin, end in found]
            if remind and any(True for _ in terms(when)):  # "it" is no word to watch for
                rest = data[skip(data, after) :]
                return ReminderRequest(when, remind, rest.decode() if len(rest) > _CRUMB else "")
    return None


# --- "when X comes up, remind me of Y"


def _condition_first(plain: bytes, start: int):
    """The spans of X and Y, None if it is no such sentence."""
    clause = past(_WHEN, plain, start)
    if clause < 0:
        return None
    for opening in _REMIND.split("|"):
        at = plain.find(b" " + opening.encode(), clause)
        after = past(opening, plain, at + 1)
        if at > 0 and after > 0:
            when = _subject(plain, clause, _without(_BEFORE_REMIND, plain, clause, at))
            remind = _reminder(plain, after, _OF)
            if when and remind:
                return when, remind
    return None


def _reminder_first(plain: bytes, start: int):
    """The same of "remind me of Y when X comes up"."""
    after = past(_REMIND, plain, start)
    if after < 0:
        return None
    best, when = -1, None
    for opening in split_phrases(_WHEN):
        at = plain.rfind(b" " + opening + b" ", after)
        span = _subject(plain, at + len(opening) + 2, len(plain)) if at > best else None
        if span:
            best, when = at, span
    if best < 0:
        return None
    remind = _reminder(plain[:best], after, _OF)
    return (when, remind) if remind else None


def _subject(plain: bytes, begin: int, end: int):
    """The span of X in "X comes up" or "I mention X", None if it is neither."""
    clause = plain[begin:end]
    said = past(_SPEAKER, plain, begin)
    if said >= 0:
        said = past(_MENTION, plain, max(said, past(_ONCE_MORE, plain, said)))
    if said >= 0:
        begin = said
        if _ends(_NOT_ASKED, clause):
            return None
    else:
        tail = _ends(_COMES_UP, clause)
        if not tail:
            return None
        end -= tail
    begin = max(begin, past(_THE_WORD, plain, begin))
    return _named(plain, begin, end)


def _without(fillers: str, plain: bytes, begin: int, end: int) -> int:
    """Where a clause ends that has such words behind it."""
    for _ in range(_FILLERS):
        end = begin + len(unmarked(plain[begin:end].rstrip()))
        for filler in split_phrases(fillers):
            gap = b"" if filler[0] >= 0x80 else b" "
            if plain[begin:end].endswith(gap + filler):
                end -= len(gap + filler)
                break
    return begin + len(unmarked(plain[begin:end].rstrip()))


def _reminder(plain: bytes, begin: int, openings: str):
    """The span of Y, None if it is nothing by itself."""
    begin = max(begin, skip(plain, begin), past(openings, plain, begin))
    end = begin + len(unmarked(plain[begin:]))
    for tail in (b" please", b" then"):
        if plain[begin:end].endswith(tail):
            end = begin + len(unmarked(plain[begin : end - len(tail)]))
    return None if plain[begin:end] in split_phrases(_NO_REMINDER) else (begin, end)


def _named(plain: bytes, begin: int, end: int):
    """The span of a thing without quotes around it, None if it is none: a list, or nothing by itself."""
    while begin < end and plain[begin : begin + 1] == b" ":
        begin += 1
    for quote in split_phrases(_OPEN_QUOTES):
        if plain[begin:end].startswith(quote):
            begin += len(quote)
            break
    for quote in split_phrases(_CLOSE_QUOTES):
        if plain[begin:end].endswith(quote):
            end -= len(quote)
            break
    name = plain[begin:end].strip()
    for mark in split_phrases(",|;|，|、|；|。"):
        if mark in name:
            return None
    return None if name in split_phrases(_NO_SUBJECT) else (begin, end)


def _ends(tails: str, clause: bytes) -> int:
    """The length of the first tail of a list with which a clause ends, 0 if it ends with none."""
    for tail in split_phrases(tails):
        if clause.endswith(tail):
            return len(tail)
    return 0


# --- "当提到X时提醒我Y"


def _in_chinese(plain: bytes, start: int):
    """The spans of X and Y of a Chinese sentence, None if it is no such request."""
    at = max(start, past(_WHEN_IN_CHINESE, plain, start))
    at = max(at, past(_SPEAKER_IN_CHINESE, plain, at))
    at = max(at, past(_AGAIN, plain, at))
    begin = past(_MENTION_IN_CHINESE, plain, at)
    if begin < 0:
        return None
    for opening in split_phrases(_REMIND_IN_CHINESE):
        end = plain.find(opening, begin)
        if end > 0:
            when = _subject_in_chinese(plain, begin, _without(_BEFORE_REMIND_IN_CHINESE, plain, begin, end))
            remind = _reminder(plain, end + len(opening), _OF_IN_CHINESE)
            return (when, remind) if when and remind else None
    return None


def _subject_in_chinese(plain: bytes, begin: int, end: int):
    clause = plain[begin:end]
    if _ends(_NOT_ASKED_IN_CHINESE, clause):
        return None
    if not _ends(_NO_MOMENT, clause):
        end -= _ends(_MOMENT, clause)
    return _named(plain, begin, begin + len(unmarked(plain[begin:end].rstrip())))
