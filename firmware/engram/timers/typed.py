"""Timers as people type them behind /timers add: a time, and what is to be done then."""

from engram import text
from engram.compat import const
from engram.errors import ArgumentError
from engram.timers import rules, tool, when
from engram.timers.wanted import Wanted

_HOW = const(
    "begin with a time: tomorrow at 8 water the plants; every day at 7 ask what is on today; at 22:00 pin lamp off; at 6:00 "
    'tool NAME {"a":1}'
)


def add(timers, check_tool, caller, typed: str) -> str:
    """Keep what was typed; a sentence on it."""
    asked = rules.find(typed)
    if asked is None:
        found = rules.match_time(typed)
        if found is None or not found[1]:
            raise ArgumentError("/timers add", _HOW)
        time, what = found
        kind, _, rest = what.partition(" ")
        if kind in ("pin", "tool") and rest.strip():
            return add_call(timers, check_tool, caller, time, kind, rest.strip())
        if kind != "ask" or not rest.strip():
            kind, rest = "say", what
        asked = rules.TimerRequest(kind, rest.strip(), time, "")
    return tool.keep(timers, asked, caller)


def add_call(timers, check_tool, caller, time: dict, kind: str, rest: str) -> str:
    """Keep the call of a tool, or of kind "pin" what is set: "lamp off"; a sentence on it."""
    name, _, value = rest.partition(" ")
    if kind == "pin":
        value = value.strip()
        number = int(value) if text.encode(value).isdigit() and len(value) < 6 else value
        name, value = "pin_set", text.dumps({"pin": name, "value": number})
    arguments = value.strip() or "{}"
    check_tool(name, arguments, caller, True)
    found = when.resolve("tool", "%s %s" % (name, arguments), time, timers.clock)
    fields = timers.add(caller, Wanted("tool", found.what, name, arguments, True, *found[5:]))
    return tool.describe(fields, timers.clock)
