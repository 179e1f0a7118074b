"""Notes of the companion's own: small values that outlive a restart."""

from engram_host.companion.store.database import Table, reads, writes
from engram_host.companion.store.queries import Rows


class NoteTable(Table):
    """Values by name."""

    @reads
    def get(self, rows: Rows, name: str) -> str:
        """The value of a note, "" if there is none."""
        found = rows.run("SELECT value FROM notes WHERE name = ?", (name,))
        return found[0][0] if found else ""

    @writes
    def put(self, rows: Rows, name: str, value: str) -> None:
        """Keep a note."""
        rows.run(
            "INSERT INTO notes (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (name, value),
        )
