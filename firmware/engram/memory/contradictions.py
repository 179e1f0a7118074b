"""Finds texts of which one changes what another says: the same attribute with another value, such as two homes.

Both are live: a later turn against a record, or two records of which neither took the place of the other.
"""

from engram import text
from engram.compat import const
from engram.memory.records.nearest import load_dedup, may_tell_attribute, unload_dedup

_MOST = const(8)  # texts that are compared, the newest: bounds time and heap
_SHARED = const(3)  # texts of one attribute share a third of the terms of the shorter one, but for some that have hints
_LONGEST = const(240)  # characters of a text that may state an attribute and not much more


def may_state(item, caller) -> bool:
    """Whether an items.Item with its text may state an attribute that others state too.

    "I" is whoever speaks: what other people said, and what is said in a group, is not compared.
    """
    is_own = not item.who or (item.who == caller.principal and not caller.group)
    return is_own and "#" not in item.id and len(item.text) <= _LONGEST


def find(stated: list) -> list:
    """[(id of what is newer, id of what it changes), ...], newest first, among (time, id, text) of which each may_state()."""
    # What a turn taught stands after it, also within the same second.
    stated = sorted(stated, key=lambda one: (one[0], one[1][0] == "m"))[-_MOST:]
    pairs = _alike([list(text.terms(content)) for _, _, content in stated])
    if not pairs:
        return []
    dedup = load_dedup()
    facts = {place: dedup.Fact(stated[place][2]) for pair in pairs for place in pair}
    found = []
    for newer, older in pairs:
        if dedup.verdict(facts[older], facts[newer]) == dedup.CHANGED:
            found.append((stated[newer][1], stated[older][1]))
    unload_dedup()
    return found


def put_newer_first(items: list, pairs: list) -> None:
    """Move items of a list, each before the first one that it changes; `pairs` as find() gives them."""
    for newer, older in reversed(pairs):
        ids = [item.id for item in items]
        if ids.index(newer) > ids.index(older):
            items.insert(ids.index(older), items.pop(ids.index(newer)))


def _alike(terms: list) -> list:
    """The pairs of places, newest first, of texts that may state one attribute, by their terms: the comparison of all others
    would load its words for nothing.
    """
    hinted = [may_tell_attribute(one) for one in terms]
    pairs = []
    for newer in range(len(terms) - 1, 0, -1):
        for older in range(newer - 1, -1, -1):
            least = min(len(terms[newer]), len(terms[older]))
            shared = sum([term in terms[older] for term in terms[newer]])
            if (hinted[newer] and hinted[older]) or (shared and shared * _SHARED >= least):
                pairs.append((newer, older))
    return pairs
