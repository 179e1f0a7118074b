"""A timer that a person plainly asks for, found without a model: "remind me to water the plants tomorrow at 8", "every day at 7
tell me what is on". This file has the English, with the times of english_times.py; rules_wide.py has the Chinese.

As in the rules for what is remembered, what is no clear request is no match: what happened, somebody else's words, a question,
a time in a fact ("remind me that the meeting is at 9"). A time that is not understood whole is refused, see unread.py. Texts
are worked on as engram.text.phrases does.
"""

from collections import namedtuple

from engram.compat import const
from engram.text.phrases import COURTESY, find_request, past, simplified, skip, unmarked
from engram.text.tokenizer import split_phrases
from engram.text.utf8 import encode, strip_end
from engram.timers import unread, when
from engram.timers.english_times import (
    are,
    do_collide,
    join_times,
    part_of_time,
    read_length,
    read_time,
    skip_word,
    split_words,
    time_at_end,
)

TimerRequest = namedtuple("TimerRequest", "kind what time rest")
"""kind "say" or "ask"; what, as it was said; the time as when.py has it, None if it was not understood; and what the message
says after it, "" mostly."""

UNREAD = ("say", 0, 0, None)
"""A request with a time that is not understood whole."""

_LONGEST = const(1600)  # bytes of a sentence that is looked at
_CRUMB = const(10)  # bytes of a rest that says nothing
_MOST_WORDS = const(80)
_NEAR = const(8)  # words of a time before a request

_POLITE = const("don't forget to|do not forget to|remember to|make sure to|from now on")
_REQUEST = const("can you please|could you please|would you please|can you|could you|would you|will you|i want you to")
_ASK = const("tell me|show me|give me|read me|let me know")
_NOTHING = const("|it|this|that|them|him|her|me|us|again|later|please|up")
_COMMAS = (" ", ",", "，")
_AND = (b"and", b"or", b"but", b"&")


def match(said: str):
    """The request in a message, as a TimerRequest, None if it is none or its time was not understood."""
    found = find(said)
    return found if found and found.time else None


def find(said: str):
    """The request in a message, as a TimerRequest, None if it is none."""
    data = encode(said).strip()
    request = find_request(data, _LONGEST, COURTESY + "|" + _POLITE, _REQUEST, COURTESY)
    if not request:
        return None
    plain, begin, end, after = request
    found = _in_english(unmarked(plain[:end]), begin)
    if not found:
        from engram.timers import rules_wide  # for Chinese only

        found = rules_wide.find(plain[:end], begin)
    if not found:
        return None
    kind, first, last, time = found
    what = data[first:last].decode().strip()
    rest = data[skip(data, after) :]
    return TimerRequest(kind, what, time, rest.decode() if len(rest) > _CRUMB else "")


def match_time(said: str):
    """(the time, the text beside it) of words such as "tomorrow at 8 water the plants"; None if they name none, or one that is
    not understood whole.
    """
    data = encode(said).strip()
    plain = simplified(data)
    words = split_words(plain, 0)
    time, at = read_time(words, 0)
    if time:
        begin = words[at][1] if at < len(words) else len(plain)
        return None if unread.is_behind(words, at, time, False) else (time, data[begin:].decode().strip())
    time, at = time_at_end(words, 1)
    if time:
        return None if unread.is_before(words, 0, at) else (time, data[: words[at - 1][2]].decode().strip())
    from engram.timers import rules_wide  # for Chinese only

    plain = rules_wide.one_form(plain)
    time, begin = rules_wide.read_time(plain, 0)
    is_whole = time and not rules_wide.is_unread(plain, begin)
    return (time, strip_end(data[begin:].decode(), _COMMAS).strip()) if is_whole else None


def _in_english(plain: bytes, begin: int):
    """(kind, where what it says begins, where that ends, the time) of a sentence; None if it is no such request."""
    words = split_words(plain, begin)
    if len(words) > _MOST_WORDS or not words or plain[begin : begin + 1] in (b'"', b"'", b"\xe2"):
        return None
    time, at = read_time(words, 0)
    if time:
        at = skip_word(words, at, b"please", b"then", b"you")
    found = (
        _remind(words, at, time) or _timer(words, at, time) or _wake(words, at, time) or _ask(words, at, time, plain)
    )
    if not found:
        return UNREAD if _is_unread_request(words, at, time) else None
    return None if found[3] and plain[found[1] : found[2]] in split_phrases(_NOTHING) else found


def _is_unread_request(words: list, at: int, time) -> bool:
    """Whether a time that was not understood whole stands before a request, or in its opening: "at ten to eight remind me"."""
    if not time and (are(words, at, b"remind", b"me") or are(words, at, b"tell", b"me")):
        return unread.is_in_opening(words, at + 2, words[at][0] == b"tell")
    for place in range(at, min(at + _NEAR, len(words))):
        if words[place][0] in (b"remind", b"wake", b"tell") and are(words, place + 1, b"me"):
            if time:
                return place > at and unread.is_behind(words, at, time, False)
            return unread.has_time(words, 0, 1) or unread.is_opening(words, 0, place)
    return False


def _remind(words: list, at: int, time):
    """Of "remind me ...", as the others below."""
    if not are(words, at, b"remind", b"me") and not are(words, at, b"remind", b"us"):
        return None
    at += 2
    last = len(words)
    if not time:
        time, at = read_time(words, at)
        if unread.is_behind(words, at, time, True) if time else unread.is_opening(words, at, last):
            return UNREAD
    opening = words[at][0] if at < last else b""
    if opening in (b"to", b"about", b"of", b"that"):
        at += 1
    elif not time:
        return None
    if not time or (not when.is_full(time) and "every" not in time):
        # "remind me tomorrow to call Bob at 8"
        more, end = time_at_end(words, at + 1) if opening != b"that" or time else (None, 0)
        if unread.is_before(words, at, end) if more else opening != b"that" and unread.is_at_end(words, at):
            return UNREAD
        if more and (not time or not do_collide(time, more)):
            time = join_times(time or {}, more)
            last = end
    if not time or not when.is_time(time) or at >= last:
        return None
    # "remind me to take the pill at 8 and at 20"
    return UNREAD if _has_more(words, at, last) else ("say", words[at][1], words[last - 1][2], time)


def _has_more(words: list, first: int, last: int) -> bool:
    """Whether what is to be said tells of another time or another request: then it is not for a rule to cut it up."""
    if words[first][0] in _AND or words[last - 1][0] in _AND:
        return True
    for at in range(first, last):
        if at > first and part_of_time(words[:last], at, {})[0]:
            return True
        if words[at][0] in _AND and are(words[:last], at + 1, b"tell", b"me"):
            return True
    return False


def _ask(words: list, at: int, time, plain: bytes):
    """Of "at 7 tell me ..." and "tell me every day at 7 ...", which the agent is to answer."""
    first = words[at][1] if at < len(words) else len(plain)
    behind = past(_ASK, plain, first)
    if behind < 0:
        return None
    if not time:
        after = at
        while after < len(words) and words[after][1] < behind:
            after += 1
        time, after = read_time(words, after)
        if time and when.is_full(time) and ("days" in time or "every" in time) and after < len(words):
            if unread.is_behind(words, after, time, False):
                return UNREAD
            return "ask", words[after][1], words[-1][2], time
        return None
    return ("ask", first, words[-1][2], time) if when.is_full(time) and behind < len(plain) else None


def _wake(words: list, at: int, time):
    """Of "wake me up at 7"."""
    if not are(words, at, b"wake", b"me"):
        return None
    begin = at
    at = skip_word(words, at + 2, b"up")
    end = at
    if not time:
        time, at = read_time(words, at)
    if at == len(words) and time and when.is_full(time):
        return "say", words[begin][1], words[end - 1][2], time
    return UNREAD if unread.is_opening(words, end, len(words)) else None


def _timer(words: list, at: int, time):
    """Of "set a timer for 20 minutes" and "set an alarm for 7"."""
    begin = at
    if time or at >= len(words) or words[at][0] not in (b"set", b"start", b"make"):
        return None
    at = skip_word(words, at + 1, b"a", b"an", b"the", b"another")
    for end in range(at, min(at + 4, len(words))):
        if words[end][0] in (b"timer", b"alarm"):
            break
    else:
        return None
    if end > at:  # "a 20 minute timer"
        time, after = read_length(words, at)
        is_over = after == end and end + 1 == len(words) and time
        return ("say", words[at][1], words[end][2], {"after": time}) if is_over else None
    at = skip_word(words, end + 1, b"for", b"of", b"to")
    seconds, after = read_length(words, at)
    time = {"after": seconds}
    if not seconds:
        time, after = read_time(words, at)
        if not time and words[at : at + 1] and words[end][0] == b"alarm":
            time, after = read_time([(b"at", 0, 0)] + words[at:], 0)
            after += at - 1
    if after == len(words) and time and when.is_full(time):
        return "say", words[begin + 1][1], words[after - 1][2], time
    return UNREAD if unread.has_time(words, at, len(words)) else None
