"""The table of the timers, and what changes it.

{"id":"w3","kind":"say","what":"water the plants","who":"owner","room":"console","due":..,"minute":480,"days":127,..}
"""

from engram import text
from engram.compat import const
from engram.errors import ArgumentError, NotFound
from engram.memory.access import Caller
from engram.store.table_file import TableFile, needed, optional
from engram.text.times import Repeat, Span
from engram.timers import schedule

PATH = const("/timers.jsonl")
_NAMELESS = const("direct")  # the room where a program speaks for people and names none: see access.caller_of_channel()
MOST = const(64)  # timers of all people together: each look at the clock goes through all of them
_TEXT_CHARS = const(300)
_ARGUMENT_CHARS = const(500)  # of a tool's arguments as JSON
_MOST_DAYS = const(3650)  # to come, for one that is due once
_DAY = const(86400)
SHORTEST_EVERY = const(5)  # minutes
LONGEST_EVERY = const(44640)
KINDS = ("say", "ask", "tool")

SCHEMA = (
    needed("kind", str), needed("what", str), optional("tool", str), optional("arguments", str),
    optional("yes", bool), needed("who", str), needed("room", str), optional("group", bool),
    optional("workspace", str), needed("due", int), optional("minute", int), optional("days", int),
    optional("every", int), needed("created", int), optional("guess", bool), optional("last", int),
    optional("telling", list), optional("calls", list),
)  # fmt: skip


# --- reading


def make_table(folder: str) -> TableFile:
    """The table of a board's timers."""
    return TableFile(folder + PATH, "timer", "w", SCHEMA, MOST, _is_valid)


def _is_valid(fields: dict) -> bool:
    for name in ("telling", "calls"):
        pair = fields.get(name, [0, 0])
        if len(pair) != 2 or not all(isinstance(part, int) for part in pair):
            return False
    if fields["kind"] not in KINDS or fields.get("every", 1) <= 0:
        return False
    return 0 < fields.get("days", 1) < 128 and 0 <= fields.get("minute", 0) < 1440


def load(timers) -> None:
    """Note when the next timer is due."""
    due = by_guess = 0
    has_guess = False
    for fields in all_of(timers):
        has_guess = has_guess or "guess" in fields
        at = fields["due"]
        if "guess" in fields and at:
            by_guess = min(by_guess or at, at)
            # A board whose clock is not set goes on from here: it counts from when the timer was set.
            timers.clock.not_before(fields["created"])
        elif at:
            due = min(due or at, at)
    timers.has_guess, timers.due, timers.due_by_guess = has_guess, due, by_guess


def all_of(timers) -> list:
    """The timers that are not over."""
    return [fields for fields in timers.table.rows if fields["id"] not in timers.over]


def one(timers, ref: str):
    """The fields of a timer, None if there is none with that id."""
    for fields in all_of(timers):
        if fields["id"] == ref:
            return fields
    return None


def owned_by(timers, caller) -> list:
    """The fields of the caller's timers, those first that are due first."""
    found = [fields for fields in all_of(timers) if belongs_to(caller, fields)]
    found.sort(key=lambda fields: (fields["due"], int(fields["id"][1:])))
    return found


def belongs_to(caller, fields: dict) -> bool:
    """Whether a timer is the caller's: the principal's, in whatever private room, or that of the group's room."""
    if caller.group or "group" in fields:
        return caller.group and "group" in fields and fields["room"] == caller.room
    return fields["who"] == caller.principal


def caller_of(fields: dict) -> Caller:
    """Who set a timer, where they did."""
    return Caller(fields["who"], fields["room"], "group" in fields, fields.get("workspace", ""))


# --- changes


def change(timers, changed: dict, added=None) -> dict:
    """Write the file; `changed` has by id a timer's new fields, None if it leaves; the row of one that is `added`."""
    for fields in all_of(timers):
        ref = fields["id"]
        if ref in timers.pending and ref not in changed:
            changed[ref] = new = dict(fields)
            new["calls"] = list(timers.pending[ref])
    for ref in timers.over:
        changed[ref] = None
    if changed:
        timers.table.change(changed)
    timers.over = []
    timers.pending = {}
    row = timers.table.add(added) if added else {}
    load(timers)
    return row


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
    return change(timers, {}, fields)


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
    for fields in all_of(timers):
        is_same = all(fields.get(name) == new.get(name) for name in ("kind", "what", "minute", "days", "every", "room"))
        if is_same and belongs_to(caller, fields) and (schedule.repeats(new) or fields["due"] == new["due"]):
            raise ArgumentError("timers", "that is there already as %s." % fields["id"])


def remove(timers, caller, ref: str) -> dict:
    """Remove a timer; its fields."""
    fields = timers.table.find(ref)
    if fields["id"] in timers.over or not belongs_to(caller, fields):
        raise NotFound("timer", ref, "a list shows those that there are.")
    change(timers, {fields["id"]: None})
    return fields


def settle(timers, now: int) -> None:
    """The clock is known: what was counted by a guess is counted from now on."""
    changed = {}
    passed_to = timers.steady.guessed
    for fields in all_of(timers):
        if "guess" in fields:
            new = changed[fields["id"]] = dict(fields)
            left = fields["due"] - max(passed_to, fields["created"])
            new.update({"guess": None, "created": now})
            if "minute" in fields:
                new["due"] = schedule.next_after(fields, timers.clock, now)
            else:
                new["due"] = now + max(0, left)
    change(timers, changed)
