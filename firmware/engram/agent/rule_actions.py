"""Keeping what a rule found in a message."""

from engram.learning.secrets import is_free


def store_by_rule(records, rule, caller, turn: str):
    """Keep the content of a Rule, said in the turn with the id `turn`: a Stored, None for a secret that nobody asked to be
    kept.
    """
    if not (rule.asked or is_free(rule.content)):
        return None
    return records.store(rule.content, rule.tags, caller, type=rule.type, source="auto_rule", turns=[turn])


def add_reminder_by_rule(intents, said: str, caller) -> str:
    """Keep the standing intent that a message plainly asks for; a sentence on it, "" if it asks for none."""
    from engram.reminders import rules

    asked = rules.match(said)
    if asked is None:
        return ""
    fields = intents.add(caller, asked.when, asked.remind)
    return describe_reminder(fields)


def describe_reminder(fields: dict) -> str:
    """What the person is told of a new intent."""
    return "will remind (%s) when %s comes up: %s" % (fields["id"], fields["when"], fields["remind"])
