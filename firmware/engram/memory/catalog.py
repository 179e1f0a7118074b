"""The catalog: all live tags with their counts, the most used for the prompt."""

from engram import text
from engram.memory import access

_MOST_KEPT = const(1000)  # tags that are kept until a record changes: bounds the heap


class TagCounts:
    """Counts of live records' tags; `entries` is their store."""

    def __init__(self, entries):
        self._entries = entries
        self._counted = (None, [])  # (when and for which caller, counts)

    def tags(self, caller=access.OWNER) -> list:
        """Return (tag, number of live records) of those that the caller may see, in no order."""
        # Each turn's prompt asks for them, and counting reads the index tag by tag.
        key = (self._entries.next_seq, self._entries.partial, access.labels(caller))
        if self._counted[0] == key:
            return self._counted[1]
        found = [(label[1:], count) for label, count in self._entries.labels("#", access.labels(caller))]
        if len(found) <= _MOST_KEPT:
            self._counted = (key, found)
        return found


def ranked(records, caller) -> list:
    return sorted(records.tags(caller), key=lambda pair: (-pair[1], pair[0]))


def line(tags, budget: int) -> str:
    """Return the tags in at most `budget` tokens: "cats (3), work (2) and 5 more"."""
    shown = ""
    left = len(tags)
    for tag, count in tags:
        longer = "%s%s%s (%d)" % (shown, ", " if shown else "", tag, count)
        if text.tokens(longer + _more(left - 1)) > budget:
            return shown + _more(left) if shown else "%d tags" % left
        shown = longer
        left -= 1
    return shown


def _more(count: int) -> str:
    return " and %d more" % count if count else ""
