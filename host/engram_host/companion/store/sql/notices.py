"""Notices: short messages of processes to each other, sent with the transaction that they are about."""

from dataclasses import dataclass
from typing import Literal

from engram_host.companion.store.database import DatabaseTable, reads_once, writes
from engram_host.companion.store.queries import Rows

CHANNEL = "engram"

MOST_BYTES = 500
"""Of a notice: PostgreSQL takes 7,999, and no board and no id of a message is longer than a part of this."""

NoticeKind = Literal["", "board", "message", "pushed", "settings"]
"""board: there is something for a board that listens; message: one to a board, or its answer, has changed; pushed: a board has
begun to say something; settings: they are to be read again. "": notices may have been lost, so anything may have changed.
"""


@dataclass(frozen=True)
class Notice:
    """What happened, and to which board or message, "" where that is not said."""

    kind: NoticeKind
    device: str = ""
    mid: str = ""

    def encode(self) -> str:
        """The notice as it is sent; one that is too long is sent without its content."""
        found = " ".join((self.kind, self.device, self.mid)).rstrip()
        return found if len(found.encode()) <= MOST_BYTES else ""


def parse_notice(payload: str) -> Notice:
    """A notice as it came; one of a later version is one of which nothing is known."""
    kind, _, rest = payload.partition(" ")
    device, _, mid = rest.partition(" ")
    if kind == "board" or kind == "message" or kind == "pushed" or kind == "settings":
        return Notice(kind, device, mid)
    return Notice("")


_SETTINGS_CHANGES = "settings.changes"
"""The note that counts the notices about settings."""


class NoticeTable(DatabaseTable):
    """Sends notices that are about no other change."""

    @writes
    def notify_settings(self, rows: Rows) -> int:
        """Let the other processes read their settings again; how many such changes there were, with this one."""
        sql = (
            "INSERT INTO notes (name, value) VALUES (?, '1') ON CONFLICT (name) DO UPDATE "
            "SET value = CAST(CAST(notes.value AS BIGINT) + 1 AS TEXT) RETURNING value"
        )
        ((count,),) = rows.run(sql, (_SETTINGS_CHANGES,))
        rows.notify(Notice("settings").encode())
        return int(count)

    @reads_once
    def settings_changes(self, rows: Rows) -> int:
        """How many changes of settings there were: for whoever may not have heard the notices."""
        found = rows.run("SELECT value FROM notes WHERE name = ?", (_SETTINGS_CHANGES,))
        return int(found[0][0]) if found else 0
