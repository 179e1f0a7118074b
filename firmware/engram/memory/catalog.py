"""The catalog: all live tags with their counts, of which the most used stand in the prompt."""

from engram import text


def ranked(records, asker) -> list:
    """[(tag, count)] of what the asker may see, the most used first."""
    found = list(records.tags(asker))
    found.sort(key=lambda pair: (-pair[1], pair[0]))
    return found


def line(tags, budget: int) -> str:
    """The tags as one line of at most `budget` tokens: "cats (3), work (2) and 5 more"."""
    shown = ""
    for position, (tag, count) in enumerate(tags):
        item = "%s%s (%d)" % (", " if shown else "", tag, count)
        if text.tokens(shown) + text.tokens(item) > budget:
            return shown + " and %d more" % (len(tags) - position)
        shown += item
    return shown
