"""Says how sure a search may be that a hit is an answer: in thousandths, without a model.

    words       c (2 - c) of the share c of the query's known words, by weight, that the hit has with what stands beside it,
                times the share of known words among all, times how much weight the hit has
    authority   who says so: a memory that was pinned, one that a model made, the assistant's own words
    days        whether it is of the days that the query names, if it names some
    agreement   a memory and a turn that both have most of the query's words

docs/design/retrieval.md has the formula, and what was measured.
"""

from engram.compat import const
from engram.store.search.weights import OWN

_ONCE = const(1600)  # thousandths: the highest level of a word is 1.6 of one that stands once in a row of mean length
_ENOUGH = const(20480)  # a weight of words, as of three or four rare ones, from which on more says no more
_AT_LEAST = const(4096)  # that a word is given, however common

# Per cent.
_PINNED = const(110)
_MADE = const(95)
_ON_DAYS = const(110)
_OFF_DAYS = const(80)

OF_REPLY = const(90)
"""Per cent for what the assistant said, unless it is asked for."""

AGREED = const(110)
"""Per cent for a memory and a turn that both have most of the query's words."""

WEAK = 300
"""Thousandths below which an answer is weak."""

CERTAIN = 100
"""Thousandths below which nothing is an answer: what is found is only what comes nearest."""


def of_words(evidence: int, measure) -> int:
    """How sure words alone are of a hit, 0 to 1000; `evidence` is the hit's, `measure` the query's."""
    if not measure.known:
        return 0
    covered = evidence * _ONCE // (OWN * measure.known)
    weight = measure.weight * covered // 1000 + _AT_LEAST - measure.unknown // 2
    covered = min(1000, covered)
    share = measure.weight * 1000 // (measure.weight + measure.unknown)
    # Each product is below 2^30, so that none is made on the heap.
    return covered * (2000 - covered) // 1000 * share // 100 * max(0, min(_ENOUGH, weight)) // (10 * _ENOUGH)


def evidence_once(weight: int) -> int:
    """The evidence of an entry that has words of this weight, each once, at mean length."""
    return OWN * weight * 1000 // _ONCE


def of_record(record: dict) -> int:
    """The authority of a record, in per cent."""
    if record.get("pinned"):
        return _PINNED
    return _MADE if record.get("source", "manual") in ("auto_llm", "distilled") else 100


def of_turn(turn: dict, asks_replies: bool) -> int:
    """That of a turn; what the assistant said is as good as the person's own words if it is asked for."""
    return OF_REPLY if turn["role"] == "assistant" and not asks_replies else 100


def of_days(is_of_them: bool) -> int:
    """What it does to a hit, in per cent, to be of the days that a query names, or of others."""
    return _ON_DAYS if is_of_them else _OFF_DAYS


def times(sure: int, per_cent: int) -> int:
    """A confidence with one more factor."""
    return min(1000, sure * per_cent // 100)
