"""Finds the records that a new text repeats, changes or resembles."""

from engram import text
from engram.compat import const, let_go
from engram.memory import scope
from engram.store.entry import LIVE, Query

_NEAREST = const(5)  # records nearest by their words that a text is compared with
_ALIKE = const(8)  # records that may tell the same attribute in other words


def load_dedup():
    """The module dedup, 10 KB of heap; to be unloaded with unload_dedup()."""
    from engram.memory import dedup

    return dedup


def unload_dedup() -> None:
    """Unload the comparison where the heap is small."""
    let_go(("engram.memory.dedup", "engram.memory.dedup_words"))


def related(records, content: str, of_scope: str) -> tuple:
    """(id of a record that says the same or "", [ids of those that a text changes], [ids of similar ones]), of one scope."""
    dedup = load_dedup()
    new = dedup.Fact(content)
    phrases, whose = dedup.attribute_words(new)
    own, whose = list(text.terms(content)), list(text.terms(whose))
    others = [term for term in text.terms(phrases) if term not in own]
    same, changed, similar = "", [], []
    for terms, most in ((own + whose, _NEAREST), (others and others + whose, _ALIKE)):
        for record in _search(records, terms, of_scope, most) if terms and not same else ():
            if records.is_expired(record) or record["id"] in changed + similar:
                continue
            verdict = dedup.verdict(dedup.Fact(record["content"]), new)
            if verdict == dedup.SAME:
                same, changed = record["id"], []
                break
            if verdict != dedup.DIFFERENT:
                (changed if verdict == dedup.CHANGED else similar).append(record["id"])
    unload_dedup()
    return same, changed, similar


def twin(records, record: dict, asker):
    """See Records.twin."""
    state, live = records.entries.fate(int(record["id"][1:]))
    of_scope = record.get("scope", scope.ALL)
    # It may have gone, or changed, while others were looked at.
    if state != LIVE or live["content"] != record["content"] or not scope.may_see(asker, of_scope):
        return None
    dedup = load_dedup()
    found = None
    for other in near(records, record["content"], of_scope):
        if other["id"] == record["id"] or records.is_expired(other):
            continue
        if dedup.compare(other["content"], record["content"]) == dedup.SAME:
            found = other
            break
    unload_dedup()
    return found


def near(records, content: str, of_scope: str):
    """The live records of a scope that are nearest by their words, one after the other."""
    return _search(records, text.terms(content), of_scope, _NEAREST)


def _search(records, terms, of_scope: str, most: int):
    for hit in records.entries.search(Query(terms, (), ("@" + of_scope,), 0, 0, "", None), most):
        yield hit.line
