"""Says how sure a search may be that a hit is an answer: in thousandths, without a model.

    words       c (2 - c) of the share c of the query's known words, by weight, that the hit has with what stands beside it,
                times the share of known words among all, times how much weight the hit has
    authority   who says so: a memory that was pinned, one that a model made, the assistant's own words
    days        whether it is of the days that the query names, if it names some
    agreement   a memory and a turn that both have most of the query's words

docs/design/retrieval.md has the formula, and what was measured.
"""

from engram.compat import const
from engram.memory.ranking import Item, most_evidence
from engram.store.search.weights import MANY, OWN, Measure, inverse_frequency

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

QUESTION = const(10)
"""Per cent for a turn in which whoever asks has asked for most of the same: it answers nothing."""

AGREED = const(110)
"""Per cent for a memory and a turn that both have most of the query's words."""

WEAK = 300
"""Thousandths below which an answer is weak."""

CERTAIN = 100
"""Thousandths below which nothing is an answer: what is found is only what comes nearest."""


def of_words(evidence: int, measure) -> int:
    """Return how sure words alone are of a hit, 0 to 1000; `evidence` is the hit's, `measure` the query's."""
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
    """Return what it does to a hit, in per cent, to be of the days that a query names, or of others."""
    return _ON_DAYS if is_of_them else _OFF_DAYS


def item_of(hit, measure, ref: str, at: int, who: str) -> Item:
    """The item of a hit of a store; `measure` is the query's."""
    return Item(ref, at, who, "", hit.score, hit.evidence, of_words(hit.evidence, measure))


def of_days_alone(count: int, measure) -> int:
    """Rate a search that found `count` entries of the days that it names, which are one word, and no other word."""
    weight = inverse_frequency(MANY, count)
    return of_words(evidence_once(weight), Measure(weight, weight, measure.weight + measure.unknown))


def times(item: Item, per_cent: int) -> Item:
    """An item with one more factor of its confidence."""
    if per_cent == 100:
        return item
    sure = min(1000, item.confidence * per_cent // 100)
    return Item(item.id, item.at, item.who, item.text, item.score, item.evidence, sure)


def question(item: Item) -> Item:
    """An item of a turn that asks for the same as the query: it answers nothing, so its words are no evidence."""
    item = times(item, QUESTION)
    evidence = item.evidence // (100 // QUESTION)
    return Item(item.id, item.at, item.who, item.text, item.score, evidence, item.confidence)


def compare(records: list, turns: list) -> None:
    """Be surer of those in both lists that match nearly as much as the best of the other kind: two that say it."""
    best_record, best_turn = most_evidence(records), most_evidence(turns)
    # Weights reach 2^30: the quotient is taken first so that nothing is made on the heap.
    least = max(best_record, best_turn) // 3 * 2
    for items in (records, turns) if 0 < least <= min(best_record, best_turn) else ():
        for place, item in enumerate(items):
            if item.evidence >= least:
                items[place] = times(item, AGREED)
