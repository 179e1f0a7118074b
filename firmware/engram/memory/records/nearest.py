"""Which records are near to a text, and what the text is to them."""

from engram import text
from engram.compat import const
from engram.memory import access, comparing
from engram.store.types import LIVE, Query

_SIMILAR = const(5)  # nearest records that a text is compared with
_OVERLAP = const(60)  # per cent of words in common from which a record counts as similar
_COMPARED = const(256)  # words of each that are looked at for that: bounds the heap


def nearest(records, content: str, of_scope: str) -> tuple:
    """(id of a record that says the same or "", id of one of which the text tells the change or "", [ids of those that say
    nearly the same]), of one scope."""
    comparison = None
    words = _first_words(content)
    same = changed = ""
    similar = []
    for record in near(records, content, of_scope):
        if records.is_expired(record):
            continue
        # Not before there is something to compare: the search itself needs the heap.
        comparison = comparison or comparing.load()
        verdict = comparison.compare(record["content"], content)
        if verdict == comparison.SAME:
            changed, same = "", record["id"]
            break
        others = _first_words(record["content"])
        if verdict == comparison.CHANGED:
            changed = changed or record["id"]
        elif len(words & others) * 100 > _OVERLAP * max(len(words), len(others)):
            similar.append(record["id"])
    if comparison:
        comparing.done()
    return same, changed, similar


def twin(records, record: dict, caller):
    """See Records.twin."""
    number = int(record["id"][1:])
    state, live = records.entries.state_and_latest(number)
    # It may have gone, or changed, while others were looked at.
    if state != LIVE or live["content"] != record["content"]:
        return None
    of_scope = record.get("scope", access.ALL)
    if not access.may_see(caller, of_scope):
        return None
    try:
        for other in near(records, record["content"], of_scope):
            if other["id"] != record["id"] and not records.is_expired(other):
                comparison = comparing.load()
                if comparison.compare(other["content"], record["content"]) == comparison.SAME:
                    return other
    finally:
        comparing.done()
    return None


def near(records, content: str, of_scope: str):
    """Yield the nearest live records of a scope."""
    wanted = Query(text.terms(content), (), ("@" + of_scope,), 0, 0, "", None)
    for hit in records.entries.search(wanted, _SIMILAR):
        yield hit.line


def _first_words(content: str) -> set:
    words = set()
    for word in text.words(content):
        words.add(word)
        if len(words) == _COMPARED:
            break
    return words
