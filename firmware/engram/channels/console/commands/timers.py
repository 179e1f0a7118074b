"""The command for timers."""

from engram.errors import ArgumentError
from engram.timers import schedule, tool

_NONE = "there are none; try: /timers add tomorrow 8:00 water the plants"


def timers_command(timers, find_timers, toolbox, caller, rest: str):
    """Yield the caller's timers, or what becomes of one that is added or removed. `timers` is None while there are none."""
    action, _, what = rest.partition(" ")
    what = what.strip()
    if action == "remove" and what:
        gone = find_timers().remove(caller, what)
        yield "removed %s: %s" % (gone["id"], gone["what"])
    elif action == "add" and what:
        yield tool.add(find_timers(), toolbox, caller, what)
    elif action in ("", "list") and not what:
        yield from _listed(timers, caller)
    else:
        raise ArgumentError("/timers", "takes list, add TIME TEXT, or remove ID.")


def _listed(timers, caller):
    found = timers.owned_by(caller) if timers else ()
    if not found:
        yield _NONE
    for fields in found:
        yield "%-4s %s" % (fields["id"], schedule.describe(fields, timers.clock))
        yield "     %s: %s" % (fields["kind"], fields["what"])
        if "last" in fields:
            yield "     last due " + schedule.moment_name(timers.clock, fields["last"])
