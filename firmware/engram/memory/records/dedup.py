"""Compares two facts: whether a new one repeats an old one, changes it, resembles it, or is about something else.

SAME       the words and signs are equal, but for case, width, the punctuation at the end, and "I" for "the user"
CHANGED    the new fact takes the place of the old one: it denies or corrects what the old one says, or it gives
           another value of what has one value (a name, a home, a price, the state or the place of a named thing)
SIMILAR    most of the words are equal: both facts stay, and the person gets a notice
DIFFERENT  all else

No model is asked. A wrong SAME loses a fact and a wrong CHANGED hides one, a wrong SIMILAR costs only room: whatever is in
doubt is SIMILAR or DIFFERENT. Two numbers that may be two ways to write one, such as 7 pm and 19:00, are in doubt.
"""

from engram.compat import const
from engram.memory.records import dedup_words as lists
from engram.text.tokenizer import words
from engram.text.utf8 import encode

SAME = "same"
CHANGED = "changed"
SIMILAR = "similar"
DIFFERENT = "different"

LONGEST = const(240)
"""Bytes of a text that is taken apart; of a longer one only the words are compared. Bounds time and heap."""

_OVERLAP = const(60)  # per cent of the words in common from which facts are similar
_COMPARED = const(1024)  # characters of a long text that are looked at for that: bounds the heap

# Signs and what they are replaced by: full-width marks, and marks that stand apart from words.
_FORMS = const(
    ("’", "'", "。", ".", "、", ", ", "\u3000", " ", "，", ", ", "：", ": ", "；", ", ", "(", ", ", ")", ", ")
)
_AT = const((b"at", b"on", b"in"))
_ENDS = const((b"to", b"but", b"IS", b","))


def compare(old: str, new: str) -> str:
    """The verdict on two texts."""
    return verdict(Fact(old), Fact(new))


def verdict(old: "Fact", new: "Fact") -> str:
    """The verdict on two facts that are taken apart."""
    if old.plain == new.plain:
        return CHANGED if _has(lists.CASED, old.noun) and old.last_word != new.last_word else SAME
    found = _relation(old, new) if old.tokens and new.tokens else ""
    if found:
        return found
    one, other = set(words(old.text[:_COMPARED])), set(words(new.text[:_COMPARED]))
    return SIMILAR if len(one & other) * 100 > _OVERLAP * max(len(one), len(other)) else DIFFERENT


class Fact:
    """A text in the form in which it is compared.

    plain       its words and signs, between spaces
    tokens      what holds: plain words, with phrases replaced as dedup_words says; [] for a long text
    key, value  the tokens before and after the first IS; the value is [] without one
    noun        the attribute in the key that has one value, or b""
    rejected    tokens of what no longer holds beside what holds
    is_denied   whether all of it is denied
    corrects    whether it says that it corrects something
    is_bare     whether tokens tell all of it
    """

    def __init__(self, text: str):
        self.text = text
        self.source = data = _narrow(encode(text))
        self.last_word = data.rstrip(b" .!").split(b" ")[-1]
        data = _replace(lists.SPEAKER, _spaced(data.lower()))
        self.plain = _spaced(data.rstrip(b" .!"))
        self.tokens = []
        self.rejected = []
        self.is_denied = self.corrects = self.is_bare = False
        if len(data) <= LONGEST:
            said = self.plain.split()
            if said[:1] == [b"I"] and len(said) > 1 and len(said[1]) > 3 and said[1] != b"always":
                said[1] = _singular(said[1])  # "the user likes", "I like"
                self.plain = b" " + b" ".join(said) + b" "
            self._take_apart(_tokens(_replace(lists.PHRASES, self.plain)))
        self.key, self.value = _split(self.tokens)
        self.noun = _attribute(self.key) if self.value else b""

    def _take_apart(self, tokens: list) -> None:
        self.corrects = b"NOW" in tokens
        self.is_bare = not self.corrects and b"SO" not in tokens
        tokens = [token for token in tokens if token not in (b"NOW", b"SO")]
        for sign in (b"INSTEAD", b"FROM", b"NOT"):
            if sign in tokens and (sign != b"FROM" or self.corrects):
                tokens = self._reject(tokens, tokens.index(sign), sign == b"NOT")
                break
        self.is_bare = self.is_bare and not self.rejected
        self.is_denied = b"NOT" in tokens
        self.tokens = tokens = [token for token in tokens if token != b"NOT"]
        key, value = _split(tokens)
        if value and not _attribute(key) and _attribute(value) and (value[0] == b"I" or value[0].endswith(b"'s")):
            self.tokens = value + [b"IS"] + key  # "blue is my favourite colour"

    def _reject(self, tokens: list, at: int, is_denial: bool) -> list:
        """The tokens without what follows a sign up to what holds; a denial rejects beside what holds only."""
        end = at + 1
        while end < len(tokens) and tokens[end] not in _ENDS:
            end += 1
        rest = tokens[end:]
        while rest and rest[0] in (b",", b"to", b"but"):
            rest.pop(0)
        if is_denial and b"but" not in tokens[end : end + 2]:  # "not X but Y"
            if not at or tokens[at - 1] != b",":  # "Y, not X"
                return tokens
            tokens, at = tokens[: at - 1] + tokens[at:], at - 1
        self.rejected = tokens[at + 1 : end]
        return tokens[:at] + rest


# --- a text as tokens


def _spaced(data: bytes) -> bytes:
    """A text with one space between words and around marks."""
    for mark in (b"\n", b"\t", b", ", b": ", b'"'):
        data = data.replace(mark, b" " + mark.strip() + b" ")
    while b"  " in data:
        data = data.replace(b"  ", b" ")
    return b" " + data.strip() + b" "


def _narrow(data: bytes) -> bytes:
    """A text with full-width signs in their ASCII form."""
    for at in range(0, len(_FORMS), 2):
        data = data.replace(encode(_FORMS[at]), encode(_FORMS[at + 1]))
    for code in range(0x21, 0x7F) if b"\xef" in data else ():
        data = data.replace(bytes((0xEF, 0xBC + (code > 0x5F), 0x80 | code - 0x20 & 0x3F)), bytes((code,)))
    return data


def _replace(phrases: bytes, data: bytes) -> bytes:
    head = b""
    at = 1
    while at < len(phrases):
        end = phrases.find(b"|", at)
        phrase = phrases[at:end]
        at = end + 1
        if phrase[:1] == b":":
            head = b" " + phrase[1:] + b" "
        elif phrase in data:
            data = data.replace(phrase, head)
    return _spaced(data)


def _tokens(data: bytes) -> list:
    """The words of a text, each Chinese character one; a number has its unit behind `_`."""
    spaced = bytearray()
    left = 0
    for byte in data:
        if 0xE3 <= byte <= 0xED:  # the first of the three bytes of such a character
            spaced.append(0x20)
            left = 3
        spaced.append(byte)
        left -= 1
        if left == 0:
            spaced.append(0x20)
    found = []
    for word in bytes(spaced).split():
        word = word.rstrip(b".") or word  # "Dr."
        if found and _is_number(found[-1]) and not _unit(found[-1]) and _has(lists.UNITS, word):
            found[-1] += b"_" + word
        elif found[-1:] not in ([], [b"IS"], [b"NOW"]) or word not in (b",", b"DID"):
            found.append(word)
    return found[:-1] if found[-1:] == [b"DID"] else found


def _split(tokens: list) -> tuple:
    at = tokens.index(b"IS") if b"IS" in tokens else len(tokens)
    return tokens[:at], tokens[at + 1 :]


def _attribute(key: list) -> bytes:
    for token in key:
        if _has(lists.ATTRIBUTES, token):
            return token
    joined = b"".join(key)
    for size in (12, 9, 6):  # Chinese nouns stand last
        if joined[-1:] >= b"\x80" and _has(lists.ATTRIBUTES, joined[-size:]):
            return joined[-size:]
    return b""


def _has(words: bytes, token: bytes) -> bool:
    return b" " + token + b" " in words


def _has_one(words: bytes, tokens: list) -> bool:
    return bool([token for token in tokens if _has(words, token)])


def _is_number(token: bytes) -> bool:
    number = token.split(b"_")[0]
    return number.lstrip("+-<>~$€£".encode())[:1].isdigit() or _has(lists.NUMBERS, number)


def _unit(token: bytes) -> bytes:
    return token.lstrip(b"+-<>$0123456789.,/").split(b"_")[-1] if token[:1] < b"a" or b"_" in token else b""


def _singular(word: bytes) -> bytes:
    return word[:-1] if word[-1:] == b"s" and word[-2:] != b"ss" else word


def _stem(word: bytes) -> bytes:
    if not word.isalpha() or len(word) < 3:
        return word
    word = word[:-3] if word[-3:] == b"ing" and len(word) > 5 else _singular(word) if len(word) > 3 else word
    return word[:-1] if word[-1:] == b"e" else word


def attribute_words(fact: Fact) -> tuple:
    """The words to search records for that state the same attribute differently: (all words of it, whose it is)."""
    head = b"|:" + fact.noun + b" IS"
    found = b""
    at = lists.PHRASES.find(head) if fact.noun else -1
    while at >= 0:
        end = lists.PHRASES.find(b"|:", at + 1)
        found += lists.PHRASES[lists.PHRASES.find(b"|", at + 1) : end].replace(b"|", b" ")
        at = lists.PHRASES.find(head, end)
    if not found:
        return "", ""
    return (found + fact.noun).decode(), b" ".join(fact.key[:-1] + [b""]).replace(
        b"I ", "user 用户 我 ".encode()
    ).decode()


# --- what one fact is to another


def _relation(old: Fact, new: Fact) -> str:
    """SAME or CHANGED where that is sure, else ""."""
    if old.is_denied != new.is_denied:
        one, other = [[_stem(token) for token in fact.tokens if not _has(lists.FILLERS, token)] for fact in (old, new)]
        return CHANGED if len(old.tokens) > 1 and one == other else ""
    size = len(new.rejected)
    if size and old.tokens[-size:] == new.rejected and old.tokens[0] == new.tokens[0]:
        before = old.tokens[:-size]
        if before == new.tokens[: len(before)] or (
            new.corrects and len(before) == 2
        ):  # "uses Vim", "switched from Vim"
            return CHANGED
    if old.is_denied:
        return ""
    if old.value and new.value and old.key == new.key and not _has_one(lists.MANY, old.key):
        if old.noun:
            if old.value == new.value:
                return SAME if old.is_bare and new.is_bare else ""
            return CHANGED if _is_other_value(old, new) else ""
        if _is_moved(old, new):
            return CHANGED
    return CHANGED if _differs_in_one(old.tokens, new.tokens) else ""


def _is_other_value(old: Fact, new: Fact) -> bool:
    one, more = _cut(old.value)
    other, others = _cut(new.value)
    if (more != others and not new.corrects) or _has_one(lists.JOINTS, one + other):
        return False
    is_named = lists.ATTRIBUTES.find(b" " + old.noun + b" ") < lists.ATTRIBUTES.find(b"|")
    if is_named and not (old.value == one + more and _is_name(old.source, one) and _is_name(new.source, other)):
        return False
    return _may_differ(one, other)


def _cut(value: list) -> tuple:
    """A value without the preposition before it, and what follows from the next one on."""
    start = 1 if value[0] in _AT and len(value) > 1 else 0
    for at in range(start + 1, len(value)):
        if _has(lists.PREPOSITIONS, value[at]):
            return value[start:at], value[at:]
    return value[start:], []


def _is_name(source: bytes, value: list) -> bool:
    """Whether a value begins with a capital, or is none of ASCII letters."""
    at = source.lower().find(b" " + value[0])
    is_capital = at >= 0 and 0x41 <= source[at + 1] <= 0x5A and not _has(lists.NO_NAMES, value[0])
    return is_capital or not value[0][:1].isalpha()


def _is_moved(old: Fact, new: Fact) -> bool:
    """Whether both values are places, or the new one a corrected time."""
    kind = _kind(old.value)
    if kind != _kind(new.value) or _has_one(lists.JOINTS, old.value + new.value):
        return False
    is_one = new.corrects if kind == "time" else kind == "place" and old.key != [b"I"]
    return is_one and _may_differ(_cut(old.value)[0], _cut(new.value)[0])


def _kind(value: list) -> str:
    times = [token for token in value if _is_number(token) or _has(lists.TIMES, token)]
    if len(times) == len([token for token in value if token not in _AT]):
        return "time"
    is_place = len(value) > 1 and _has(lists.PLACES, value[0]) and not _is_number(value[1]) and not _cut(value)[1]
    if not is_place or _has_one(lists.TIMES, value) or (value[-1] >= b"\x80" and value[-1] not in lists.ROOMS):
        return ""
    return "place"


def _may_differ(one: list, other: list) -> bool:
    """Whether two values are not one in two forms, and neither only tells more than the other."""
    if set(one).issubset(other) or set(other).issubset(one):
        return False
    numbers = [token for token in one if _is_number(token)]
    others = [token for token in other if _is_number(token)]
    if len(numbers) != len(others) or b"".join(one) == b"".join(other):
        return False
    if (one[0] >= b"\x80") != (other[0] >= b"\x80"):  # a name in another script
        return False
    for number, another in zip(numbers, others):
        if number != another and _is_doubtful(number, another):
            return False
    return True


def _is_doubtful(one: bytes, other: bytes) -> bool:
    """Whether two numbers may be the same in two forms."""
    if _unit(one) != _unit(other):
        return not _are_exclusive(_unit(one), _unit(other))
    digits, others = _digits(one), _digits(other)
    return digits == others != b"" or bool(digits) != bool(others)


def _digits(token: bytes) -> bytes:
    found = bytes([byte for byte in token if 0x30 <= byte <= 0x39 or byte == 0x2E])
    found = found.rstrip(b"0").rstrip(b".") if b"." in found else found
    return token[:1] + found if token[:1] in (b"-", b"<", b">") else found


def _differs_in_one(one: list, other: list) -> bool:
    """Whether one token differs, of which only one can hold."""
    if len(one) != len(other):
        return False
    places = [at for at in range(len(one)) if one[at] != other[at]]
    at = places[0] if places else 0
    if len(places) != 1 or not at or _has(lists.MANY, one[0]):
        return False
    gone, come, before, after = one[at], other[at], one[:at], one[at + 1 :]
    is_end = not after or _has(lists.PREPOSITIONS, after[0]) or after == ["色".encode()]
    if _are_exclusive(gone, come):
        if _has(lists.TIMES, gone):
            return is_end and _is_scheduled(before, after)
        verb = _stem(before[-1])
        return verb == b"prefer" or (is_end and (b"IS" in before or verb == b"us" or gone >= b"\x80"))
    if not _is_number(gone) or not _is_number(come) or _is_doubtful(gone, come):
        return False
    return _is_quantity(before, gone, after, is_end) and not _has_one(lists.PAST, before)


def _is_quantity(before: list, number: bytes, after: list, is_end: bool) -> bool:
    """Whether a number tells how much or when, and not which one."""
    unit = _unit(number)
    if before[-1] == b"at" or _has_one(lists.TIMES, [before[-1], unit]) or b":" in number:
        return _is_scheduled(before, after)
    if b"IS" in before:
        return is_end or bool(unit)
    near = before[1:][-3:] if max(before[-1]) < 0x80 and max(before[0]) < 0x80 else before
    if not _has_one(lists.STATES, [_singular(token) for token in near]) or _has_one(b" a an the ", near):
        return False
    return bool(unit) or before[-1] == b"own" or (b"." in number and is_end)


def _is_scheduled(before: list, after: list) -> bool:
    """Whether a time follows IS or a verb of a schedule, with nothing but prepositions and times between."""
    at = len(before) - 1
    while at and (_is_number(before[at]) or _has(lists.TIMES, before[at]) or _has(lists.PREPOSITIONS, before[at])):
        at -= 1
    if before[at] == b"IS" or (after and after[0] == "开".encode()):
        return True
    return _has(lists.SCHEDULES, _singular(before[at])) and before[at - 1] != b"IS"


def _are_exclusive(one: bytes, other: bytes) -> bool:
    for groups in (lists.EXCLUSIVE, lists.TIMES):
        at = groups.find(b" " + one + b" ")
        if at >= 0:
            return _has(groups[groups.rfind(b"|", 0, at + 1) : groups.find(b"|", at + 1)], other)
    return False
