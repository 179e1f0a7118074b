"""Keeping what a rule found in a message."""

from engram.text.secrets import is_free


def store_by_rule(records, rule, caller, turn: str):
    """Keep the content of a Rule, said in the turn with the id `turn`: a Stored, None for a secret that nobody asked to be
    kept.
    """
    if not (rule.asked or is_free(rule.content)):
        return None
    return records.store(rule.content, rule.tags, caller, type=rule.type, source="auto_rule", turns=[turn])
