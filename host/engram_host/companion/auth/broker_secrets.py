"""Secrets that the companion has with a broker of one's own: made once, and kept in the database, which all of its workers
share.
"""

from engram_host.companion.auth.tokens import new_token
from engram_host.companion.store.vectors import NoteTable

GROUP = "mqtt.group"
"""The name of the group in which workers share a subscription. Who knows it can take messages of others."""

CHECKER = "mqtt.checker"
"""The password of the user with which `engram doctor` finds out what a broker lets boards do."""


def broker_secret(notes: NoteTable, name: str) -> str:
    """The secret of a name, made if there is none yet. StoreUnavailable."""
    return notes.get(name) or notes.put_first(name, new_token())
