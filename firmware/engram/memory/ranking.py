"""Orders what a search found.

Scores of several kinds come on one scale, days that a question names go before others, and
questions that ask for the same below.
"""

from collections import namedtuple

from engram import text
from engram.store.index.codec import BEGIN
from engram.store.search.weights import ONE
from engram.text.light_words import content_terms
from engram.text.openers import asks, only_asks

_LATER = const(3)  # days in which people report on a day
_BY_TODAY = const(15)  # hundredths of a score of 1
_BY_CALENDAR = const(5)  # the words of a date are found by themselves
_MOST_RELATED = const(8)  # words to a word
LEAST_PART = 4
"""Letters of a part of a compound."""

_MOST_LOOKED = const(300)  # entries that are read if a question finds nothing by its words
_EVENT = const("!event")
_LONGEST = const(240)  # characters of a question that repeats another one

Item = namedtuple("Item", "id at who text score evidence confidence")
"""A search result; who is "" for a record, `confidence` is in thousandths."""


def related(unknown: list, stores, idfs: dict) -> dict:
    """Return the words that begin like some, or are the last part of one, with half of its weight."""
    found = {}
    for term in [each for each in unknown if len(each) >= BEGIN]:
        alike = sorted({each for store in stores for each in store.related(term)})[:_MOST_RELATED]
        parts = [term[-size:] for size in range(len(term) - LEAST_PART, LEAST_PART - 1, -1)][:_MOST_RELATED]
        if parts and not alike:
            having = [store.frequencies(parts)[1] for store in stores]
            alike = [part for part in parts if any(counts.get(part) for counts in having)][:1]
        found.update(dict.fromkeys(alike, idfs[term] // 2))
    return found


def most_evidence(items) -> int:
    """Return the highest weight of matched words."""
    return max((item.evidence for item in items), default=0)


def on_one_scale(records: list, turns: list) -> list:
    """Return both kinds merged, the one with less evidence scaled down."""
    best_record, best_turn = most_evidence(records), most_evidence(turns)
    if best_record and best_turn:
        # Weights reach 2^30: the quotient is taken in 1/256 so that products stay small.
        if best_record >= best_turn:
            turns = scaled(turns, best_turn // (best_record // 256 + 1))
        else:
            records = scaled(records, best_record // (best_turn // 256 + 1))
    return records + turns


def scaled(items: list, factor: int) -> list:
    return [with_score(item, item.score * factor // 256) for item in items]


def put_below(items: list, some: list) -> list:
    """Return items with those in `some` at most at half of their own and the best other score."""
    if not some:
        return items
    best = max((item.score for item in items if item.id not in some), default=ONE)
    return [with_score(item, min(item.score, best) // 2) if item.id in some else item for item in items]


def with_score(item: Item, score: int) -> Item:
    return Item(item.id, item.at, item.who, item.text, score, item.evidence, item.confidence)


def repeats(content: str, asked) -> bool:
    same = others = 0
    is_question = only_asks(content)
    if not (is_question or (len(content) <= _LONGEST and asks(content))):
        return False
    for term in text.terms(content):
        if term in asked:
            same += 1
        elif is_question:
            others += 1
        else:
            return False
    return others <= same


def points(days, day: int) -> int:
    """Return the points of a hit of a named day, in hundredths of the best score by words."""
    if days.by_today:
        return _BY_TODAY if days.first <= day <= days.last else 0
    return _BY_CALENDAR if days.first <= day <= days.last + _LATER else 0


def is_between(at: int, query) -> bool:
    return at >= query.since and not (query.until and at >= query.until)


def events_on(days, query, records, clock, labels):
    """Yield the memories with all of these labels whose time is one of the days, newest first."""
    for looked, record in enumerate(records.newest(query.caller, query.tags, labels)):
        if looked == _MOST_LOOKED:
            return
        at = record.get("when", 0)
        is_then = clock.day_number(at) <= days.last and clock.day_number(record.get("until", at)) >= days.first
        if at and is_then and is_between(at, query):
            yield record


def said_on(days, query, records, journal, clock) -> list:
    """Return (moment, id, who) of memories of the days, then of what people said, newest first."""
    found = [(event["when"], event["id"], "") for event in events_on(days, query, records, clock, (_EVENT,))]
    kept = (
        (record["id"], record["created"], "", record["content"])
        for record in records.newest(query.caller, query.tags)
        if "when" not in record
    )
    for entries in (kept, () if query.tags else journal.newest_said(query.caller)):
        for looked, (ref, at, who, said) in enumerate(entries):
            day = clock.day_number(at)
            if day < days.first or looked == _MOST_LOOKED:
                break
            # Not the turns that the prompt shows anyway, nor greetings.
            if (
                day <= days.last
                and is_between(at, query)
                and (ref[0] == "m" or (int(ref[1:]) not in query.skip and content_terms(said)))
            ):
                found.append((at, ref, who))
    found.sort(key=lambda entry: (entry[1][0] == "t", -entry[0], -int(entry[1][1:])))  # memories first
    return found
