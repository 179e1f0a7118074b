"""The rows of timers: what is said, asked or called, when, and for whom.

    {"id":"w3","kind":"say","what":"water the plants","who":"owner","room":"console","due":..,"minute":480,"days":127,..}
    {"id":"w4","kind":"say","what":"buy brushes","who":"owner","room":"net 5","due":..,"words":"paint shop",..}

A timer with `words` waits for a message that has them all; it is removed when it is due.
"""

from collections import namedtuple

from engram import text
from engram.clock import duration
from engram.errors import ArgumentError
from engram.memory import access
from engram.store.table_file import TableFile, needed, optional
from engram.text.times import Repeat, Span

_DAYS = {127: "every day", 31: "on weekdays", 96: "on weekends"}
_WEEK = const(7)
_SLACK = const(7200)  # seconds by which a period may grow when clocks are set
_NAMES = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"


def next_after(fields: dict, clock, at: int) -> int:
    """Return the first due moment after `at`, 0 without a repeat."""
    if "every" in fields:
        step = fields["every"] * 60
        due = fields["due"]
        return due + ((at - due) // step + 1) * step if at >= due else due - (due - at - 1) // step * step
    if "minute" in fields:
        day = clock.day_number(at) - 1  # where a gap moves a moment to the next day
        while True:
            due = clock.moment(day, fields["minute"])
            if due > at and fields["days"] >> weekday(day) & 1:
                return due
            day += 1
    return 0


def newest(fields: dict, clock, now: int) -> int:
    """Return the latest due moment up to `now`."""
    due = fields["due"]
    if "every" in fields:
        return next_after(fields, clock, now) - fields["every"] * 60
    following = next_after(fields, clock, due)
    while 0 < following <= now:
        due, following = following, next_after(fields, clock, following)
    return due


def is_misplaced(fields: dict, clock, now: int) -> bool:
    """True if a repeating timer's next moment is wrong, after a change of clock or zone."""
    due = fields["due"]
    if due <= now:
        return False
    if "every" in fields:
        return due > now + fields["every"] * 60 + _SLACK
    if "minute" in fields:
        return due != next_after(fields, clock, now)
    return False


def weekday(day: int) -> int:
    return (day + 3) % _WEEK


def describe(fields: dict, clock) -> str:
    due = fields["due"]
    if "words" in fields:
        return "when %s comes up" % fields["words"]
    if "every" in fields:
        return "every %s, next %s" % (duration(fields["every"] * 60), moment_name(clock, due))
    if "minute" in fields:
        minute = fields["minute"]
        often = _days_name(fields["days"]), minute // 60, minute % 60
        return "%s at %02d:%02d, next %s" % (often + (moment_name(clock, due),))
    return "on " + moment_name(clock, due)


def moment_name(clock, at: int) -> str:
    """Return a moment such as "Friday 2026-11-27 08:00"."""
    return _NAMES.split(" ")[weekday(clock.day_number(at))] + " " + clock.minute(at)


def _days_name(days: int) -> str:
    names = _NAMES.split(" ")
    return _DAYS.get(days) or "every " + ", ".join([names[at] for at in range(_WEEK) if days >> at & 1])


SCHEMA = (
    needed("kind", str), needed("what", str), needed("who", str),
    needed("room", str), optional("group", bool), optional("workspace", str), needed("due", int),
    optional("minute", int), optional("days", int), optional("every", int), optional("words", str),
    needed("created", int), optional("last", int), optional("calling", int),
)  # fmt: skip

TimerSpec = namedtuple("TimerSpec", "kind what trigger")
"""Kind "say", "ask" or "tool"; text, or tool name and JSON arguments; a time, or the words of a message."""

_MOST = const(64)  # timers of all people together: each look at the clock goes through all of them
_TEXT_CHARS = const(300)
_WORDS_CHARS = const(200)
_MOST_TERMS = const(12)  # with the number of timers it bounds what a message is held against
_CALL_CHARS = const(540)  # of a tool's name and its arguments as JSON
_MOST_DAYS = const(3650)  # to come, for one that is due once
_DAY = const(86400)
_SHORTEST_EVERY = const(5)  # minutes
_SHORTEST_ASK = const(60)  # minutes: each time costs calls of the model
_LONGEST_EVERY = const(44640)
WORDS_DAYS = 90  # days for which a timer waits for its words


def make_table(folder: str) -> TableFile:
    return TableFile(folder + "/timers.jsonl", "timer", "w", SCHEMA, _MOST)


def belongs_to(caller, row: dict) -> bool:
    """True if a timer belongs to the caller's principal, or to the group's room."""
    if caller.group or "group" in row:
        return caller.group and "group" in row and row["room"] == caller.room
    return row["who"] == caller.principal


def new_row(spec: TimerSpec, caller, clock) -> dict:
    """Return the row of a new timer; ArgumentError."""
    now = clock.now()
    if not clock.known:
        raise ArgumentError("time", "needs the clock, which is not set yet: connect the board, or ask again later.")
    what = spec.what
    if spec.kind != "tool":
        what = _checked("text", what, _TEXT_CHARS)
    elif len(what) > _CALL_CHARS:
        raise ArgumentError("arguments", "have too many characters of JSON: give fewer.")
    row: dict = {"kind": spec.kind, "what": what, "created": now}
    row.update(access.fields_of(caller))
    if isinstance(spec.trigger, str):
        _set_words(row, spec.trigger, now)
    elif isinstance(spec.trigger, Repeat):
        _set_repeat(row, spec.trigger, clock, now)
    else:
        row["due"] = _moment(spec.trigger, clock, now)
    return row


def _checked(name: str, value, most: int) -> str:
    value = " ".join(text.printable(value).split()) if isinstance(value, str) else ""
    if not value:
        raise ArgumentError(name, "must be a text that is not empty.")
    if len(value) > most:
        raise ArgumentError(name, "has %d characters, at most %d are kept: say it shorter." % (len(value), most))
    return value


def _set_words(row: dict, words: str, now: int) -> None:
    words = _checked("words", words, _WORDS_CHARS)
    count = len(terms_of(words))
    if not 0 < count <= _MOST_TERMS:
        problem = "have %d words to watch for beside very common ones: give 1 to %d."
        raise ArgumentError("words", problem % (count, _MOST_TERMS))
    if row["kind"] != "say":
        raise ArgumentError("words", "go with kind say: other timers have a time.")
    row.update({"words": words, "due": now + WORDS_DAYS * _DAY})


def _set_repeat(row: dict, repeat: Repeat, clock, now: int) -> None:
    if not repeat.every:
        row.update({"minute": repeat.minute, "days": repeat.days})
        row["due"] = next_after(row, clock, now)
        return
    shortest = _SHORTEST_ASK if row["kind"] == "ask" else _SHORTEST_EVERY
    if not shortest <= repeat.every <= _LONGEST_EVERY:
        raise ArgumentError("time", "must be every %d to %d minutes." % (shortest, _LONGEST_EVERY))
    row.update({"every": repeat.every, "due": now + repeat.every * 60})


def _moment(time, clock, now: int) -> int:
    at = now + time.seconds if isinstance(time, Span) else time.at
    if not now < at <= now + _MOST_DAYS * _DAY:
        past = "has passed: it is %s." if at <= now else "is more than ten years away: it is %s."
        raise ArgumentError("time", past % moment_name(clock, now))
    return at


def check_new(rows: list, caller, new: dict) -> None:
    """Raise ArgumentError if the caller has an equal timer."""
    names = ["kind", "what", "room", "minute", "days", "every", "words"]
    is_once = all(new.get(name) is None for name in names[3:])
    for row in rows:
        is_same = all(row.get(name) == new.get(name) for name in names) and belongs_to(caller, row)
        if is_same and (row["due"] == new["due"] or not is_once):
            raise ArgumentError("timers", "that is there already as %s." % row["id"])


def terms_of(words: str) -> set:
    return set(text.terms(words))
