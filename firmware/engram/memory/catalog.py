"""The catalog: all live tags with their counts, of which the most used stand in the prompt."""

from engram import text


def ranked(records, caller) -> list:
    """[(tag, count)] of what the caller may see, the most used first."""
    found = list(records.tags(caller))
    found.sort(key=lambda pair: (-pair[1], pair[0]))
    return found


def line(tags, budget: int) -> str:
    """The tags as one line of at most `budget` tokens: "cats (3), work (2) and 5 more"."""
    shown = ""
    rest = len(tags)
    for tag, count in tags:
        longer = "%s%s%s (%d)" % (shown, ", " if shown else "", tag, count)
        if text.tokens(longer + _more(rest - 1)) > budget:
            return shown + _more(rest) if shown else "%d tags" % rest
        shown = longer
        rest -= 1
    return shown


def _more(count: int) -> str:
    return " and %d more" % count if count else ""
