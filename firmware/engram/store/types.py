"""The types that a store shares with the code above it: entries, queries, hits."""

from collections import namedtuple

from engram.compat import const

LIVE = const(0)
SUPERSEDED = const(1)
FORGOTTEN = const(2)
ARCHIVED = const(3)  # it has left for a companion, which finds it still

_EPOCH_MINUTES = const(26297280)  # 2020-01-01 in minutes: times in tables are minutes since then
MOST_MINUTES = 0xFFFFFF

EIGHTHS = 8
"""Counts and lengths of a row are in eighths: a word of its head counts as one, one behind it as an eighth."""

HEAD = 32
"""The words at the begin of a row that count in full: what a long reply is about stands there."""

MOST_TERMS = 256
"""The words of a row that are indexed: a longer line is kept whole in the log."""

Entry = namedtuple("Entry", "number terms labels session at hides shows ends is_reply")
"""The meaning of a line.

number    the entry that it is a version of, -1 for a line that is no entry
terms     the words to find it by, an iterable
labels    filters that it passes, an iterable
session   the number of the thread it belongs to, 0 for none
at        its moment, Unix seconds
hides     ((number, SUPERSEDED, FORGOTTEN or ARCHIVED), ...)
shows     (number, ...) of hidden entries that are live again
ends      the number of a thread of which no entry is live any more, or 0
is_reply  whether the assistant said it: it counts half unless a query asks for that
"""


def no_entry(at: int = 0, hides=(), shows=(), ends: int = 0) -> Entry:
    """The Entry of a line that is no entry itself."""
    return Entry(-1, (), (), 0, at, hides, shows, ends, False)


Query = namedtuple("Query", "terms labels scopes since until speaker weights asks_replies")
"""A search of a store.

terms     words, joined by OR
labels    filters that all must be passed
scopes    labels of which one is enough
since     the earliest time, until: the first time that is too late, in Unix seconds; 0 leaves it open
speaker   the label of the speaker whom the query names, or ""
asks_replies  whether it asks what the assistant said: replies count in full
weights   a dict of term: idf that holds for several stores together (see weights.py), None for this store's own
"""

Hit = namedtuple("Hit", "number score evidence line")
"""An entry that was found: its score (4096 is the best that words alone can give within one answer), the weight of the
words that it matches, which can be compared between stores, and its line as a dict."""


def row_length(words: int) -> int:
    """The length of a row of so many words, in eighths."""
    return EIGHTHS * min(words, HEAD) + max(0, words - HEAD)


def minutes(at: int) -> int:
    """A moment as tables have it."""
    return max(0, min(MOST_MINUTES, at // 60 - _EPOCH_MINUTES))


def concerned(entry: Entry, seq: int):
    """Yield the numbers of the entries that a line changes, but for the one that it is the first version of."""
    if entry.number >= 0 and entry.number != seq:
        yield entry.number
    for number, _ in entry.hides:
        yield number
    yield from entry.shows


def labels(entry: Entry, seq: int):
    """Yield all labels of a line's row: its own, "=NUMBER" for each entry concerned, "=sNUMBER" for a thread it ends."""
    yield from entry.labels
    for number in concerned(entry, seq):
        yield "=%d" % number
    if entry.ends:
        yield "=s%d" % entry.ends


def passes(entry: Entry, wanted, scopes) -> bool:
    """True if an entry has all wanted labels and one of the scopes: the index knows labels by a part of a crc only."""
    has = set(entry.labels)
    return has.issuperset(wanted) and not (scopes and has.isdisjoint(scopes))
