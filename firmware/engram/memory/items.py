"""What a search found, as it is ordered, and how the scores of several kinds come on one scale."""

from collections import namedtuple

from engram.store.search.weights import ONE

Item = namedtuple("Item", "id at who text score evidence sure")
"""Something that was found: who is "" for a record, a long text is cut, the score orders the items of one answer, and `sure`
says in thousandths how sure it is that this is an answer."""


def most_evidence(items) -> int:
    """How much weight of words the best of some items matches."""
    return max((item.evidence for item in items), default=0)


def on_one_scale(records: list, turns: list) -> list:
    """Both together: the kind whose best matches less weight of words is scaled down by the ratio of the two."""
    best_record, best_turn = most_evidence(records), most_evidence(turns)
    if best_record and best_turn:
        # Weights reach 2^30: the quotient is taken in 1/256 so that products stay small.
        if best_record >= best_turn:
            turns = scaled(turns, best_turn // (best_record // 256 + 1))
        else:
            records = scaled(records, best_record // (best_turn // 256 + 1))
    return records + turns


def scaled(items: list, factor: int) -> list:
    """Items with their scores times a factor in 1/256."""
    return [with_score(item, item.score * factor // 256) for item in items]


def put_below(items: list, some: list) -> list:
    """Items, those whose ids are in `some` with at most half of their score, and of the best one of the others."""
    if not some:
        return items
    best = max((item.score for item in items if item.id not in some), default=ONE)
    return [with_score(item, min(item.score, best) // 2) if item.id in some else item for item in items]


def with_score(item: Item, score: int) -> Item:
    """An item with another score."""
    return Item(item.id, item.at, item.who, item.text, score, item.evidence, item.sure)
