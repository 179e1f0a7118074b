"""Finds the records that a new text repeats, changes or resembles."""

import sys

from engram import text
from engram.compat import const
from engram.lazy import make_room, release
from engram.memory import access
from engram.store.types import LIVE, Query

_NEAREST = const(5)  # records nearest by their words that a text is compared with
_ALIKE = const(8)  # records that may tell the same attribute in other words
_DEDUP = const("engram.memory.records.dedup")


# How terms begin (in Chinese: what they hold) of texts that tell an attribute for which dedup.attribute_words() has more words.
_HINTS = const(
    " hom| employ| job| birth| born| nam| cal | go | languag| answer| rep| respond| writ| ag | weigh| height| pric| cost"
    "| liv| mov| relocat| resid| bas| work|搬|居住|住在|家在|定居|出生|叫|名为|年|体重|身高|售价|价格"
)


def load_dedup():
    """The module dedup, 17 KB of heap with its words if they come from .mpy files; to be unloaded with unload_dedup()."""
    if _DEDUP not in sys.modules:
        # The longer table of names that the import leaves to the package is to lie low, not above what is garbage by now.
        make_room()
    # The words first: an import within an import takes more of the stack. By whole names: those that an import puts together
    # stay on the heap.
    import engram.memory.records.dedup_words  # noqa: F401, I001
    import engram.memory.records.dedup as dedup  # only where there is something to compare

    return dedup


def unload_dedup() -> None:
    """Unload the comparison where the heap is small."""
    release("memory.records.dedup_words", "memory.records.dedup")


def related(records, content: str, of_scope: str) -> tuple:
    """(id of a record that says the same or "", [ids of those that a text changes], [ids of similar ones]), of one scope."""
    own = list(text.terms(content))
    phrases, whose = _attribute_words(content) if may_tell_attribute(own) else ("", "")
    whose = list(text.terms(whose))
    others = [term for term in text.terms(phrases) if term not in own]
    new = None
    same, changed, similar = "", [], []
    for terms, most in ((own + whose, _NEAREST), (others and others + whose, _ALIKE)):
        for record in _search(records, terms, of_scope, most) if terms and not same else ():
            if records.is_expired(record) or record["id"] in changed + similar:
                continue
            dedup = load_dedup()  # not before there is something to compare: the search itself needs the heap
            new = new or dedup.Fact(content)
            verdict = dedup.verdict(dedup.Fact(record["content"]), new)
            if verdict == dedup.SAME:
                same, changed = record["id"], []
                break
            if verdict != dedup.DIFFERENT:
                (changed if verdict == dedup.CHANGED else similar).append(record["id"])
    unload_dedup()
    return same, changed, similar


def may_tell_attribute(terms: list) -> bool:
    """Whether dedup.attribute_words() may find something for a text of these terms; tells it without loading dedup."""
    joined = " %s " % " ".join(terms)
    for hint in _HINTS.split("|"):
        if hint in joined:
            return True
    return False


def _attribute_words(content: str) -> tuple:
    dedup = load_dedup()
    found = dedup.attribute_words(dedup.Fact(content))
    unload_dedup()
    return found


def twin(records, record: dict, caller):
    """The record nearest to one of a caller that says the same, None if there is none, or if that one is not live any more."""
    state, live = records.entries.state_and_latest(int(record["id"][1:]))
    of_scope = record.get("scope", access.ALL)
    # It may have gone, or changed, while others were looked at.
    if state != LIVE or live["content"] != record["content"] or not access.may_see_line(caller, record):
        return None
    found = None
    for other in near(records, record["content"], of_scope):
        if other["id"] != record["id"] and not records.is_expired(other):
            dedup = load_dedup()
            if dedup.compare(other["content"], record["content"]) == dedup.SAME:
                found = other
                break
    unload_dedup()
    return found


def near(records, content: str, of_scope: str):
    """The live records of a scope that are nearest by their words, one after the other."""
    return _search(records, text.terms(content), of_scope, _NEAREST)


def _search(records, terms, of_scope: str, most: int):
    for hit in records.entries.search(Query(terms, (), ("@" + of_scope,), 0, 0, "", None, True), most):
        yield hit.line
