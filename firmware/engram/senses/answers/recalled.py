"""A question for a time that the memory knows: of "was it cold when Anna called?" the memory gets the call, and its time the
readings of then.

A module of its own, since each prompt may need it.
"""

from engram.compat import const
from engram.senses.answers import words
from engram.senses.values import value_text

_MOST_ITEMS = const(3)  # of what was found, whose readings are looked up
_MOST_NAMED = const(2)  # senses that are looked up for each
_HOUR_LEVEL = const(1)


def about_of(view, caller, said: str):
    """What a text asks of the senses that a caller may see, as words.About; None if it asks for none."""
    if not words.asks(said):
        return None
    visible = view.visible(caller)
    if not visible:
        return None
    about = words.about(said, visible, [sense.number for sense in visible if view.is_switch(sense)])
    if not about.senses:
        return None
    ours = [sense for sense in about.senses if not view.is_aside(sense)]
    return words.About(ours or about.senses, *about[1:])


def memory_query(view, caller, said: str) -> str:
    """What the memory is asked for a text: only for the clause that says when, if the rest asks for readings."""
    clause = words.clause_of(said)
    about = about_of(view, caller, said) if clause else None
    return clause + "?" if about and about.rest else said


def beside(view, caller, said: str, items) -> list:
    """Lines with the readings at the times of what was found, best first, for a text that asks for some; [] for others."""
    if not view.clock.known or not items or not words.clause_of(said):
        return []
    about = about_of(view, caller, said)
    if about is None or not about.rest:
        return []
    from engram.senses.answers.summary import hour_at  # with what reads the flash, when it is asked for

    lines = []
    for item in items[:_MOST_ITEMS]:
        for sense in about.senses[:_MOST_NAMED]:
            found = hour_at(view.senses, view.clock, sense, item.at)
            if found:
                lines.append(_line(view.clock, item, sense, found))
    return lines


def _line(clock, item, sense, found) -> str:
    _, (_, low, high, mean, _), level = found
    when = clock.minute(item.at)
    span = "that hour" if level == _HOUR_LEVEL else "that day"
    said = "at %s (%s): %s %s" % (item.id.partition("#")[0], when, sense.name, sense.text(mean))
    if low == high:
        return said
    return said + ", %s to %s in %s" % (value_text(low, sense.decimals), value_text(high, sense.decimals), span)
