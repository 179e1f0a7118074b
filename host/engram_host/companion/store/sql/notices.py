"""Notices: short messages between processes, sent with the transaction that they announce."""

from dataclasses import dataclass
from typing import Literal

from engram_host.companion.store.database import DatabaseTable, reads_once, writes
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
        """Encode the notice; one that is too long becomes ""."""
        found = " ".join((self.kind, self.device, self.mid)).rstrip()
        return found if len(found.encode()) <= MOST_BYTES else ""


def parse_notice(payload: str) -> Notice:
    """Parse a notice; unknown ones parse as "anything may have changed"."""
    kind, _, rest = payload.partition(" ")
    device, _, mid = rest.partition(" ")
    if kind == "board" or kind == "message" or kind == "pushed" or kind == "settings":
        return Notice(kind, device, mid)
    return Notice("")


_SETTINGS_CHANGES = "settings.changes"


class NoticeTable(DatabaseTable):
    """Sends notices of changed settings."""

    @writes
    def notify_settings(self, rows: Rows) -> int:
        """Notify other processes of changed settings; return the count of changes so far."""
        sql = (
            "INSERT INTO notes (name, value) VALUES (?, '1') ON CONFLICT (name) DO UPDATE "
            "SET value = CAST(CAST(notes.value AS BIGINT) + 1 AS TEXT) RETURNING value"
        )
        ((count,),) = rows.run(sql, (_SETTINGS_CHANGES,))
        rows.notify(Notice("settings").encode())
        return int(count)

    @reads_once
    def settings_changes(self, rows: Rows) -> int:
        found = rows.run("SELECT value FROM notes WHERE name = ?", (_SETTINGS_CHANGES,))
        return int(found[0][0]) if found else 0
