"""Questions about readings, answered without a model: "how warm was it last night?", 门昨天什么时候开过.

A question is answered if all its words are of senses, of what they measure and of times. Where others are left over, as in
"was it cold when Anna called?", the memory has to find the time first: see recalled.py.
"""

from collections import namedtuple

from engram.compat import const
from engram.senses import history  # noqa: F401 first: an import within an import takes more of the stack
from engram.senses.answers import words
from engram.senses.answers.recalled import about_of
from engram.senses.answers.sentences import Sentences
from engram.senses.answers.summary import (
    finest_level,
    first_day,
    last_before,
    latest,
    phases,
    reading_at,
    rows,
    summarize,
)
from engram.senses.answers.times import Span, day_span, span_of
from engram.senses.values import MINUTE

_MOST = const(4)  # senses of one answer
_LAST_DAYS = const(14)  # in which it is looked for when something was open last
_DAY = const(86400)
_PAST = const(" was were did had been ")
_WIDE_PAST = const("过|昨|上次|了吗|曾")
_LAST = const("上次|最后一次|最近一次")
_STATES = ("open", "clos", "shut", "on", "off", "ring", "move", "")  # how words begin that "last" goes with
_OFTEN = const("几次|多少次")

Asked = namedtuple("Asked", "about span is_past is_last is_count is_open")


def find(view, caller, said: str):
    """What a text Asked for, None if it is no question for the senses that a caller may see, or not for them alone."""
    about = about_of(view, caller, said)
    if about is None or about.rest:
        return None
    plain = words.plain_words(said)
    is_wide = about.is_chinese
    is_last = words.has_one(said, _LAST) if is_wide else _is_last(plain)
    is_past = words.has_one(said, _WIDE_PAST) if is_wide else any(" " + word + " " in _PAST for word in plain)
    is_count = words.has_one(said, _OFTEN) if is_wide else "often" in plain or "times" in plain
    is_open = is_wide or any(word[:4] in ("open", "clos", "shut") for word in plain)
    span = span_of(said, view.clock) if view.clock.known else None
    return Asked(about, span, is_past, is_last, is_count, is_open)


def _is_last(plain: list) -> bool:
    """Whether a question asks for the last time: "when did the door last open", not "last night"."""
    for at, word in enumerate(plain):
        if word == "last" and (plain[at + 1 : at + 2] == ["time"] or " ".join(plain[at + 1 : at + 2])[:4] in _STATES):
            return True
    return False


def answer(view, caller, said: str) -> str:
    """The answer to a question, "" if it is none for the senses."""
    asked = find(view, caller, said)
    if asked is None:
        return ""
    say = Sentences(view.clock, asked.about.is_chinese)
    lines = [_answer(view, say, asked, sense) for sense in asked.about.senses[:_MOST]]
    if not view.clock.known:
        lines.append(say.word("clock"))
    return "\n".join(lines)


def _answer(view, say, asked: Asked, sense) -> str:
    senses, clock, span = view.senses, view.clock, asked.span
    state = asked.about.state
    if not clock.known:
        return say.latest(sense, (sense.at, sense.last) if sense.at else None)
    if state is not None and view.is_switch(sense) and not view.is_counter(sense):
        return _switch(view, say, asked, sense)
    if span is None and not asked.is_past and not asked.is_count:
        return say.latest(sense, latest(senses, clock, sense))
    if span is None:
        span = day_span(clock.day_number(clock.now()), clock)
    if span.is_moment:
        found = reading_at(senses, clock, sense, span.first)
        return say.moment(sense, span, found) if found else _none(view, say, sense, span)
    if view.is_counter(sense):
        return _counted(view, say, sense, span)
    found = summarize(senses, clock, sense, span.first, span.until)
    return say.range(sense, span, found) if found else _none(view, say, sense, span)


def _none(view, say, sense, span) -> str:
    return say.none(sense, span, first_day(view.senses, sense))


def _switch(view, say, asked: Asked, sense) -> str:
    senses, clock, span, state = view.senses, view.clock, asked.span, asked.about.state
    now = clock.now()
    if asked.is_last and span is None:
        since = now - _LAST_DAYS * _DAY
        found = _last_phases(senses, clock, sense, now, state)
        return say.last(sense, found, since, state, asked.is_open) if found else _none(view, say, sense, _day(clock))
    if span is None and not asked.is_past and not asked.is_count:
        found = latest(senses, clock, sense)
        if found is None:
            return say.latest(sense, None)
        named = say.state(1 if found[1] > 0 else 0, asked.is_open)
        return say.now(sense, named, found[0])
    span = span or _day(clock)
    if span.is_moment:
        value = last_before(senses, clock, sense, span.first + MINUTE)
        if value is None:
            return _none(view, say, sense, span)
        return say.word("moment") % (sense.name, clock.minute(span.first), say.state(int(value > 0), asked.is_open))
    found = phases(senses, clock, sense, span.first, span.until, state)
    return say.phases(sense, span, found, state, asked.is_open) if found else _none(view, say, sense, span)


def _last_phases(senses, clock, sense, now: int, state: int):
    """The phases of the newest day that has one."""
    found = None
    for days in range(_LAST_DAYS):
        until = now + 1 - days * _DAY
        found = phases(senses, clock, sense, until - _DAY, until, state) or found
        if found and found.spans:
            break
    return found


def _day(clock) -> Span:
    return day_span(clock.day_number(clock.now()), clock)


def _counted(view, say, sense, span) -> str:
    total = most = most_at = 0
    level = finest_level(view.senses, view.clock, sense, span.first, span.until)
    has_some = False
    for at, (count, _, high, mean, _) in rows(view.senses, view.clock, sense, span.first, span.until, level):
        has_some = True
        total += count * mean
        if high > most:
            most, most_at = high, at
    if not has_some:
        return _none(view, say, sense, span)
    return say.counted(sense, span, total // 10**sense.decimals, most, most_at, level)
