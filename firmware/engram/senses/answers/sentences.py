"""Readings in plain sentences, English and Chinese."""

from engram.clock import day_name
from engram.compat import const
from engram.senses.answers.summary import end_of
from engram.senses.history import DAY_LEVEL, MINUTE_LEVEL
from engram.senses.values import value_text

_MOST_SPANS = const(6)
_MINUTE = const(60)
_DAY = const(90000)  # 25 hours: times without their days are of one day, or of a night
_JUST = const(10)  # seconds

_EN = {
    "to": " to ", "and": ", ", "join": "; ",
    "range": "%s, %s: %s to %s, mean %s; lowest %s %s, highest %s %s.",
    "same": "%s, %s: %s all the time.",
    "moment": "%s, %s: %s.", "between": "%s (%s to %s)", "hour": "%s (the hour)", "day": "%s (the whole day)",
    "now": "%s: %s, read %s.", "ago": "%s ago", "just": "just now", "at": "at %s",
    "none": "There are no readings of %s for %s.", "first": " The first ones kept are of %s.",
    "never": "There are no readings of %s yet.", "coming": "%s is still to come.", "clock": "The clock is not set: only the "
    "latest readings are known.",
    "days": " Only whole days are kept so far back.", "hours": " Only whole hours are kept so far back.",
    "state": ("closed", "open", "off", "on"), "was": "%s, %s: %s %s: %s.", "not": "%s, %s: not %s.",
    "all": "%s, %s: %s all the time.", "since": "since %s", "more": " and %d more", "last": "%s was %s last %s.",
    "not_since": "%s was not %s since %s.", "some": "%s, %s: %s at some time within %s.",
    "counted": "%s, %s: %d counted, most in a minute %s %s.", "no_count": "%s, %s: nothing counted.",
}  # fmt: skip
_ZH = {
    "to": " 至 ", "and": "、", "join": "；",
    "range": "%s，%s：%s 至 %s，平均 %s；最低 %s（%s），最高 %s（%s）。",
    "same": "%s，%s：一直是 %s。",
    "moment": "%s，%s：%s。", "between": "%s（%s 至 %s）", "hour": "%s 这一小时", "day": "%s 全天",
    "now": "%s：%s（%s）。", "ago": "%s前", "just": "刚才", "at": "%s",
    "none": "%s 在 %s 没有读数。", "first": "最早保存的是 %s。",
    "never": "%s 还没有读数。", "coming": "%s 还没到。", "clock": "时钟还没有设置：只知道最新的读数。",
    "days": "这么早只保存了每天的数据。", "hours": "这么早只保存了每小时的数据。",
    "state": ("关着", "开着", "关着", "开着"), "was": "%s，%s：%s %s：%s。", "not": "%s，%s：没有%s。",
    "all": "%s，%s：一直%s。", "since": "从 %s 起", "more": "，还有 %d 次", "last": "%s 上次%s是 %s。",
    "not_since": "%s 从 %s 起没有%s。", "some": "%s，%s：%s，在 %s 之内。",
    "counted": "%s，%s：计数 %d，一分钟最多 %s（%s）。", "no_count": "%s，%s：计数为 0。",
}  # fmt: skip


class Sentences:
    """Says what senses were like; `span` is the Span that is asked for, its times are those of the clock's zone."""

    def __init__(self, clock, is_chinese: bool):
        self._clock = clock
        self._is_chinese = is_chinese
        self._words = _ZH if is_chinese else _EN

    def word(self, name: str) -> str:
        """One of the sentences that take nothing."""
        return self._words[name]

    # --- times

    def span(self, span) -> str:
        """A span as days and times, such as "2026-01-31" or "2026-01-31 21:00 to 2026-02-01 07:00"."""
        clock = self._clock
        first = clock.minute(span.first)
        if span.is_moment:
            return first
        until = clock.now() if span.until > clock.now() else span.until + _MINUTE - 1
        until -= until % _MINUTE
        day, last = clock.day_number(span.first), clock.day_number(max(span.first, until - 1))
        if span.first == clock.moment(day) and (
            until >= clock.moment(last + 1) or last == clock.day_number(clock.now())
        ):
            return day_name(day) + (self._words["to"] + day_name(last) if last > day else "")
        return first + self._words["to"] + self._short(until, first)

    def _short(self, at: int, beside: str) -> str:
        """A moment; without its day if that is the one beside it."""
        shown = self._clock.minute(at)
        return shown[11:] if shown[:10] == beside[:10] else shown

    def _slot(self, at: int, level: int, span) -> str:
        """When a slot is, short where the span says the day."""
        if level == DAY_LEVEL:
            return self._words["at"].replace("at ", "on ") % self._clock.day(at)
        shown = self._clock.minute(at)
        shown = shown[11:] if span.until - span.first <= _DAY else shown
        if level != MINUTE_LEVEL:
            shown += self._words["to"] + self._short(end_of(self._clock, at, level), self._clock.minute(at))
        return self._words["at"] % shown

    def _age(self, seconds: int) -> str:
        minutes = max(0, seconds) // 60
        names = ("秒", "分钟", "小时", "天") if self._is_chinese else ("s", "min", "h", "days")
        if minutes < 2:
            return "%d %s" % (max(0, seconds), names[0])
        if minutes < 120:
            return "%d %s" % (minutes, names[1])
        return "%d %s" % ((minutes // 60, names[2]) if minutes < 2880 else (minutes // 1440, names[3]))

    # --- sentences

    def latest(self, sense, found) -> str:
        """The newest reading; `found` is (when, value) or None."""
        if found is None:
            return self._words["never"] % sense.name
        return self.now(sense, sense.text(found[1]), found[0])

    def now(self, sense, value: str, at: int) -> str:
        """What was read last, and how long ago."""
        return self._words["now"] % (sense.name, value, self.ago(at))

    def ago(self, at: int) -> str:
        """How long ago a moment was."""
        seconds = self._clock.now() - at
        return self._words["just"] if seconds < _JUST else self._words["ago"] % self._age(seconds)

    def range(self, sense, span, summary) -> str:
        """What the readings of a span were like."""
        low, high = sense.text(summary.low), sense.text(summary.high)
        if summary.low == summary.high:
            said = self._words["same"] % (sense.name, self.span(span), low)
        else:
            low_at, high_at = [self._slot(at, summary.level, span) for at in (summary.low_at, summary.high_at)]
            bare = value_text(summary.low, sense.decimals)
            mean = value_text(summary.mean, sense.decimals)
            said = self._words["range"] % (sense.name, self.span(span), bare, high, mean, low, low_at, high, high_at)
        return said + self.coarse(span, summary.level)

    def coarse(self, span, level: int) -> str:
        """A sentence if only whole hours or days are kept of a span that asks for less, "" otherwise."""
        if level == MINUTE_LEVEL or self._is_whole(span, level):
            return ""
        return self._words["days" if level == DAY_LEVEL else "hours"]

    def _is_whole(self, span, level: int) -> bool:
        clock = self._clock
        now = clock.now()
        if level == DAY_LEVEL:
            is_end = span.until > now or clock.moment(clock.day_number(span.until)) == span.until
            return not span.is_moment and clock.moment(clock.day_number(span.first)) == span.first and is_end
        return not span.is_moment and span.first % 3600 == 0 and (span.until > now or span.until % 3600 == 0)

    def moment(self, sense, span, found) -> str:
        """The reading at a moment; `found` is (when, aggregate, level)."""
        at, (_, low, high, mean, _), level = found
        value = sense.text(mean)
        if low != high:
            value = self._words["between"] % (value, value_text(low, sense.decimals), value_text(high, sense.decimals))
        when = self._clock.minute(at)
        if level != MINUTE_LEVEL:
            when = self._words["day"] % when[:10] if level == DAY_LEVEL else self._words["hour"] % when
        return self._words["moment"] % (sense.name, when, value) + self.coarse(span, level)

    def none(self, sense, span, first_day: int) -> str:
        """That nothing is kept of a span."""
        if span.first > self._clock.now():
            return self._words["coming"] % self.span(span)
        said = self._words["none"] % (sense.name, self.span(span))
        return said + (self._words["first"] % day_name(first_day) if first_day >= 0 else "")

    # --- open and closed

    def state(self, state: int, is_open: bool) -> str:
        """How a switch is called that is on (1) or off (0)."""
        return self._words["state"][state if is_open else 2 + state]

    def phases(self, sense, span, found, state: int, is_open: bool) -> str:
        """When a switch was open or closed, or on or off."""
        named = self.state(state, is_open)
        if not found.spans:
            return self._words["not"] % (sense.name, self.span(span), named)
        if found.spans == [(span.first, 0)] or found.spans == [(span.first, span.until)]:
            return self._words["all"] % (sense.name, self.span(span), named)
        if found.level != MINUTE_LEVEL:
            parts = [self._slots(begin, end, found.level) for begin, end in found.spans[-_MOST_SPANS:]]
            said = self._words["some"] % (sense.name, self.span(span), named, self._words["and"].join(parts))
            return said + self.coarse(span, found.level)
        parts = [self._phase(begin, end, span) for begin, end in found.spans[-_MOST_SPANS:]]
        more = len(found.spans) - len(parts)
        listed = self._words["and"].join(parts) + (self._words["more"] % more if more else "")
        return self._words["was"] % (sense.name, self.span(span), named, self._times(found.starts), listed)

    def _times(self, count: int) -> str:
        if self._is_chinese:
            return "%d 次" % count
        return "once" if count == 1 else "twice" if count == 2 else "%d times" % count

    def _phase(self, begin: int, end: int, span) -> str:
        is_short = span.until - span.first <= _DAY
        shown = self._clock.minute(begin)[11:] if is_short else self._clock.minute(begin)
        if not end:
            return self._words["since"] % shown
        last = self._clock.minute(end)[11:] if is_short else self._short(end, self._clock.minute(begin))
        return shown + self._words["to"] + last

    def _slots(self, begin: int, end: int, level: int) -> str:
        if level == DAY_LEVEL:
            last = self._clock.day(end - 1)
            return self._clock.day(begin) + (self._words["to"] + last if last != self._clock.day(begin) else "")
        return self._clock.minute(begin) + self._words["to"] + self._short(end, self._clock.minute(begin))

    def last(self, sense, found, since: int, state: int, is_open: bool) -> str:
        """When a switch was open last."""
        named = self.state(state, is_open)
        if not found.spans:
            when = self._clock.minute(since)
            return self._words["not_since"] % (
                (sense.name, when, named) if self._is_chinese else (sense.name, named, when)
            )
        begin, end = found.spans[-1]
        shown = self._clock.minute(begin)
        shown = self._words["since"] % shown if not end else shown + self._words["to"] + self._short(end, shown)
        return self._words["last"] % (sense.name, named, shown)

    def counted(self, sense, span, total: int, most: int, at: int, level: int) -> str:
        """How much a sense counted that counts, such as pulses."""
        if not total:
            return self._words["no_count"] % (sense.name, self.span(span))
        most_text, when = value_text(most, sense.decimals), self._slot(at, level, span)
        return self._words["counted"] % (sense.name, self.span(span), total, most_text, when) + self.coarse(span, level)
