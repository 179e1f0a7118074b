"""The command for timers."""

from engram.errors import ArgumentError
from engram.timers import schedule, tool


def timers_command(board, caller, rest: str):
    timers = board.timers
    action, _, what = rest.partition(" ")
    what = what.strip()
    if action == "remove" and what:
        gone = timers.remove(caller, what)
        yield "removed %s: %s" % (gone["id"], gone["what"])
    elif action == "add" and what:
        yield tool.add(timers, caller, what)
    elif action in ("", "list") and not what:
        yield from _listed(timers, caller)
    else:
        raise ArgumentError("/timers", "takes list, add TIME TEXT, add when WORDS: TEXT, or remove ID.")


def _listed(timers, caller):
    found = timers.owned_by(caller)
    if not found:
        yield "there are none; try: /timers add tomorrow 8:00 water the plants"
    for row in found:
        yield "%-4s %s" % (row["id"], schedule.describe(row, timers.clock))
        yield "     %s: %s" % (row["kind"], row["what"])
        if "last" in row:
            yield "     last " + timers.clock.minute(row["last"])
