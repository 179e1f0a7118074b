"""The command for standing intents."""

from engram.channels.console.commands.commands import count_of
from engram.errors import ArgumentError


def intents_command(reminders, clock, caller, rest: str):
    """Yield the caller's intents, or what becomes of one that is removed."""
    action, _, ref = rest.partition(" ")
    if action == "remove" and ref:
        gone = reminders.remove(caller, ref)
        again = (gone["id"], gone["when"], gone["remind"])
        yield "removed %s; to have it again, say: when I mention %s, remind me: %s" % again
        return
    if action not in ("", "list") or ref:
        raise ArgumentError("/intents", "takes list or remove ID.")
    found = False
    for fields in reminders.owned_by(caller):
        found = True
        yield "%-4s %s -> %s" % (fields["id"], fields["when"], fields["remind"])
        yield "     " + _times(clock, fields)
    if not found:
        yield "there are none; say: when the paint shop comes up, remind me to buy brushes"
    if not reminders.is_on:
        yield "they are switched off (intents.on)"


def _times(clock, fields: dict) -> str:
    fired = fields.get("fired", 0)
    last = (
        "reminded %s, last %s" % (count_of(fired, "time", "times"), clock.minute(fields["last"]))
        if fired
        else "not reminded yet"
    )
    return "%s; until %s" % (last, clock.day(fields["expires"]))
