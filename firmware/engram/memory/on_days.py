"""Ranks entries of the days that a question names (text.days) higher, or gives them alone."""

from engram.compat import const

_LATER = const(3)  # days in which people tell of what was on a day
_BY_TODAY = const(15)  # hundredths of a score of 1
_BY_CALENDAR = const(5)  # the words of a date are found by themselves
_MOST_LOOKED = const(300)  # entries that are read if a question finds nothing by its words


def points(days, day: int) -> int:
    """What a hit of a day has more if a question names these days, in hundredths of the best score that words give."""
    if days.by_today:
        return _BY_TODAY if days.first <= day <= days.last else 0
    return _BY_CALENDAR if days.first <= day <= days.last + _LATER else 0


def said_on(days, query, records, journal, clock) -> list:
    """[moment, id, who] of what was said and kept on the days, newest first, whatever it says; who is "" for a record.

    `query` is a memory.recall.Query.
    """
    found = []
    kept = ((record["id"], record["created"], "") for record in records.newest(query.caller, query.tags))
    for entries in (kept, () if query.tags else journal.newest_shown(query.caller)):
        for looked, (ref, at, who) in enumerate(entries):
            day = clock.day_number(at)
            if day < days.first or looked == _MOST_LOOKED:
                break
            if day <= days.last and not (ref[0] == "t" and int(ref[1:]) in query.skip):
                found.append((at, ref, who))
    found.sort(key=lambda entry: (-entry[0], -int(entry[1][1:])))
    return found
