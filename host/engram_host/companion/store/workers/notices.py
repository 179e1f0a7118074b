"""Notices: short messages of workers to each other, sent with the transaction that they are about."""

import uuid
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


_SETTINGS_MARK = "settings.mark"
"""The note that each notice about settings replaces."""


class NoticeTable(DatabaseTable):
    """Sends notices that are about no other change."""

    @writes
    def notify_settings(self, rows: Rows, worker: str) -> str:
        """Let the workers but this one read their settings again; the mark of this change."""
        mark = uuid.uuid4().hex
        sql = "INSERT INTO notes (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        rows.run(sql, (_SETTINGS_MARK, mark))
        rows.notify(Notice("settings", worker).encode())
        return mark

    @reads_once
    def settings_mark(self, rows: Rows) -> str:
        """The mark of the last change of settings, "" if there was none: for whoever may not have heard the notice."""
        found = rows.run("SELECT value FROM notes WHERE name = ?", (_SETTINGS_MARK,))
        return found[0][0] if found else ""
