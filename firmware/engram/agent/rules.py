"""What a person plainly asks to be kept or forgotten, or says of themselves, found without a model: English and Chinese.

A rule is the opening words of a message, after "please", "hey" and the like. The set is small: what is no clear statement
is no match, such as a question, a story about remembering, a wish for this answer, or what somebody else said.

Texts are worked on as bytes (see engram.utf8), in one case and in simplified characters, which moves nothing. A list of
words is one object, cut up when it is needed: it takes a fifth of the heap of a tuple.
"""

from collections import namedtuple

from engram.compat import const
from engram.utf8 import encode

Rule = namedtuple("Rule", ("kind", "content", "tags", "type", "asked", "rest"))
"""kind "remember" or "forget"; the content, as it was said; tags and type of a record of it; whether the person asked for it
to be kept, and did not only mention it; and what the message says after it, "" mostly."""

_HEAD = const(240)  # bytes of a message in which its opening words stand
_LONG = const(300)  # characters of a message of which no more than one sentence is taken
_LONGEST_STATEMENT = const(900)  # bytes of a sentence that may be plain
_LONGEST_NAME = const(36)  # bytes
_COURTESIES = const(5)  # opening words before the opening words
_SENTENCES = const(8)  # for which a content may go on
_CRUMB = const(10)  # bytes of a rest that says nothing: "Thanks!", an emoji

_COURTESY = (
    "please|hey|hi|hello|there|ok|okay|oh|well|so|also|and|but|btw|by the way|actually|engram|i want you to|you should|you can|"
    "just|fyi|请你|请|麻烦你|麻烦|你可以|你要|帮我|你好|您好|嗨|嘿|好的|哦|对了|另外|而且|还有|顺便说一下|你知道吗|以后"
).encode()

# --- what is asked for

_REMEMBER = (
    "remember|note that|note this|note:|make a note that|keep in mind|bear in mind|"
    "记住|你记住|记一下|记下来|记下|记录一下|记着"
).encode()
_SAVE = b"save that|store that|write down that"  # "save that file" is none
_DO_NOT_FORGET = "don't forget|do not forget|never forget|记得|别忘了|别忘记|不要忘了|不要忘记|勿忘".encode()
_FORGET = "forget|忘记|忘掉|别再记住|别再记|不要再记住|不要再记".encode()

_BEFORE_KEPT = "that|this:|this,|了|这个：|这个，|这一点：|这件事：".encode()
_BEFORE_FORGOTTEN = "that|about|关于".encode()
_AFTER_FORGOTTEN = "吧|的事情|的事|这件事".encode()
_NO_FACT = b"when|how|if|whether|what|where|why|who|those|the time|the day|that time|that day|back when"
_NOTHING = "|it|to|this|that|me|him|her|them|us|my name|down|我|他|她|它|这|这个|这些|了|吧".encode()
_SUBJECT = "i|my|he|his|she|her|they|their|we|our|it|its|我|他|她|它|咱|这|那".encode()
_VERB = " is | are |'s |是".encode()
_REQUEST = (
    "what|who|when|where|why|how|which|can|could|would|will|do|does|did|is|are|please|tell|show|give|find|make|write|"
    "i need|i want|i'd like|let's|我想|我要|请|告诉|帮|给"
).encode()

# --- what is said

_SPEAKER = "i|my|我".encode()
_MANNER = "don't|no longer|really|always|usually|不再|不太|不|更|最|比较|很|非常|特别".encode()

_CAPITAL = const(1)  # a name comes next
_BRIEF = const(2)  # and not much more
_LASTING = const(4)  # it is not about "you", who answers now, or "these", of which the talk is
_VALUE = const(8)  # it is told what it is
_FIRST = const(16)  # the words themselves come first

_POINTING = (
    "this|that|it|these|those|them|how|when|where|what|if|been|not to say|not to answer|to say|to think|to ask|the first|"
    "the second|the third|the last|the latter|the former|the other|the one|the way|这|那|它|他|她|第|后者|前者|上面|上一"
).encode()
_NO_NAME = "on|in|are|wrong|missing|misspelled|了|你|他|她|它|大家|人|车|外卖|起|一|来|去|做|吃|看|回|买|醒|别".encode()
_HERE = "this|that|it|这|那".encode()

# The tag, what is asked of the rest, the words after the speaker, and what must not come next.
_STATEMENTS = (
    ("name", 0, "name is|name's|的名字是|的名字叫".encode(), _NO_NAME),
    ("name", _CAPITAL | _BRIEF, "'m called|am called|叫".encode(), _NO_NAME),
    ("name", _CAPITAL | _BRIEF | _FIRST, "call me|叫我".encode(), _NO_NAME),
    ("home", 0, "live in|住在|家在".encode(), _HERE),
    ("home", _CAPITAL, "moved to|'ve moved to|have moved to|搬到|搬去".encode(), _HERE),
    ("preference", _LASTING, "prefer|'d rather have|would rather have|喜欢|讨厌|爱吃|爱喝".encode(), _POINTING),
    ("preference", _LASTING, b"like|love|hate|dislike", b"the|" + _POINTING),  # "I like the plan"
    ("preference", _LASTING | _VALUE, b"favourite|favorite", _POINTING),
)
_UNCLEAR = " he said| she said| they said|他说|她说|什么|谁|哪|怎么|多少".encode()
_YOU = " you| your|你|您".encode()
_NEAR = b" them| this| these| those"

# --- questions, sentences, marks

_ASKING = "?|？|؟|吗|呢|么|对吧|是吧|对不对|是不是|哪里|哪儿|谁|多少".encode()
_CONSENT = ", ok|, okay|, please|好吗|可以吗|行吗|好不好".encode()
_ENDS = "\n|.|!|?|。|！|？".encode()
_WIDE_MARKS = "，：。！、；？～…”」』）　".encode()
_MARKS = b" \t\r\n,:;!?"
_QUOTES = b"\"')]"
_COMMAS = ",|，".encode()
_SHORT_FORMS = b"dr|mr|mrs|ms|st|jr|prof|mt|vs"

# Traditional characters of the words above, each before its simplified form.
_TRADITIONAL = "記记請请別别歡欢錄录煩烦幫帮嗎吗這这關关對对後后討讨厭厌麼么誰谁個个還还順顺說说".encode()


def match(said: str):
    """The Rule that fits a message, None if there is none."""
    data = encode(said).strip()
    head = _plain(data[:_HEAD])
    start = _skip(head, 0)
    for _ in range(_COURTESIES):
        start = max(start, _past(_COURTESY, head, start))
    after = _past(_FORGET, head, start)
    if after >= 0:
        return _forgetting(data, head, after)
    for openings in (_REMEMBER, _SAVE, _DO_NOT_FORGET):
        after = _past(openings, head, start)
        if after >= 0:
            return _asked(data, head, start, after, openings, len(said) > _LONG)
    told = _told(data, start)
    if told is None:
        return None
    tag = _stated(data[start : min(told[0], start + _LONGEST_STATEMENT + 1)])
    return _rule("remember", data, start, told, tag, False) if tag else None


def is_question(said: str) -> bool:
    """Whether a text ends as a question does."""
    return _asks(_plain(encode(said)[-_HEAD:]))


def is_one_of(texts: bytes, said: str) -> bool:
    """Whether a text is one of a list, marks at its end aside."""
    data = encode(said).strip()
    return len(data) < _HEAD and _bare(_plain(data)) in texts.split(b"|")


def after(openings: bytes, said: str):
    """What follows the opening of a list with which a text begins, None if it begins with none."""
    data = encode(said).strip()
    at = _past(openings, _plain(data[:_HEAD]), 0)
    return data[at:].decode() if at >= 0 else None


# --- what is asked for


def _asked(data: bytes, head: bytes, start: int, after: int, openings: bytes, is_long: bool):
    kept = max(after, _past(_BEFORE_KEPT, head, after))
    told = _told(data, kept)
    if told is None or _is_nothing(data[kept : told[0]]):
        return None
    is_fact = _past(_NO_FACT, head, after) < 0 if openings is _REMEMBER else _is_clause(data[kept : told[0]])
    if not is_fact and openings is not _DO_NOT_FORGET:
        return None
    tag = "note"
    if _past(b"to|not to", head, after) >= 0 or not (is_fact or kept > after):
        tag, kept = "reminder", start  # "don't forget to call Bob": "to call Bob" would not read well
    tag = _stated(data[kept : told[0]]) or tag
    if told[0] == told[1] and not is_long:
        told = _all_told(data, told[0])
    return _rule("remember", data, kept, told, tag, True)


def _forgetting(data: bytes, head: bytes, after: int):
    told = _told(data, after)
    if told is None or _past(b"to", head, after) >= 0:
        return None
    after = max(after, _past(_BEFORE_FORGOTTEN, head, after))
    wanted = _bare(_plain(data[after : told[0]]))
    if wanted.endswith("了".encode()) or _is_nothing(wanted):
        return None  # "忘记带钥匙了" tells what was forgotten
    for tail in _AFTER_FORGOTTEN.split(b"|"):
        if wanted.endswith(tail):
            wanted = wanted[: -len(tail)]
    return _rule("forget", data, after, (after + len(wanted), told[1]), "note", True)


def _rule(kind: str, data: bytes, begin: int, told: tuple, tag: str, asked: bool):
    rest = data[_skip(data, told[1]) :]
    return Rule(
        kind,
        data[begin : told[0]].strip().decode(),
        [tag],
        "preference" if tag == "preference" else "fact",
        asked,
        rest.decode() if len(rest) > _CRUMB else "",
    )


def _is_nothing(content: bytes) -> bool:
    """Whether a content says nothing by itself, such as "it"."""
    plain = _plain(content[:_HEAD])
    return _bare(plain[: _comma(plain, 0)]) in _NOTHING.split(b"|")


def _is_clause(content: bytes) -> bool:
    """Whether a content is a whole statement, and not only a thing, or what is to be done."""
    plain = _plain(content[:_HEAD])
    return _past(b"to|about", plain, 0) < 0 and (_past(_SUBJECT, plain, 0) >= 0 or _has(_VERB, plain))


def _all_told(data: bytes, end: int) -> tuple:
    """Where a content ends that goes on after its first sentence, twice: as _told()."""
    for _ in range(_SENTENCES):
        at = _skip(data, end)
        next_end = _sentence_end(data, at)
        plain = _plain(data[at:next_end])
        joined = _past(_COURTESY, plain, 0)
        if _asks(plain) or _past(_REQUEST, plain, max(joined, 0)) >= 0 or _stated(plain):
            break
        if joined < 0 and _past(_SUBJECT, plain, 0) < 0:
            break
        end = next_end
    return end, end


# --- what is said


def _stated(piece: bytes) -> str:
    """The tag of what a sentence tells of the person, "" if that is not clear."""
    if len(piece) > _LONGEST_STATEMENT:
        return ""
    plain = _bare(_plain(piece))
    speaker = max(0, _past(_SPEAKER, plain, 0))
    speaker = max(speaker, _past(_MANNER, plain, speaker))
    for tag, form, words, not_next in _STATEMENTS:
        after = _past(words, plain, 0 if form & _FIRST else speaker)
        if after >= 0 and (speaker or form & _FIRST):
            if after >= len(plain) or _past(not_next, plain, after) >= 0 or _has(_UNCLEAR, plain):
                return ""
            return tag if _fits(form, piece, plain, after, not_next) else ""
    return ""


def _fits(form: int, piece: bytes, plain: bytes, after: int, not_next: bytes) -> bool:
    """Whether the rest of a statement is as the form of its rule asks."""
    if form & _CAPITAL and (0x61 <= piece[after] <= 0x7A or 0x41 <= piece[1] <= 0x5A):
        return False  # "call me later", "CALL ME LATER"
    if form & _BRIEF:
        name = plain[after : _comma(plain, after)]
        if len(name) > _LONGEST_NAME or name.split(b" ")[0].endswith(b"day"):
            return False
    if form & _LASTING and (_has(_YOU, plain) or _has(_NEAR, plain)):
        return False
    if form & _VALUE:
        verb = max(plain.find(b" is ", after), plain.find(b" are ", after))
        return verb >= 0 and _past(not_next, plain, plain.find(b" ", verb + 1) + 1) < 0
    return True


# --- sentences


def _told(data: bytes, at: int):
    """(where the statement of a sentence ends, where the rest of the message begins), None if it only asks.

    "my name is Ann, what is yours?" states and asks; "remember it, ok?" asks for no answer.
    """
    end = _sentence_end(data, at)
    if not _asks(_plain(data[max(at, end - _HEAD) : end])):
        return end, end
    if end - at > _LONGEST_STATEMENT:
        return None
    plain = _plain(data[at:end])
    bare = _bare(plain)
    for consent in _CONSENT.split(b"|"):
        if bare.endswith(consent):
            return at + len(_bare(bare[: -len(consent)])), end
    comma = before = _comma(plain, 0)
    while comma < len(plain):
        before, comma = comma, _comma(plain, comma + 1)
    asked = max(_skip(plain, before), _past(_COURTESY, plain, _skip(plain, before)))
    is_new = _past(_REQUEST, plain, asked) >= 0 or _has(_YOU + b"|" + _UNCLEAR, plain[before:])
    if is_new and not _asks(plain[:before]):
        return at + before, at + before
    return None


def _sentence_end(data: bytes, at: int) -> int:
    """Where the sentence ends that stands at `at`, its mark and closing quotes included."""
    end = len(data)
    for mark in _ENDS.split(b"|"):
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
        return _past(_SUBJECT + b"|" + _REQUEST + b"|" + _COURTESY, _plain(data[at : at + _LONGEST_NAME]), 1) >= 0
    return word.lower() not in _SHORT_FORMS.split(b"|") and not (word[1:2] == b"." and word[:1].isalpha())


def _asks(plain: bytes) -> bool:
    bare = plain.rstrip(b" \t\r\n.!\"')")
    while bare[-3:] in ("。".encode(), "！".encode(), "”".encode()):
        bare = bare[:-3]
    for end in _ASKING.split(b"|"):
        if bare.endswith(end):
            return True
    return False


def _comma(plain: bytes, at: int) -> int:
    """Where the first comma from `at` on stands, or the end."""
    found = [plain.find(mark, at) for mark in _COMMAS.split(b"|")]
    return min([place for place in found if place >= 0] + [len(plain)])


# --- words


def _plain(data: bytes) -> bytes:
    """A text in lower case, and in simplified characters as far as the rules use them."""
    data = data.lower()
    if data and max(data) >= 0x80:
        for at in range(0, len(_TRADITIONAL), 6):
            data = data.replace(_TRADITIONAL[at : at + 3], _TRADITIONAL[at + 3 : at + 6])
    return data


def _bare(plain: bytes) -> bytes:
    """A text without the marks at its end."""
    while True:
        short = plain.rstrip(_MARKS + b"." + _QUOTES)
        if len(short) >= 3 and short[-3:] in _WIDE_MARKS:
            short = short[:-3]
        if len(short) == len(plain):
            return plain
        plain = short


def _past(openings: bytes, text: bytes, at: int) -> int:
    """Where a text goes on after the first opening of a list that stands at `at`, and marks; -1 if none does."""
    for opening in openings.split(b"|"):
        end = _matched(opening, text, at)
        if end >= 0:
            return _skip(text, end)
    return -1


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


def _skip(text: bytes, at: int) -> int:
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


def _has(parts: bytes, plain: bytes) -> bool:
    """Whether one of a list stands anywhere in a text."""
    for part in parts.split(b"|"):
        if part in plain:
            return True
    return False


def _is_letter(byte: int) -> bool:
    return 0x61 <= byte <= 0x7A or 0x30 <= byte <= 0x39 or 0x41 <= byte <= 0x5A or byte == 0x2D or byte == 0x5F
