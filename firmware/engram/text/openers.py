"""Openings of a message, in ten languages (words/openings_*.txt): they tell commands and questions without a model.

nothing    an opening that is none: "vergiss nicht" opens with "vergiss"
polite     what may stand before the others
remember, forget, find   what follows is to be kept, forgotten, searched for; with 1 it needs a colon, or an id
unkept     asks that nothing of the conversation is kept
joining    what may stand before a question alone
question   opens a question that has no mark at its end
asking     opens what most probably is a question; in a script without spaces both may stand anywhere
"""

from collections import namedtuple

from engram.compat import const
from engram.text.lexicon import Lexicon, split_words
from engram.text.utf8 import encode, strip_end

Command = namedtuple("Command", "kind content")
"""Kind "remember", "forget", "find", "unkept" or "" for no command; and the content."""

_MOST_PASSED = const(4)
_MARKS = ("?", "？", "؟")
_COLONS = (":", "：")
_AROUND = (" ", "\n", ".", "!", '"', "'", ")", "。", "！", "”", "」", "』", "）")
_QUOTES = ('"', "'", "“", "‘", "«", "「", "『")  # others' words
_ASKING = const(("question", "asking", "find"))
_LONGEST_ASKED = const(240)  # characters of a message that is a question alone
_ENDS = const((". ", "! ", "。", "！", "\n"))
_GREETING = const(2)  # words allowed before a question
_FIRST_WIDE = const(0xE3)  # lead byte of the scripts without spaces
_LED_BY = (" ", "\n", ",", ":", "-", "，", "：", "、", "　")

_lexicon = Lexicon("openings")


def parse(said: str) -> Command:
    """Return the command of a message; a question is a find."""
    data = encode(said)
    words = split_words(data)
    kind, needs_colon, end = _opening(words, ("polite",))
    if said.lstrip()[:1] in _QUOTES or (needs_colon and not _follows(data, words, end)):
        kind = ""
    if kind == "unkept":
        return Command(kind, "")
    if kind == "find":
        return Command("find", _behind(data, words, end) or said)
    if kind == "question" or is_question(said):
        return Command("find", said)
    if kind in ("remember", "forget"):
        return Command(kind, _behind(data, words, end))
    return Command("", "")


def is_question(said: str) -> bool:
    """True for a text with a question mark of any script at its end."""
    return strip_end(said, _AROUND)[-1:] in _MARKS


def asks(message: str) -> bool:
    """True if a message asks something, even without a question mark."""
    if any(mark in message for mark in _MARKS):
        return True
    words = split_words(encode(message))
    return _opening(words, ("polite", "joining"))[0] in _ASKING or any(
        words[at][0][0] >= _FIRST_WIDE and _lexicon.longest(words, at)[0] in _ASKING for at in range(len(words))
    )


def only_asks(content: str) -> bool:
    """True for a question with at most a greeting before it."""
    content = content.rstrip()
    if len(content) > _LONGEST_ASKED or not content or content[-1] not in _MARKS:
        return False
    before = max([content.rfind(mark, 0, len(content) - 1) for mark in _ENDS])
    return before < 0 or len(content[:before].split()) <= _GREETING


def own_words(content: str) -> str:
    said = content
    while said[:1] == "[":
        mark, end, rest = said.partition("]")
        if not (end and rest.strip()) or "\n" in mark:
            break
        said = rest.strip()
    return said


def _opening(words: list, passed: tuple) -> tuple:
    """Return (kind, 1 if it needs a colon, next word) of an opening behind passed words."""
    kind, needs_colon, end = _lexicon.longest(words, 0)
    for _ in range(_MOST_PASSED):
        if kind in passed:
            kind, needs_colon, end = _lexicon.longest(words, end)
    return kind, needs_colon, end


def _follows(data: bytes, words: list, end: int) -> bool:
    if len(words) == end + 1 and words[end][0][:1] in b"mi" and words[end][0][1:].isdigit():
        return True
    return data[words[end - 1][2] :].decode().lstrip()[:1] in _COLONS


def _behind(data: bytes, words: list, end: int) -> str:
    behind = data[words[end - 1][2] :].decode()
    while behind[:1] in _LED_BY:
        behind = behind[1:]
    return behind.rstrip()
