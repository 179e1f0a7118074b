"""The types that a store shares with the code above it: entries, queries, hits."""

from collections import namedtuple

LIVE = const(0)
SUPERSEDED = const(1)
FORGOTTEN = const(2)
ARCHIVED = const(3)  # it has left for a companion, which finds it still

_EPOCH_MINUTES = const(26297280)  # 2020-01-01 in minutes: times in tables are minutes since then
MOST_MINUTES = 0xFFFFFF

EIGHTHS = 8
"""Unit of counts and lengths: a head word is 8, a later one 1."""

HEAD = 32
"""Words at a row's begin that count in full."""

MOST_TERMS = 256
"""Indexed words of a row; the log keeps longer lines whole."""

Entry = namedtuple("Entry", "number terms labels session at hides shows ends is_reply")
"""A line's meaning: its entry number (-1 for none), terms, labels, session and state changes."""
# number    entry of this version, -1 for none
# terms     words to find it by, an iterable
# labels    filters that it passes, an iterable
# session   number of its thread, or 0
# at        Unix seconds
# hides     ((number, SUPERSEDED, FORGOTTEN or ARCHIVED), ...)
# shows     (number, ...) of hidden entries that are live again
# ends      number of a thread without live entries, or 0
# is_reply  True for the assistant's words, which count half unless a query asks for them


def no_entry(at: int = 0, hides=(), shows=(), ends: int = 0) -> Entry:
    """Return the Entry of a line that is no entry."""
    return Entry(-1, (), (), 0, at, hides, shows, ends, False)


Query = namedtuple("Query", "terms labels scopes since until speaker weights asks_replies")
"""A search of a store: ORed terms, required labels, one of `scopes`, a time span, and weights."""
# terms         words, joined by OR
# labels        required filters
# scopes        labels, one of which is enough
# since, until  Unix seconds, `until` exclusive; 0 leaves it open
# speaker       label of the named speaker, or ""
# asks_replies  True if the assistant's words count in full
# weights       {term: idf} over several stores (see weights.py), None for this store's own

Hit = namedtuple("Hit", "number score evidence line")
"""A found entry: score (4096 is the best by words alone), matched weight, and its line."""


def row_length(words: int) -> int:
    return EIGHTHS * min(words, HEAD) + max(0, words - HEAD)


def minutes(at: int) -> int:
    return max(0, min(MOST_MINUTES, at // 60 - _EPOCH_MINUTES))


def concerned(entry: Entry, seq: int):
    """Yield the numbers of the entries that a line changes, except its own first version."""
    if entry.number >= 0 and entry.number != seq:
        yield entry.number
    for number, _ in entry.hides:
        yield number
    yield from entry.shows


def labels(entry: Entry, seq: int):
    """Yield a row's labels: its own, "=NUMBER" per changed entry, "=sNUMBER" per ended thread."""
    yield from entry.labels
    for number in concerned(entry, seq):
        yield "=%d" % number
    if entry.ends:
        yield "=s%d" % entry.ends


def passes(entry: Entry, wanted, scopes) -> bool:
    """True if an entry truly has the labels and a scope, as the index compares partial crcs."""
    has = set(entry.labels)
    return has.issuperset(wanted) and not (scopes and has.isdisjoint(scopes))
