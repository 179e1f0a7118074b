"""Finds texts of which one changes what another says: the same attribute with another value, such as two homes.

Both are live: a later turn against a record, or two records of which neither took the place of the other.
"""

from engram import text
from engram.compat import const
from engram.memory.records.nearest import load_dedup, may_tell_attribute, unload_dedup

_MOST = const(8)  # texts that are compared, the newest: bounds time and heap
_LONGEST = const(240)  # characters of a text that may state an attribute and not much more


def may_state(item, caller) -> bool:
    """Whether a recall.Item with its text may state an attribute that others state too.

    "I" is whoever speaks: what other people said, and what is said in a group, is not compared.
    """
    is_own = not item.who or (item.who == caller.principal and not caller.group)
    is_brief = is_own and "#" not in item.id and len(item.text) <= _LONGEST
    return is_brief and may_tell_attribute(list(text.terms(item.text)))


def find(told: list) -> list:
    """[(id of what is newer, id of what it changes), ...], newest first, among (time, id, text) of which each may_state()."""
    if len(told) < 2:
        return []
    # What a turn taught stands after it, also within the same second.
    told.sort(key=lambda one: (one[0], one[1][0] == "m"))
    dedup = load_dedup()
    facts = [(ref, dedup.Fact(content)) for _, ref, content in told[-_MOST:]]
    found = []
    for newer in range(len(facts) - 1, 0, -1):
        for older in range(newer - 1, -1, -1):
            if dedup.verdict(facts[older][1], facts[newer][1]) == dedup.CHANGED:
                found.append((facts[newer][0], facts[older][0]))
    unload_dedup()
    return found
