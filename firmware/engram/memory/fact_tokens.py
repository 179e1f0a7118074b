"""A fact's words as tokens, in which other wordings of the same look alike.

Known words and phrases become their heads (see fact_words): `no longer` and 不再 are both `!end`. Of other words a plural has
no s, and an -ing that is no known verb is a stem with `~`, as is a verb after "likes to".
"""

from engram.compat import const
from engram.memory.fact_cut import cut
from engram.memory.fact_numbers import is_number, joined, number
from engram.memory.fact_words import begins_phrase, head, phrase

_LONGEST_PHRASE = const(4)
_W = const(0x57)

_TIMES = {b"once": b"1", b"twice": b"2"}
_PLAIN_FORMS = {b"are": (b"is",), b"has": (b"have",), b"goes": (b"go",)}
_THIS_YEAR = "R今年".encode()
_MEASURES = {b"tall": b"#height", b"high": b"#height", b"long": b"#length", b"wide": b"#width", b"deep": b"#depth"}
_NEW = (b"new", "新".encode())
_MONTHS_OR_WORDS = (b"may", b"march", b"mar")
# Words that are verbs, but not after these: "the left lamp", "is finished".
_VERBS_OR_STATES = (b"left", b"lost", b"finished", b"completed", b"closed")
_BEFORE_STATES = (b"Z", b"A", b"M", b"'", b"=", b"!was", b"@on", b"@to")
# After these a verb stands with "to", or in -ing.
_BEFORE_VERBS = (b"&like", b"&hate", b"&want", b"#prefer", b"!end", b"&plan", b"#start", b"&study", b"&hope")


def tokens(text: str) -> list:
    """The tokens of a text in order, as bytes."""
    words = cut(text)
    found = []
    at = 0
    while at < len(words):
        at += _add(words, at, found)
    return _tidied(joined(found))


def stem(word: bytes) -> bytes:
    """What `hike` and `hik~`, of "hiking", have in common."""
    if word[-1:] in b"~^e":
        return word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] and word[-1] not in b"aeiouls" else word


def _add(words: list, at: int, found: list) -> int:
    """Append the tokens of the word at `at`, or of the phrase or number that begins there; how many words that is."""
    word = words[at]
    low = word.lower()
    before = found[-1] if found else b";"
    if low in _TIMES:
        found.extend((_TIMES[low], b"time"))
        return 1
    token, size = number(words, at)
    if not size and low == b"to":
        token, size = _infinitive(words, at, found)
    if size:
        found.append(token)
        return size
    if low == b"am" and before[-1:].isdigit():
        found.append(b"^am")
        return 1
    forms = _forms(low)
    size = _add_phrase(words, at, forms, found)
    if size:
        return size
    if not _is_ordinary(words, at, before):
        for form in forms:
            listed = head(form)
            if listed:
                if listed[0] == _W and form != low:  # "Mondays"
                    found.append(b"@every")
                _extend(found, listed)
                return 1
    found.append(_plain(low, word != low))
    return 1


def _add_phrase(words: list, at: int, forms: tuple, found: list) -> int:
    for form in forms:
        if begins_phrase(form):
            for size in range(min(_LONGEST_PHRASE, len(words) - at), 1, -1):
                listed = phrase(b"_".join([form] + [word.lower() for word in words[at + 1 : at + size]]))
                if listed:
                    _extend(found, listed)
                    return size
    return 0


def _extend(found: list, listed: bytes) -> None:
    if listed != b"-":
        found.extend(listed.split(b"_"))


def _infinitive(words: list, at: int, found: list) -> tuple:
    """The verb after a "to" that follows "likes" and the like, as it is in -ing."""
    if not found or at + 1 == len(words) or not words[at + 1].islower():
        return b"", 0
    if found[-1] not in _BEFORE_VERBS and not (found[-1] == b"=" and b"#goal" in found):
        return b"", 0
    verb = words[at + 1]
    listed = head(verb)
    return (listed or stem(verb) + b"~", 2) if not listed or listed[:1] == b"&" else (b"", 0)


def _is_ordinary(words: list, at: int, before: bytes) -> bool:
    """Whether a word that is listed is here another one: may, March; left, finished; blood type A."""
    word = words[at]
    low = word.lower()
    if low in _MONTHS_OR_WORDS and word == low:
        return not any(other[:1].isdigit() for other in words[max(0, at - 1) : at + 2])
    if low in _VERBS_OR_STATES:
        return before in _BEFORE_STATES or before[:1] == b"H"
    return word == b"A" and before != b";"


def _forms(low: bytes) -> tuple:
    """A word, and what it may be a form of."""
    if low in _PLAIN_FORMS:
        return _PLAIN_FORMS[low]
    if len(low) > 3 and low[-1:] == b"s" and low[-2:] != b"ss":
        if low[-3:] == b"ies":
            return (low, low[:-3] + b"y")
        return (low, low[:-1], low[:-2]) if low[-2:] == b"es" else (low, low[:-1])
    if len(low) > 5 and low[-3:] == b"ing":
        return (low, low[:-3], low[:-4] if low[-4] == low[-5] else low[:-3] + b"e")
    return (low,)


def _plain(low: bytes, is_capital: bool) -> bytes:
    """A word that is not listed."""
    if low[0] >= 0x80 or not low.isalpha():
        return low
    if not is_capital:
        if low[-3:] == b"ing" and any(vowel in low[:-3] for vowel in b"aeiouy"):
            return stem(low[:-3]) + b"~"
        low = _singular(low)
    if low[-3:] == b"our" and len(low) > 4:
        return low[:-2] + b"r"
    if low[-3:] in (b"ise", b"yse") and len(low) > 5:
        return low[:-2] + b"ze"
    return low[:-2] + b"er" if low[-3:] == b"tre" else low


def _singular(low: bytes) -> bytes:
    if len(low) < 4 or low[-1:] != b"s" or low[-2:] in (b"ss", b"us", b"is") or low == b"news":
        return low
    if low[-3:] == b"ies":
        return low[:-3] + b"y"
    return low[:-2] if low[-4:] in (b"sses", b"ches", b"shes") or low[-3:] in (b"xes", b"oes") else low[:-1]


def _tidied(found: list) -> list:
    """The tokens without words that only point, and with ages, measures and names said in one way."""
    out = []
    for at, token in enumerate(found):
        before = out[-1] if out else b" "
        after = found[at + 1] if at + 1 < len(found) else b" "
        if _says_nothing(token, before, after) or (token == b"old" and at and found[at - 1] == b"$year"):
            continue
        if token == b"'" and before == b"U":
            out[-1] = b"M"
        elif is_number(before) and (token == b"$old" or (token == b"$year" and after == b"old")):
            out = [other for other in out[:-1] if other not in (b"=", b"#age", _THIS_YEAR)] + [b"#age", before]
        elif token in _MEASURES and before[:1] == b"$" and b"=" in out:
            out.insert(out.index(b"="), _MEASURES[token])  # "is 180 cm tall"
        else:
            out.append(_in_context(token, after, out))
    return _in_week_order(out)


def _says_nothing(token: bytes, before: bytes, after: bytes) -> bool:
    """The user, 20 mg of, Correction: ..., and what belongs to nothing."""
    if token == b"Z":
        return after == b"U"
    if token == b"@of":
        return before[:1] == b"$"
    return (token == b":" and before[:1] == b"*") or (token == b"'" and after in (b" ", b";", b","))


def _in_context(token: bytes, after: bytes, out: list) -> bytes:
    """What a token is beside others."""
    if token in _NEW and after[:1] == b"#":
        return b"*now"
    if token == b"'" and (after in (b"A", b"Z", b"M") or after[:1] == b"!"):
        return b"="
    if token == b"#called":
        return b"#name" if b"&have" in out else b"called"
    return b"=" if token == b":" else token


def _in_week_order(found: list) -> list:
    """`Fridays and Tuesdays` the other way round, as each pair of weekdays."""
    for at, token in enumerate(found):
        if token[0] == _W and found[at + 1 : at + 2] == [b"and"]:
            other = at + 2
            while other < len(found) and found[other] in (b"@on", b"@every"):
                other += 1
            if other < len(found) and found[other][0] == _W and found[other] > token:
                found[at], found[other] = found[other], token
    return found
