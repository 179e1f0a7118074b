"""Openings of a message, in fifteen languages (words/openings_*.txt): they tell commands and questions without a model.

nothing    an opening that is none: "vergiss nicht" opens with "vergiss"
polite     what may stand before the others
filler     "please", which may also stand within an opening
remember, forget, find   what follows is to be kept, forgotten, searched for
    1      only behind a colon, or as an id
    2      from the last word of the opening on: "remember my ..."
    3, 4   only behind a colon, with 3 or a comma; or what stands before it, at the end of a text: "..., don't forget it"
unkept     asks, as a sentence of its own, that nothing of the conversation is kept
linking    what may part an order at the end from what is to be kept, in a script without spaces
remind     asks to be told something later; it may stand anywhere
joining    what may stand before a question alone
question   opens a question that has no mark at its end; with 3 it may also end one
asking     opens what most probably is a question; in a script without spaces both may stand anywhere
"""

from collections import namedtuple

from engram.text.lexicon import Lexicon, split_words
from engram.text.utf8 import encode, strip_end

Command = namedtuple("Command", "kind content")
"""Kind "remember", "forget", "find", "unkept" or "" for no command; and the content, or all that was said.

The content of "unkept" is a message of its own."""

_COLON = const(1)
_OWN_WORD = const(2)
_LAST = const(3)
_NO_COMMA = const(4)
_LONGEST_OPENING = const(12)  # words
_MOST_PASSED = const(4)
_POLITE = const(("polite", "filler"))
_MARKS = ("?", "？", "؟")
_COLONS = (":", "：")
_COMMAS = (",", "，", "、", "،", "-", "–", "—")
_AROUND = (" ", "\n", ".", "!", '"', "'", ")", "。", "！", "”", "」", "』", "）")
_QUOTES = ('"', "'", "“", "‘", "«", "「", "『")  # others' words
_ASKING = const(("question", "asking", "find"))
_LONGEST_ASKED = const(240)  # characters of a message that is a question alone
_ENDS = const((". ", "! ", "。", "！", "\n"))
_GREETING = const(2)  # words allowed before a question
_FIRST_WIDE = const(0xE3)  # lead byte of the scripts without spaces
_LED_BY = (" ", "\n", "'", "’", "　") + _COLONS + _COMMAS
_SENTENCE_ENDS = (" ", "\n", ".", "!", "。", "！") + _COLONS
_PARTED_BY = (".", ";", "!", "。", "；", "！", "…", ")", "\n", "؛") + _COLONS + _COMMAS

_lexicon = Lexicon("openings")


def parse(said: str) -> Command:
    """Return the command of a message; a question is a find."""
    data = encode(said)
    words = split_words(data)
    opened = _without_fillers(words)
    kind, form, end = _opening(opened, _POLITE)
    needs_mark = form in (_COLON, _LAST, _NO_COMMA) and kind != "question"
    if said.lstrip()[:1] in _QUOTES or (needs_mark and not _follows(data, opened, end, form)):
        kind = ""
    if kind == "unkept":
        behind = data[opened[end - 1][2] :].decode().lstrip(" ")[:1]
        content = _behind(data, opened[end - 1][2], _SENTENCE_ENDS)
        if (not behind or behind in _SENTENCE_ENDS) and content[:1] not in _MARKS:
            return Command(kind, content)
        kind = ""
    if kind == "find":
        return Command("find", _behind(data, opened[end - 1][2]) or said)
    if kind == "question" or is_question(said) or _ending(words, len(words), "question")[1] == _LAST:
        return Command("find", said)
    if kind in ("remember", "forget"):
        return Command(kind, _behind(data, opened[end - 1][1 if form == _OWN_WORD else 2]))
    before = _before_order(data, words)
    return Command("remember", before) if before else Command("", said)


def is_question(said: str) -> bool:
    """True for a text with a question mark of any script at its end."""
    return strip_end(said, _AROUND)[-1:] in _MARKS


def asks(message: str) -> bool:
    """True if a message asks something, even without a question mark."""
    if any(mark in message for mark in _MARKS):
        return True
    words = split_words(encode(message))
    return _opening(words, _POLITE + ("joining",))[0] in _ASKING or any(
        words[at][0][0] >= _FIRST_WIDE and _lexicon.longest(words, at)[0] in _ASKING for at in range(len(words))
    )


def only_asks(content: str) -> bool:
    """True for a question with at most a greeting before it."""
    content = content.rstrip()
    if len(content) > _LONGEST_ASKED or not content or content[-1] not in _MARKS:
        return False
    before = max([content.rfind(mark, 0, len(content) - 1) for mark in _ENDS])
    return before < 0 or len(content[:before].split()) <= _GREETING


def wants_reminder(message: str) -> bool:
    """True if a message asks, anywhere, to be reminded later."""
    words = split_words(encode(message))
    return any(_lexicon.longest(words, at)[0] == "remind" for at in range(len(words)))


def goes_on(content: str) -> bool:
    """True if something stands behind the first sentence of a text."""
    content = strip_end(content, _AROUND)
    return any(mark in content for mark in _ENDS)


def own_words(content: str) -> str:
    said = content
    while said[:1] == "[":
        mark, end, rest = said.partition("]")
        if not (end and rest.strip()) or "\n" in mark:
            break
        said = rest.strip()
    return said


def _without_fillers(words: list) -> list:
    """Return words without the fillers among the first; each is counted as a part of the word before it."""
    found = []
    at = 0
    while at < len(words):
        kind, _, end = _lexicon.longest(words, at) if at < _LONGEST_OPENING else ("", 0, 0)
        if kind != "filler":
            found.append(words[at])
            end = at + 1
        elif found:
            found[-1] = found[-1][0], found[-1][1], words[end - 1][2]
        at = end
    return found


def _opening(words: list, passed: tuple) -> tuple:
    """Return (kind, form, next word) of an opening behind passed words."""
    kind, form, end = _lexicon.longest(words, 0)
    for _ in range(_MOST_PASSED):
        if kind in passed:
            kind, form, end = _lexicon.longest(words, end)
    return kind, form, end


def _ending(words: list, end: int, *kinds) -> tuple:
    """Return (first word, form) of the longest phrase of some kinds that ends before a word; (end, 0) without one."""
    for at in range(max(0, end - _LONGEST_OPENING), end):
        kind, form, behind = _lexicon.longest(words, at)
        if behind == end and kind in kinds:
            return at, form
    return end, 0


def _before_order(data: bytes, words: list) -> str:
    """Return what stands before an order to remember it at the end of a text, "" without one."""
    end, _ = _ending(words, len(words), *_POLITE)
    at, form = _ending(words, end, "remember")
    if not 0 < at < end or form == _COLON:
        return ""
    is_free = form >= _OWN_WORD and words[at][0][0] >= _FIRST_WIDE
    at += form == _OWN_WORD
    for _ in range(_MOST_PASSED):
        at, _ = _ending(words, at, "polite", "filler", *(("linking",) if is_free else ()))
    before = data[: words[at][1]].decode().rstrip(" ")
    return strip_end(before, _COMMAS + _COLONS + (" ",)) if is_free or before[-1:] in _PARTED_BY else ""


def _follows(data: bytes, words: list, end: int, form: int) -> bool:
    if len(words) == end + 1 and words[end][0][:1] in b"mi" and words[end][0][1:].isdigit():
        return True
    mark = data[words[end - 1][2] :].decode().lstrip()[:1]
    return mark in _COLONS or (form == _LAST and mark in _COMMAS)


def _behind(data: bytes, start: int, led_by: tuple = _LED_BY) -> str:
    behind = data[start:].decode()
    while behind[:1] in led_by:
        behind = behind[1:]
    return behind.rstrip()
