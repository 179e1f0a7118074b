"""Named values, and the count of changed settings."""

from engram_host.companion.store.database import DatabaseTable, Notice, reads, writes
from engram_host.companion.store.rows import Rows

CHANNEL = "engram"
HABITS = "habits."
"""Prefix of the value of a board with the clusters that habits were looked for in."""


class ValueTable(DatabaseTable):
    @reads
    def get(self, rows: Rows, name: str) -> str:
        return _value(rows, name)

    @writes
    def put(self, rows: Rows, name: str, value: str) -> None:
        rows.upsert("notes", "name", {"name": name, "value": value})

    @writes
    def put_first(self, rows: Rows, name: str, value: str) -> str:
        rows.run("INSERT INTO notes (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (name, value))
        return _value(rows, name)

    @writes
    def notify_settings(self, rows: Rows) -> None:
        """Notify all processes of changed settings."""
        rows.notify(Notice("settings").encode())


def _value(rows: Rows, name: str) -> str:
    found = rows.run("SELECT value FROM notes WHERE name = ?", (name,))
    return found[0][0] if found else ""
