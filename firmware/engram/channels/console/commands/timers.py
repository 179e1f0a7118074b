"""The command for timers."""

from engram.errors import ArgumentError
from engram.lazy import lazy

_NONE = "there are none; say: remind me to water the plants tomorrow at 8"


def timers_command(timers, find_timers, check_tool, caller, rest: str):
    """Yield the caller's timers, or what becomes of one that is added or removed. `timers` is None while there are none."""
    action, _, what = rest.partition(" ")
    what = what.strip()
    if action == "remove" and what:
        gone = find_timers().remove(caller, what)
        yield "removed %s: %s" % (gone["id"], gone["what"])
    elif action == "add" and what:
        with lazy("timers", "text.phrases"):
            from engram.timers import typed  # while one is added

            yield typed.add(find_timers(), check_tool, caller, what)
    elif action in ("", "list") and not what:
        yield from _listed(timers, caller)
    else:
        raise ArgumentError("/timers", "takes list, add TIME TEXT, or remove ID.")


def _listed(timers, caller):
    found = timers.owned_by(caller) if timers else ()
    if not found:
        yield _NONE
        return
    with lazy("timers.schedule"):
        from engram.timers import schedule

        for fields in found:
            yield "%-4s %s" % (fields["id"], schedule.describe(fields, timers.clock))
            yield "     %s: %s" % (fields["kind"], fields["what"])
            if "last" in fields:
                yield "     last due " + schedule.moment_name(timers.clock, fields["last"])
