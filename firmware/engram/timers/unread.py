"""Words of time in an English request for a timer that were not understood: such a request is refused, its time never guessed.

Words are as english_times.split_words() gives them. What these lists lack is found by its place: behind a time stands what is
to be said, or a word that leads to it.
"""

from engram.compat import const

_TIMES = const(
    " zero oh one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty ninety half quarter noon midnight o'clock o’clock oclock am pm a.m p.m "
    "hr h sec morning afternoon evening night monday tuesday wednesday thursday friday saturday sunday couple few dawn dusk "
    "sunrise sunset lunchtime dinnertime bedtime weekly monthly yearly "
)
_UNITS = const(
    " minute min hour day week weekend month year fortnight first second third fourth fifth last january february march april "
    "may june july august september october november december "
)
_BEFORE_UNITS = const(" every each in within other next per the of once twice times second third ")
_OF_AN_EVENT = const(" before after from past early earlier later ")
_RELATIONS = const(
    " past to till until before after around about by from for of half quarter between since than every each other next "
    "second third fourth first last "
)
_BEHIND = const(
    " past till until before after around by from between since at in on every each next this ish sharp - – or "
)
_CONNECTORS = const(" to about that of ")
_OPENINGS = const(
    " at in on by around every each half quarter before after until till past from between next this than "
)
_DIRECT = const(" at in on every each ")  # words with which a time begins itself
_CONDITIONS = const(" once when whenever if unless ")  # on which a time depends
_FACTS = const(" what who whose how where when why which that if whether of about ")  # words with which one begins
_CLEAR = const(" at before after by than ")
_ARTICLES = const(" a an the ")
_NEAR = const(4)  # words in which the rest of a time stands


def is_behind(words: list, at: int, time: dict, is_led: bool) -> bool:
    """Whether a time that was understood up to a word goes on there; `is_led`: a word such as "to" leads on to the text."""
    word, then = _word(words, at), _word(words, at + 1)
    if _is_in(word, _CONNECTORS) or word == b"and":
        return _is_time(then) and (word != b"to" or "minute" in time or "after" in time)
    if _is_time(word) or _is_in(word, _BEHIND) or _is_in(word, _CONDITIONS):
        return True
    if _is_in(word, _ARTICLES) and (_is_unit(then) or _is_unit(_word(words, at + 2))):
        return True  # "at 8 a week from now"
    # "at 8 sharp to leave": what stands before the word that leads to the text was not understood.
    return is_led and any(_word(words, at + place) in (b"to", b"about", b"that") for place in range(1, _NEAR))


def is_before(words: list, first: int, at: int) -> bool:
    """Whether a time that was understood from a word on, up to the end, began earlier, in the words from the first one on."""
    for place in range(first, at - 1):
        if _is_unit(_word(words, place)) and _is_in(_word(words, place + 1), _OF_AN_EVENT):
            return True  # "ten minutes before the meeting at 8"
    word, begin = _word(words, at - 1), _word(words, at)
    if _is_unit(word):
        return any(_is_in(_word(words, place), _BEFORE_UNITS) for place in range(max(first, at - _NEAR), at - 1))
    if word[:1].isdigit():
        return not word.isdigit() or not _is_in(begin, _DIRECT)  # "on the 5th at 9", but not "read chapter 8 at 9"
    return (_is_in(word, _RELATIONS) and not _is_in(begin, _DIRECT)) or (_is_time(word) and _is_time(begin))


def is_opening(words: list, at: int, last: int) -> bool:
    """Whether a time that was not understood stands between two words: 'at half eight', 'in a couple of hours'."""
    if not _is_in(_word(words, at), _OPENINGS) and not _is_time(_word(words, at)):
        return False
    for place in range(at + (not _is_time(_word(words, at))), min(last, at + _NEAR + 1)):
        word = _word(words, place)
        if _is_time(word):
            return True
        if _is_in(word, _CONNECTORS) and word != b"of":
            return False
    return False


def is_in_opening(words: list, first: int, is_told: bool) -> bool:
    """Whether a time that was not understood stands before the "to" of a request; `is_told`: of "tell me two ways to cook"."""
    if _is_in(_word(words, first), _FACTS):
        return False
    for at in range(first, min(first + _NEAR, len(words))):
        is_clear = not is_told or (_is_in(_word(words, at), _CLEAR) and _is_time(_word(words, at + 1)))
        if is_clear and is_opening(words, at, len(words)):
            return any(word[0] == b"to" for word in words[at:])
        if _is_in(_word(words, at), _CONNECTORS):
            return False
    return False


def is_at_end(words: list, first: int) -> bool:
    """Whether the words from the first one on end with a time that was not understood: 'leave at ten to eight'."""
    for at in range(len(words) - 1, max(first, len(words) - 2 - _NEAR), -1):
        if _is_in(_word(words, at), _OPENINGS) and is_opening(words, at, len(words)):
            return True
    return False


def has_time(words: list, first: int, last: int) -> bool:
    """Whether a word of time stands between two words."""
    return any(_is_time(_word(words, at)) for at in range(first, min(last, len(words))))


def _is_time(word: bytes) -> bool:
    if word[:1].isdigit():
        return True
    if word[-3:] == b"ish":
        word = word[:-3]
    return _is_in(word.partition(b"-")[0].rstrip(b"s"), _TIMES) or _is_in(word, _TIMES) or _is_unit(word)


def _is_unit(word: bytes) -> bool:
    return _is_in(word.rstrip(b"s"), _UNITS)


def _is_in(word: bytes, words: str) -> bool:
    return bool(word) and b" " + word + b" " in words.encode()


def _word(words: list, at: int) -> bytes:
    return words[at][0] if 0 <= at < len(words) else b""
