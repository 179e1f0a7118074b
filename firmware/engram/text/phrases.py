"""Sentences and opening words, as the rules look at them: English and Chinese.

Texts are worked on as bytes (see engram.text.utf8), in one case and in simplified characters, which moves nothing. A list of
words is one text, cut up when it is needed: it takes a fifth of the heap of a tuple.
"""

from engram.compat import const
from engram.text.tokenizer import split_phrases

HEAD = const(240)  # bytes of a message in which its opening words stand
LONGEST_STATEMENT = const(900)  # bytes of a sentence that may be plain
LONGEST_NAME = const(36)  # bytes
_COURTESIES = const(5)  # opening words before the opening words

COURTESY = (
    "please|hey|hi|hello|there|ok|okay|oh|well|so|also|and|but|btw|by the way|actually|engram|i want you to|you should|you can|"
    "just|fyi|请你|请|麻烦你|麻烦|你可以|你要|帮我|你好|您好|嗨|嘿|好的|哦|对了|另外|而且|还有|顺便说一下|你知道吗|以后"
)

SUBJECT = "i|my|he|his|she|her|they|their|we|our|it|its|我|他|她|它|咱|这|那"
REQUEST = (
    "what|who|when|where|why|how|which|can|could|would|will|do|does|did|is|are|please|tell|show|give|find|make|write|"
    "i need|i want|i'd like|let's|我想|我要|请|告诉|帮|给"
)

UNCLEAR = " he said| she said| they said|他说|她说|什么|谁|哪|怎么|多少"
YOU = " you| your|你|您"

_ASKING = const("?|？|؟|吗|呢|么|对吧|是吧|对不对|是不是|哪里|哪儿|谁|多少")
_CONSENT = const(", ok|, okay|, please|好吗|可以吗|行吗|好不好")
_ENDS = const("\n|.|!|?|。|！|？")
_WIDE_MARKS = "，：。！、；？～…”」』）　".encode()
_MARKS = const(b" \t\r\n,:;!?")
_QUOTES = const(b"\"')]")
_COMMAS = const(",|，")
_SHORT_FORMS = const("dr|mr|mrs|ms|st|jr|prof|mt|vs")

# Traditional characters of the words above, each before its simplified form.
_TRADITIONAL = (
    "記记請请別别歡欢錄录煩烦幫帮嗎吗這这關关對对後后討讨厭厌麼么誰谁個个還还順顺說说當当時时談谈講讲問问會会"
    "話话們们論论讓让訴诉於于"
).encode()


# --- sentences


def statement(data: bytes, at: int):
    """(where the statement of a sentence ends, where the rest of the message begins), None if it only asks.

    "my name is Ann, what is yours?" states and asks; "remember it, ok?" asks for no answer.
    """
    end = sentence_end(data, at)
    if not asks(simplified(data[max(at, end - HEAD) : end])):
        return end, end
    if end - at > LONGEST_STATEMENT:
        return None
    plain = simplified(data[at:end])
    bare = unmarked(plain)
    for consent in split_phrases(_CONSENT):
        if bare.endswith(consent):
            return at + len(unmarked(bare[: -len(consent)])), end
    comma = before = comma_at(plain, 0)
    while comma < len(plain):
        before, comma = comma, comma_at(plain, comma + 1)
    asked = max(skip(plain, before), past(COURTESY, plain, skip(plain, before)))
    is_new = past(REQUEST, plain, asked) >= 0 or has(YOU + "|" + UNCLEAR, plain[before:])
    if is_new and not asks(plain[:before]):
        return at + before, at + before
    return None


def find_request(data: bytes, longest: int, opening: str, asking: str, courtesy: str):
    """(the text in one form, where the request begins, where its sentence ends, where the rest of the message begins) of a
    message that may begin with a request; None if its sentence asks a question, or is longer than `longest` bytes.

    `opening` words may stand before it, behind them `asking` ones such as "could you", with which it is no question, and then
    `courtesy`.
    """
    plain = simplified(data[:longest])
    start = past_several(opening, plain, skip(plain, 0))
    asked = past(asking, plain, start)
    if asked >= 0:
        asked = past_several(courtesy, plain, asked)
    end = sentence_end(data, start)
    if end > len(plain) or (len(data) > len(plain) and end == len(plain)):
        return None
    told = (end, end) if asked >= 0 else statement(data, start)
    return None if told is None else (plain, max(start, asked)) + told


def sentence_end(data: bytes, at: int) -> int:
    """Where the sentence ends that stands at `at`, its mark and closing quotes included."""
    end = len(data)
    for mark in split_phrases(_ENDS):
        found = data.find(mark, at, end)
        while found >= 0:
            after = found + len(mark)
            if mark == b"\n" or mark[0] >= 0x80 or _is_end(data, after):
                end = after
                break
            found = data.find(mark, after, end)
    while end < len(data) and data[end] in _QUOTES:
        end += 1
    return end


def _is_end(data: bytes, at: int) -> bool:
    """Whether the mark before `at` ends a sentence: not that of 3.5, "!!", "Dr.", "J. Smith", or "p.m."."""
    if at < len(data) and 0x20 < data[at] < 0xE3 and data[at] not in _QUOTES:
        return False
    if data[at - 1] != 0x2E:
        return True
    start = at - 1
    while start and (_is_letter(data[start - 1]) or data[start - 1] == 0x2E):
        start -= 1
    word = data[start : at - 1]
    if len(word) == 1 and word.isupper():
        # Of a name, or the language: "I write in C. What about you?"
        return past(SUBJECT + "|" + REQUEST + "|" + COURTESY, simplified(data[at : at + LONGEST_NAME]), 1) >= 0
    return word.lower() not in split_phrases(_SHORT_FORMS) and not (word[1:2] == b"." and word[:1].isalpha())


def asks(plain: bytes) -> bool:
    """Whether a text ends as a question does."""
    bare = plain.rstrip(b" \t\r\n.!\"')")
    while bare[-3:] in ("。".encode(), "！".encode(), "”".encode()):
        bare = bare[:-3]
    return any(bare.endswith(end) for end in split_phrases(_ASKING))


def comma_at(plain: bytes, at: int) -> int:
    """Where the first comma from `at` on stands, or the end."""
    found = [plain.find(mark, at) for mark in split_phrases(_COMMAS)]
    return min([place for place in found if place >= 0] + [len(plain)])


# --- words


def simplified(data: bytes) -> bytes:
    """A text in lower case, and in simplified characters as far as the rules use them."""
    data = data.lower()
    if data and max(data) >= 0x80:
        for at in range(0, len(_TRADITIONAL), 6):
            data = data.replace(_TRADITIONAL[at : at + 3], _TRADITIONAL[at + 3 : at + 6])
    return data


def unmarked(plain: bytes) -> bytes:
    """A text without the marks at its end."""
    while True:
        short = plain.rstrip(_MARKS + b"." + _QUOTES)
        if len(short) >= 3 and short[-3:] in _WIDE_MARKS:
            short = short[:-3]
        if len(short) == len(plain):
            return plain
        plain = short


def past(openings: str, text: bytes, at: int) -> int:
    """Where a text goes on after the first opening of a list that stands at `at`, and marks; -1 if none does."""
    for opening in split_phrases(openings):
        end = _matched(opening, text, at)
        if end >= 0:
            return skip(text, end)
    return -1


def past_several(openings: str, text: bytes, at: int) -> int:
    """Where a text goes on after as many openings of a list, one behind the other, as stand at `at`, if any does."""
    for _ in range(_COURTESIES):
        at = max(at, past(openings, text, at))
    return at


def _matched(opening: bytes, text: bytes, at: int) -> int:
    """Where an opening ends that stands at `at`, -1 if it does not; any apostrophe will do, or none."""
    byte = 0
    for byte in opening:
        if byte == 0x27:
            at += 3 if text[at : at + 3] == b"\xe2\x80\x99" else text[at : at + 1] == b"'"
        elif at < len(text) and text[at] == byte:
            at += 1
        else:
            return -1
    return -1 if at < len(text) and _is_letter(byte) and _is_letter(text[at]) else at


def skip(text: bytes, at: int) -> int:
    """Past spaces and marks that often stand between an opening and what follows."""
    while at < len(text):
        byte = text[at]
        if byte in _MARKS or (byte in b".-" and text[at + 1 : at + 2] in (b" ", b"", b".", b"-")):
            at += 1
        elif byte >= 0xE2 and at + 3 <= len(text) and text[at : at + 3] in _WIDE_MARKS:
            at += 3
        else:
            break
    return at


def has(parts: str, plain: bytes) -> bool:
    """Whether one of a list stands anywhere in a text."""
    return any(part in plain for part in split_phrases(parts))


def _is_letter(byte: int) -> bool:
    return 0x61 <= byte <= 0x7A or 0x30 <= byte <= 0x39 or 0x41 <= byte <= 0x5A or byte == 0x2D or byte == 0x5F
