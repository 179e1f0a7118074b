"""Says how sure a search may be that a hit is an answer: in thousandths, without a model.

    words       c (2 - c) of the share c of the query's known words, by weight, that the hit has with what stands beside it,
                times the share of known words among all, times how much weight the hit has
                While a memory is young this says little: there each word is rare. Below 180 entries it is three fourths of
                the share of the words that say something (light_words.py) which the hit itself has;
                one that only begins like one of them counts half
    authority   who says so: a memory that was pinned, one that a model made, the assistant's own words
    days        whether it is of the days that the query names, if it names some
    agreement   a memory and a turn that both have most of the query's words

docs/design/retrieval.md has the formula, and what was measured.
"""

from engram import text
from engram.memory import attributes
from engram.memory.ranking import LEAST_PART, Item, most_evidence
from engram.store.index.codec import BEGIN
from engram.store.search.weights import OWN, inverse_frequency

_ONCE = const(1600)  # thousandths: the highest level of a word is 1.6 of a single one in a row of mean length
_ENOUGH = const(20480)  # a weight of words, as of three or four rare ones, from which on more says no more
GROWN = const(180)  # entries from which on the weights of words say enough
OWN_WORDS = 750  # thousandths of a hit that has all words
_ALIKE = const(250)  # of a hit that has only words which begin like those of a statement: a weak answer
_JUDGED = const(5)  # hits of a store whose words are looked at
_AT_LEAST = const(4096)  # that a word is given, however common

# Per cent.
_PINNED = const(110)
_MADE = const(95)
ON_DAYS = 110
OFF_DAYS = 80

OF_REPLY = const(90)
"""Per cent for the assistant's words, unless a query asks for them."""

QUESTION = const(10)
"""Per cent for a turn that asks the same as the query."""

AGREED = const(110)
"""Per cent for a memory and a turn that both have most of the query's words."""

WEAK = 300
"""Thousandths below which an answer is weak."""

CERTAIN = 100
"""Thousandths below which a result is no answer."""


class Certainty:
    """The confidence of the hits of one query, by their words."""

    def __init__(self, measure, content: list, idfs: dict, documents: int, is_question: bool = False):
        self._measure = measure
        self._is_question = is_question
        self.judged = _JUDGED
        rarest = inverse_frequency(documents, 0)
        self.weights = {term: idfs.get(term, rarest) for term in content} if documents < GROWN else None
        self._sum = sum((self.weights or {}).values()) or 1

    def item_of(self, hit, place: int, ref: str, at: int, who: str, said: str) -> Item:
        """Return the Item of a store's hit, with its place among the store's hits and its text."""
        if self.weights is None:
            sure = of_words(hit.evidence, self._measure)
        else:
            sure = self.of_own_words(said) if place < self.judged and self.weights else 0
        return Item(ref, at, who, "", hit.score, hit.evidence, sure)

    def of_own_words(self, said: str) -> int:
        own = set(text.index_terms(said)).union(attributes.terms(said))
        alike = [term for term in self.weights if term not in own and any(_is_alike(term, word) for word in own)]
        total = sum([weight for term, weight in self.weights.items() if term in own])
        sure = (total + sum([self.weights[term] for term in alike]) // 2) * OWN_WORDS // self._sum
        return sure if total or self._is_question else min(sure, _ALIKE)


def _is_alike(term: str, word: str) -> bool:
    """True if a word begins like a term, or is its last part."""
    return len(word) >= LEAST_PART and (word[:BEGIN] == term[:BEGIN] or term.endswith(word))


def of_words(evidence: int, measure) -> int:
    """Return the confidence by words alone, 0 to 1000."""
    if not measure.known:
        return 0
    covered = evidence * _ONCE // (OWN * measure.known)
    weight = measure.weight * covered // 1000 + _AT_LEAST - measure.unknown // 2
    covered = min(1000, covered)
    share = measure.weight * 1000 // (measure.weight + measure.unknown)
    # Each product is below 2^30, so that none is made on the heap.
    return covered * (2000 - covered) // 1000 * share // 100 * max(0, min(_ENOUGH, weight)) // (10 * _ENOUGH)


def evidence_once(weight: int) -> int:
    return OWN * weight * 1000 // _ONCE


def of_record(record: dict) -> int:
    if record.get("pinned"):
        return _PINNED
    return _MADE if record.get("source", "manual") in ("auto_llm", "distilled") else 100


def times(item: Item, per_cent: int) -> Item:
    if per_cent == 100:
        return item
    sure = min(1000, item.confidence * per_cent // 100)
    return Item(item.id, item.at, item.who, item.text, item.score, item.evidence, sure)


def question(item: Item) -> Item:
    """Return an item of a turn that repeats the query, which is no evidence."""
    item = times(item, QUESTION)
    evidence = item.evidence // (100 // QUESTION)
    return Item(item.id, item.at, item.who, item.text, item.score, evidence, item.confidence)


def compare(records: list, turns: list) -> None:
    """Raise the confidence of items that match the best of the other kind."""
    best_record, best_turn = most_evidence(records), most_evidence(turns)
    # Weights reach 2^30: the quotient is taken first so that nothing is made on the heap.
    least = max(best_record, best_turn) // 3 * 2
    for items in (records, turns) if 0 < least <= min(best_record, best_turn) else ():
        for place, item in enumerate(items):
            if item.evidence >= least:
                items[place] = times(item, AGREED)
