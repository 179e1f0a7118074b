"""The file of the timers, and what changes it.

    {"format":1,"next":4}                                                                       first and last line
    {"id":"w3","kind":"say","what":"water the plants","who":"owner","room":"console","due":..,"minute":480,"days":127,..}

Lines are those of engram.log_line. The file is small and is replaced whole, so a change has happened or not, whenever the power
fails; lines that do not change are copied as they are.
"""

from engram import files, log_line, text
from engram.compat import const
from engram.errors import ArgumentError, NotFound
from engram.memory import ids
from engram.memory.access import Caller
from engram.store.log.repair import repair_file
from engram.text.times import Repeat, Span
from engram.timers import schedule

_FORMAT = const(1)
_NAMELESS = const("direct")  # the room where a program speaks for people and names none: see caller_check.of_channel()
_ROOM = const(20480)  # bytes up to which timers are added; 64 of usual length take 16 KB
# Bytes by which a timer's line grows while it is reported: a due of 10 digits in place of 1, a last, a telling with a seq
# of 9 digits, calls with a day of 5 and a count of 4. `created` grows only where `guess` leaves, which is longer.
_GROWTH = const(9 + 18 + 33 + 21)
# Bytes of the file, which is read whole; 20 for the digits of its two `next`.
_LARGEST = const(_ROOM + 64 * _GROWTH + 20)
_TEXT_CHARS = const(300)
_ARGUMENT_CHARS = const(500)  # of a tool's arguments as JSON
_MOST_DAYS = const(3650)  # to come, for one that is due once
_DAY = const(86400)
SHORTEST_EVERY = const(5)  # minutes
LONGEST_EVERY = const(44640)
FIELDS = (
    "id", "kind", "what", "tool", "arguments", "yes", "who", "room", "group", "workspace", "due", "minute", "days", "every",
    "created", "guess", "last", "telling", "calls",
)  # fmt: skip
"""Of a timer's line, in their order."""
KINDS = ("say", "ask", "tool")

_TEXTS = const(("kind", "what", "who", "room"))
_NUMBERS = const(("due", "minute", "days", "every", "created", "last"))
_PAIRS = const(("telling", "calls"))


# --- reading


def open_file(timers) -> None:
    """Read the file; damage is taken out of it first."""
    timers.damaged += repair_file(timers.path, "timers")
    load(timers)


def load(timers) -> None:
    """Note when the next timer is due."""
    due = by_guess = count = 0
    has_guess = False
    following = timers.next
    for _, fields in _read(timers.path):
        following = max(following, fields.get("next", 0), number_of(fields) + 1)
        if "id" not in fields or number_of(fields) in timers.over:
            continue
        count += 1
        has_guess = has_guess or "guess" in fields
        at = fields["due"]
        if "guess" in fields and at:
            by_guess = min(by_guess or at, at)
            # A board whose clock is not set goes on from here: it counts from when the timer was set.
            timers.clock.not_before(fields["created"])
        elif at:
            due = min(due or at, at)
    timers.next, timers.count, timers.has_guess = following, count, has_guess
    timers.due, timers.due_by_guess = due, by_guess


def all_of(timers):
    """Yield the fields of each timer that is not over."""
    for _, fields in _read(timers.path):
        if "id" in fields and number_of(fields) not in timers.over:
            yield fields


def one(timers, number: int):
    """The fields of a timer, None if there is none with that number."""
    if number not in timers.over:
        for _, fields in _read(timers.path, _opening(number)):
            return fields
    return None


def owned_by(timers, caller) -> list:
    """The fields of the caller's timers, those first that are due first."""
    found = [fields for fields in all_of(timers) if belongs_to(caller, fields)]
    found.sort(key=lambda fields: (fields["due"], number_of(fields)))
    return found


def belongs_to(caller, fields: dict) -> bool:
    """Whether a timer is the caller's: the principal's, in whatever private room, or that of the group's room."""
    if caller.group or "group" in fields:
        return caller.group and "group" in fields and fields["room"] == caller.room
    return fields["who"] == caller.principal


def caller_of(fields: dict) -> Caller:
    """Who set a timer, where they did."""
    return Caller(fields["who"], fields["room"], "group" in fields, fields.get("workspace", ""))


def number_of(fields: dict) -> int:
    """The number in a timer's id, 0 if there is none."""
    return ids.number_of(fields, "w")


def _read(path: str, opening: bytes = b"{"):
    """Yield (line, fields) of each line of the file that is whole, of a known form, and begins so.

    The file is read at once: the collector would close one that a dropped generator holds in the middle of another write.
    """
    data = files.read(path, _LARGEST) or b""
    for line in data.split(b"\n"):
        line += b"\n"
        if line.startswith(opening) and log_line.check(line):
            fields = log_line.decode(line)
            if _is_known(fields):
                yield line, fields


def _is_known(fields: dict) -> bool:
    """Whether a line has the form that this version writes."""
    if "id" not in fields:
        return isinstance(fields.get("next"), int)
    if not number_of(fields) or fields.get("kind") not in KINDS or "due" not in fields:
        return False
    if not all(isinstance(fields.get(name), str) for name in _TEXTS):
        return False
    for name in _NUMBERS:
        if not isinstance(fields.get(name, 0), int) or fields.get(name, 0) >> 32:
            return False
    for name in _PAIRS:
        pair = fields.get(name, [0, 0])
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, int) for part in pair):
            return False
    return fields.get("every", 1) > 0 and 0 < fields.get("days", 1) < 128 and fields.get("minute", 0) < 1440


def _opening(number: int) -> bytes:
    return b'{"id":"w%d",' % number


# --- changes


def change(timers, changed: dict, added=()) -> None:
    """Rewrite the file; `changed` has by number a timer's new fields, None if it leaves."""
    ends = log_line.encode((("format", _FORMAT), ("next", timers.next + len(added))))

    def parts():
        yield ends
        for line, fields in _read(timers.path):
            number = number_of(fields)
            if "id" not in fields or number in timers.over:
                continue
            new = changed.get(number, fields)
            if new is not None:
                calls = timers.pending.get(number)
                if calls and new is fields:
                    new = dict(fields)
                    new["calls"] = list(calls)
                yield line if new is fields else _encoded(new)
        for fields in added:
            yield _encoded(fields)
        # Twice: if one is damaged no number is used again all the same.
        yield ends

    files.write_parts(timers.path, parts())
    timers.over = []
    timers.pending = {}
    load(timers)


def _encoded(fields: dict) -> bytes:
    return log_line.encode([(name, fields.get(name)) for name in FIELDS])


def add(timers, caller, spec) -> dict:
    """Keep what a tool.TimerSpec asks for; its fields."""
    if caller.room == _NAMELESS:
        raise ArgumentError("room", "is missing: nothing can be said to %s without one." % caller.principal)
    clock = timers.clock
    fields: dict = {"kind": spec.kind, "what": _checked(spec.what), "who": caller.principal, "room": caller.room}
    if spec.kind == "tool":
        if len(spec.arguments) > _ARGUMENT_CHARS:
            raise ArgumentError("arguments", "have more than %d characters of JSON: give fewer." % _ARGUMENT_CHARS)
        fields.update({"tool": spec.tool, "arguments": spec.arguments, "yes": spec.yes or None})
    if caller.group:
        fields["group"] = True
    if caller.workspace:
        fields["workspace"] = caller.workspace
    now = timers.steady.now()
    fields["created"] = now
    if not clock.known:
        fields["guess"] = True
    _set_rule(fields, spec.time, clock, now)
    _check_new(timers, caller, fields)
    fields["id"] = "w%d" % timers.next
    if files.size(timers.path) + len(_encoded(fields)) > _ROOM:
        raise ArgumentError("timers", "have no room for more: remove one first.")
    change(timers, {}, (fields,))
    return fields


def _set_rule(fields: dict, time, clock, now: int) -> None:
    """Add to the fields when a Span, Moment or Repeat is due; ArgumentError if that cannot be."""
    if isinstance(time, Repeat) and time.every:
        if not SHORTEST_EVERY <= time.every <= LONGEST_EVERY:
            raise ArgumentError("time", "must be every %d to %d minutes." % (SHORTEST_EVERY, LONGEST_EVERY))
        fields.update({"every": time.every, "due": now + time.every * 60})
    elif isinstance(time, Repeat):
        fields.update({"minute": time.minute, "days": time.days})
        fields["due"] = schedule.next_after(fields, clock, now) if clock.known else 0
    else:
        at = now + time.seconds if isinstance(time, Span) else time.at
        if not now < at <= now + _MOST_DAYS * _DAY:
            past = "has passed: it is %s." if at <= now else "is more than ten years away: it is %s."
            raise ArgumentError("time", past % schedule.moment_name(clock, now))
        fields["due"] = at


def _checked(value) -> str:
    """A text on one line, without what a terminal would take for a command."""
    value = " ".join(text.printable(value).split()) if isinstance(value, str) else ""
    if not value:
        raise ArgumentError("text", "must be a text that is not empty.")
    if len(value) > _TEXT_CHARS:
        raise ArgumentError(
            "text", "has %d characters, at most %d are kept: say it shorter." % (len(value), _TEXT_CHARS)
        )
    return value


def _check_new(timers, caller, new: dict) -> None:
    count = 0
    for fields in all_of(timers):
        count += 1
        is_same = all(fields.get(name) == new.get(name) for name in ("kind", "what", "minute", "days", "every", "room"))
        if is_same and belongs_to(caller, fields) and (schedule.repeats(new) or fields["due"] == new["due"]):
            raise ArgumentError("timers", "that is there already as %s." % fields["id"])
    if count >= timers.most:
        raise ArgumentError("timers", "there are %d already: remove one first." % count)


def remove(timers, caller, ref: str) -> dict:
    """Let a timer go; its fields."""
    number = ids.number("id", ref, "w")
    fields = one(timers, number)
    if fields and belongs_to(caller, fields):
        change(timers, {number: None})
        return fields
    raise NotFound("timer", "w%d" % number, "it may be over; /timers lists those that there are.")


def settle(timers, now: int) -> None:
    """The clock is known: what was counted by a guess is counted from now on."""
    changed = {}
    passed_to = timers.steady.guessed
    for fields in all_of(timers):
        if "guess" in fields:
            new = changed[number_of(fields)] = dict(fields)
            left = fields["due"] - max(passed_to, fields["created"])
            new.update({"guess": None, "created": now})
            if "minute" in fields:
                new["due"] = schedule.next_after(fields, timers.clock, now)
            else:
                new["due"] = now + max(0, left)
    change(timers, changed)
