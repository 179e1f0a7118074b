"""What somebody looks for: made once, where the question comes in, and passed on as it is."""

from collections import namedtuple

Query = namedtuple("Query", ("text", "caller", "tags", "since", "until", "skip"))
"""The words, who asks, tags that all have to be there, the earliest time and the first time that is too late (Unix seconds, 0
leaves it open), and the seqs of turns that are not wanted."""


def make_query(text: str, caller, tags=(), since: int = 0, until: int = 0, skip=()) -> Query:
    """A query of these words; all else is optional."""
    return Query(text, caller, tags, since, until, skip)
