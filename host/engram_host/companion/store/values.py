"""Named values; and notices: short messages between processes, sent with the transaction that they announce."""

from dataclasses import dataclass
from typing import Literal

from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.queries import Rows

CHANNEL = "engram"

MOST_BYTES = 500

NoticeKind = Literal["", "board", "message", "pushed", "settings"]
"""Kinds: news for a board, a changed message, a new push, changed settings; "": anything changed."""


@dataclass(frozen=True)
class Notice:
    """A change of a board or message, "" if unspecified."""

    kind: NoticeKind
    device: str = ""
    mid: str = ""

    def encode(self) -> str:
        found = " ".join((self.kind, self.device, self.mid)).rstrip()
        return found if len(found.encode()) <= MOST_BYTES else ""


def parse_notice(payload: str) -> Notice:
    kind, _, rest = payload.partition(" ")
    device, _, mid = rest.partition(" ")
    if kind == "board" or kind == "message" or kind == "pushed" or kind == "settings":
        return Notice(kind, device, mid)
    return Notice("")


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
