"""Secrets that the companion has with a broker of one's own: made once, and kept in the database, which all of its workers
share.
"""

from typing import Protocol

from engram_host.companion.auth.tokens import new_token

GROUP = "mqtt.group"
"""The name of the group in which workers share a subscription. Who knows it can take messages of others."""

COMPANION = "mqtt.companion"
"""The password of the companion itself in the files that `engram device mosquitto` writes."""

CHECKER = "mqtt.checker"
"""The password of the user with which `engram doctor` finds out what a broker lets boards do."""


class Notes(Protocol):
    """Values by name in the database; NoteTable is one, which commands need not load."""

    def get(self, name: str) -> str:
        """The value of a note, "" if there is none."""
        ...

    def put_first(self, name: str, value: str) -> str:
        """Keep a note unless there is one of that name; the one that is kept."""
        ...


def broker_secret(notes: Notes, name: str) -> str:
    """The secret of a name, made if there is none yet. StoreUnavailable."""
    return notes.get(name) or notes.put_first(name, new_token())
