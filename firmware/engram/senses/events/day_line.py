"""The line of the owner's daily note that says what the senses were like on a day."""

from engram.clock import day_name
from engram.compat import const
from engram.memory.access import OWNER
from engram.senses.values import DAY_LEVEL, value_text

START = "- senses: "
"""How the line begins; there is one in a note."""

_MOST_CHARS = const(1200)  # 16 senses with long names fit
_MOST_EVENTS = const(5)
_DAY = const(86400)


def add_day_line(senses, file, clock, notes, day: int) -> None:
    """Add the line of a day, counted from 1970, unless it is there or nothing was perceived; EngramError if it cannot be."""
    notebook, name = notes.named(OWNER.principal), day_name(day) + ".md"
    if START in notebook.text(name):
        return
    parts = [said for said in [_of_sense(senses, sense, day) for sense in _all(senses)] if said]
    if not parts:
        return
    begins = clock.start_of(day_name(day))
    begun = []
    for fields in file.newest_first(begins):
        if begins <= fields["start"] < begins + _DAY and len(begun) < _MOST_EVENTS:
            begun.append("%s %s (%s)" % (fields["name"], fields["kind"], fields["id"]))
    if begun:
        parts.append("events: " + ", ".join(reversed(begun)))
    notebook.append(name, (START + "; ".join(parts))[:_MOST_CHARS])


def _all(senses) -> list:
    return [senses.find(name) for name in senses.names()]


def _of_sense(senses, sense, day: int) -> str:
    for _, (_, low, high, mean, _) in senses.range(sense.number, day, day, DAY_LEVEL):
        if low == high:
            return "%s %s" % (sense.name, sense.text(low))
        span = value_text(low, sense.decimals) + " to " + sense.text(high)
        return "%s %s, mean %s" % (sense.name, span, value_text(mean, sense.decimals))
    return ""
