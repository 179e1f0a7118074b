"""Erases a board: all that the database has of it, in its tables and in the bytes of its files."""

from dataclasses import dataclass

from engram_host.companion.errors import UnknownDevice
from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.queries import Rows

OF_DEVICE = (
    "lines",
    "vectors",
    "aside",
    "events",
    "logs",
    "device_tokens",
    "former_tokens",
    "gateway_use",
    "device_use",
    "conversations",
    "conversation_pieces",
)
"""The tables whose rows are of one board, named in their column `device`; `devices` has one row of each."""

_NOTES = "name = ? OR name LIKE ?"


@dataclass(frozen=True)
class BoardContents:
    """What the database has of a board: `lines` of all copies, `archived` memories that only the companion has."""

    lines: int
    archived: int
    aside: int
    vectors: int
    events: int
    has_token: bool


class ErasureTable(DatabaseTable):
    """Counts and erases all that is kept of one board."""

    @reads
    def board_contents(self, rows: Rows, name: str) -> BoardContents:
        """What there is of a board, also of one that only has a token; UnknownDevice."""
        return _contents(rows, name)

    @writes
    def erase_board(self, rows: Rows, name: str) -> BoardContents:
        """Remove a board with all that is kept of it, its token included; what there was. UnknownDevice.

        Its bytes are in the files until scrub() of the database.
        """
        rows.lock([name])
        found = _contents(rows, name)
        for table in OF_DEVICE:
            rows.run(f"DELETE FROM {table} WHERE device = ?", (name,))
        rows.run("DELETE FROM devices WHERE name = ?", (name,))
        rows.run(f"DELETE FROM notes WHERE {_NOTES}", _note_names(name))
        rows.let_go = True
        return found


def _contents(rows: Rows, name: str) -> BoardContents:
    def count(table: str, condition: str = "") -> int:
        return rows.run(f"SELECT count(*) FROM {table} WHERE device = ?{condition}", (name,))[0][0]

    copy = rows.present_copies([name]).get((name, "records"))
    has_token = bool(count("device_tokens"))
    if not rows.devices(name) and not has_token:
        raise UnknownDevice(name)
    archived = rows.count_archived(copy) if copy else 0
    lines = count("lines", " AND line IS NOT NULL")
    return BoardContents(lines, archived, count("aside"), count("vectors"), count("events"), has_token)


def _note_names(name: str) -> tuple[str, str]:
    """What the indexer notes of a board: how far it is, and its jobs (see embedding/index_state.py and batch.py)."""
    return f"embedding.position.{name}", f"embedding.jobs.{name}.%"
