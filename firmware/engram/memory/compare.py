"""Does a new fact say the same as an old one, does it take its place, or do both stand?

How it is done, without a model and without knowing what words mean:

1. Both texts become tokens in which other wordings of the same look alike: known words and phrases their head, numbers,
   units, days and times one form (fact_cut, fact_words, fact_tokens, fact_numbers).
2. The tokens are taken apart (fact): subject, predicate, rest, days and times, denials, and what is said to hold no more.
3. What is equal in all parts is the same. All that was not dropped as saying nothing has to be equal, in order.
4. A denial takes the place of what it denies, and the other way round; so does what is said to hold in place of it.
5. What has the same subject and predicate takes the old one's place if there can be but one value: of what has a name,
   an age, a price, of a number that is a quantity, of words that exclude each other, of where a thing is (fact_change).
6. All else is different. Where in doubt both are kept: a fact too many is a nuisance, one too few is lost.

What differs is never looked for by how much of two texts is alike, so the length of what they share decides nothing.
"""

from engram.compat import const
from engram.memory.fact import Fact
from engram.memory.fact_change import difference, takes_place
from engram.memory.fact_numbers import is_number
from engram.memory.fact_order import is_ordinary
from engram.memory.fact_tokens import stem, tokens
from engram.text.tokenizer import words
from engram.text.utf8 import encode

SAME = "same"
CHANGED = "changed"
DIFFERENT = "different"

LONGEST = const(240)
"""Bytes of a text up to which it is taken apart; of longer ones only the words are compared. Bounds time and heap."""

_SIGNS = b"+-#<>=*/%$&@^~|"  # of two texts with the same words, these tell C from C++
_LINKS = (b"U", b"and", b"@ba", b"@from", b"@of")
_WISHES = (b"&like", b"&hate", b"&want", b"&hope", b"&plan")
_CASED = b" #password #ssid #code #id #pin #nickname #username #handle #branch "  # what is told apart by capitals


def compare(old: str, new: str) -> str:
    """SAME if a new text says nothing that the old one does not, CHANGED if it takes its place, DIFFERENT if both stand."""
    if old == new:
        return SAME
    if len(encode(old)) > LONGEST or len(encode(new)) > LONGEST:
        return SAME if _has_same_words(old, new) else DIFFERENT
    found = verdict(Fact(old), Fact(new))
    if found == CHANGED:
        one, other = _numbered(tokens(old)), _numbered(tokens(new))
        if one and other and one[0] == other[0] and one[1] != other[1]:
            return DIFFERENT
    return found


def verdict(old: Fact, new: Fact) -> str:
    """As compare(), for facts that are already taken apart."""
    if _says_same(old, new):
        if not _has_same_capitals(old, new):
            return CHANGED
        if old.negation == new.negation:
            return SAME if new.rejected in ([], old.rejected) else DIFFERENT
        is_flip = not old.negation or not new.negation or len(old.negation.split(b"!")) != len(new.negation.split(b"!"))
        return CHANGED if is_flip else DIFFERENT
    if old.negation and new.negation:
        return DIFFERENT
    if old.negation or new.negation:
        return CHANGED if _denies(old, new) or _denies(new, old) else DIFFERENT
    if _rejects(new, old) or _rejects_all(old, new) or takes_place(old, new):
        return CHANGED
    return DIFFERENT


def _numbered(found: list) -> tuple:
    """The thing that a text names with a number, such as box 3 at its beginning or apple number 1; () if there is none."""
    if (
        len(found) > 2
        and found[0][0] < 0x80
        and is_ordinary(found[0])
        and is_number(found[1])
        and found[2][:1] not in b"$F"
    ):
        return found[0], found[1]
    for at in range(1, len(found) - 1):
        word, after = found[at], found[at + 1]
        if word == b"#number" and is_ordinary(found[at - 1]) and is_number(after):
            return found[at - 1], after
    return ()


def _says_same(one: Fact, other: Fact) -> bool:
    said = one.said()
    return said == other.said() and one.when == other.when and (bool(one.when) or said not in ([], [b"U"]))


def _has_same_capitals(one: Fact, other: Fact) -> bool:
    """Whether the words of the value are written alike in both texts, where capitals tell values apart."""
    if not [token for token in one.subject if b" " + token + b" " in _CASED]:
        return True
    text, others = encode(one.text), encode(other.text)
    for token in one.rest:
        at = text.lower().find(token)
        if at >= 0 and text[at : at + len(token)] not in others:
            return False
    return True


def _has_same_words(one: str, other: str) -> bool:
    """Whether two texts have the same words in the same order, and the same signs."""
    others = words(other)
    for word in words(one):
        if word != next(others, None):
            return False
    return next(others, None) is None and _signs(one) == _signs(other)


def _signs(text: str) -> bytes:
    return bytes([byte for byte in encode(text) if byte in _SIGNS])


# --- denied


def _denies(denial: Fact, claim: Fact) -> bool:
    """Whether a denial is of the claim, or of something more general."""
    if not denial.negation or [kind for kind in denial.when if denial.when[kind] != claim.when.get(kind)]:
        return False
    if denial.predicate == b"" or (denial.predicate == b"=" and not denial.rest):
        return _ends(denial, claim)
    if denial.subject != claim.subject or denial.predicate != claim.predicate:
        return False
    return _stand_in([stem(token) for token in denial.rest], [stem(token) for token in claim.rest])


def _ends(denial: Fact, claim: Fact) -> bool:
    """Whether what was sold, cancelled or left is what the claim is about."""
    if claim.predicate in _WISHES or (denial.negation == b"!not" and claim.predicate not in (b"", b"&have")):
        return False
    things = [stem(token) for token in denial.said() if token not in _LINKS]
    claimed = [stem(token) for token in claim.said()]
    if not things or [thing for thing in things if thing not in claimed]:
        return False
    if denial.rest:
        return denial.subject != [b"U"] or claim.subject[:1] == [b"U"]
    return not [word for word in _main_words(claim.subject + claim.rest) if stem(word) not in things]


def _main_words(found: list) -> list:
    """The ordinary words and numbers before the first preposition."""
    words = []
    for token in found:
        if token[:1] == b"@":
            break
        if is_ordinary(token) or (is_number(token) and token != b"1"):
            words.append(token)
    return words


def _stand_in(things: list, others: list) -> bool:
    """Whether the words stand one after the other, and no noun follows that they only describe: apple, apple juice."""
    for at in range(len(others) - len(things) + 1):
        end = at + len(things)
        if others[at:end] == things and (end == len(others) or not is_ordinary(others[end])):
            return True
    return False


def _rejects(new: Fact, old: Fact) -> bool:
    """Whether what a text says to hold no more, beside what holds, is what the old one says."""
    if new.subject[:1] != old.subject[:1] and [token for token in new.subject if token not in new.rejected]:
        return False
    if _rejects_all(new, old):
        return True
    value = _main_words(old.rest)
    if value and not [word for word in value if word not in new.rejected]:
        return old.predicate not in _WISHES or old.predicate in new.rejected
    gone = difference(old.rest, new.rest)[1]
    return old.predicate == new.predicate and bool(gone) and not [token for token in gone if token not in new.rejected]


def _rejects_all(one: Fact, other: Fact) -> bool:
    """Whether one says that all that the other says holds no more."""
    return bool(one.rejected) and not [token for token in other.said() if token not in one.rejected]
