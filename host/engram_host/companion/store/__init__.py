"""Where the companion keeps lines and vectors: one set of tables and rules, and two databases under it."""

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import unquote

from engram_host.companion.errors import SettingError
from engram_host.companion.store.boards.status import percent
from engram_host.companion.store.bridges.accounts import BridgeAccountTable
from engram_host.companion.store.bridges.deliveries import DeliveryTable
from engram_host.companion.store.bridges.files import ChatFileTable
from engram_host.companion.store.bridges.people import PeopleTable
from engram_host.companion.store.conversations.table import ConversationTable
from engram_host.companion.store.database import Database, reads
from engram_host.companion.store.markdown_files import FolderTables
from engram_host.companion.store.media.table import MediaTable
from engram_host.companion.store.page.board_list import BoardListTable
from engram_host.companion.store.page.sessions import PageSessionTable
from engram_host.companion.store.queries import Rows
from engram_host.companion.store.removal import ErasureTable, ExpiryTable
from engram_host.companion.store.replica import MOST_NUMBER, ReplicaReader, ReplicaWriter
from engram_host.companion.store.row_types import LogRow
from engram_host.companion.store.sql.notices import NoticeTable
from engram_host.companion.store.tokens import AuditTable, GatewayUseTable, TokenTable
from engram_host.companion.store.vectors import NoteTable, VectorTable

_SQLITE = "sqlite:///"
_TABLES = (
    "devices",
    "logs",
    "lines",
    "aside",
    "vectors",
    "events",
    "files",
    "note_files",
    "device_tokens",
    "former_tokens",
    "operator_tokens",
    "audit",
    "gateway_use",
    "device_use",
    "conversations",
    "conversation_pieces",
    "people",
    "people_ids",
    "chat_groups",
    "pairing_codes",
    "bridge_marks",
    "bridge_chats",
    "bridge_deliveries",
    "bridge_files",
    "board_status",
    "board_days",
    "senses",
    "sense_copies",
    "sense_blocks",
    "sense_parts",
    "sense_events",
    "media",
    "page_sessions",
    "page_codes",
)
"""Those that a look reads a row of."""
_CHECKED_AT_ONCE = 2000
"""Lines that are looked at in one transaction."""

_POSTGRES = ("postgresql://", "postgres://")


class CompanionStore(
    ReplicaWriter,
    ReplicaReader,
    VectorTable,
    TokenTable,
    AuditTable,
    GatewayUseTable,
    FolderTables,
    NoteTable,
    NoticeTable,
    ConversationTable,
    PeopleTable,
    DeliveryTable,
    BridgeAccountTable,
    ChatFileTable,
    MediaTable,
    PageSessionTable,
    BoardListTable,
    ExpiryTable,
    ErasureTable,
):
    """All tables of the companion on one database. Calls block (a few ms) and may come from any thread.

    Who needs only some of the tables asks for their class. What a writing call answers is on disk. Lines that a board has let
    go are kept apart, never lost, unless the board says that they were forgotten: a forgotten line leaves copies of former
    epochs, and what was set aside, as well. Every call may raise StoreUnavailable.
    """

    found_rows: Sequence[str] = ()
    """What the last check found of damaged rows, in sentences: to look at all of them takes too long for each request."""

    def open(self) -> list[str]:
        """Connect, and bring the schema up to date; what was done to it, a sentence for each migration."""
        self.database.connect()
        return self.database.migrate()

    def close(self) -> None:
        """Let all connections go."""
        self.database.close()

    def probe(self) -> list[str]:
        """Write a little and read a row of each table, as all that is served needs; sentences on what will not last.

        StoreUnavailable if that fails.
        """
        self.put("probe", str(int(time.time())))
        self._read_each()
        lines = [lines.sentence for lines in self.damaged()]
        return [*self.database.warnings(), *lines, *self.found_rows]

    def check(self, pause: Callable[[], None] = lambda: None) -> None:
        """Look at all pages, and at all lines, those of former epochs and of the archive included: what is damaged is counted
        from then on.

        `pause()` is called after each some thousand lines. StoreDamaged, StoreUnavailable.
        """
        self.database.check()
        notes = self.check_notes()
        self.found_rows = [*self.damaged_rows(), *([notes] if notes else [])]
        for copy in self._copies():
            after = -1
            while (last := self._check_lines(copy, after)) > after:
                after = last
                pause()

    @reads
    def _copies(self, rows: Rows) -> list[LogRow]:
        return rows.all_copies()

    @reads
    def _check_lines(self, rows: Rows, copy: LogRow, after: int) -> int:
        """Look at some lines of a copy; the seq of the last one, -1 after the end."""
        found = rows.checks_between(copy, after, MOST_NUMBER, _CHECKED_AT_ONCE, archived=True)
        rows.intact(copy, found)
        return found[-1][0] if found else -1

    @reads
    def _read_each(self, rows: Rows) -> None:
        for table in _TABLES:
            rows.run(f"SELECT * FROM {table} LIMIT 1")

    def gauges(self) -> dict[str, float]:
        """The figures that stand now, by the names in metrics.GAUGES."""
        found: dict[str, float] = {
            "engram_devices": self.count_devices(),
            "engram_archived_records": self.count_archived(),
            "engram_database_bytes": self.size(),
            "engram_damaged_lines": sum(lines.count for lines in self.damaged()),
        }
        if uses := self.flash_uses():
            found["engram_flash_most_percent"] = max(percent(*use) or 0 for use in uses.values())
        return found

    @reads
    def size(self, rows: Rows) -> int:
        """Bytes of the database on disk, about."""
        return rows.size()


def open_store(url: str = "auto", postgres: str = "", folder: Path | str = ".") -> CompanionStore:
    """The store at a URL, opened: `sqlite:///PATH` (`sqlite:////` before an absolute path), `postgresql://...`, or `auto`,
    which is the PostgreSQL at `postgres` if that is given, else the file companion.db in a folder. What was done to the
    schema goes to the log. SettingError, StoreUnavailable.
    """
    store = choose_store(url, postgres, folder)
    for sentence in store.open():
        logging.getLogger(__name__).info(sentence)
    return store


def choose_store(url: str = "auto", postgres: str = "", folder: Path | str = ".") -> CompanionStore:
    """The store at a URL as open_store() takes it, not opened yet; SettingError."""
    return CompanionStore(_database(postgres or f"{_SQLITE}{Path(folder) / 'companion.db'}" if url == "auto" else url))


def _database(url: str) -> Database:
    if url.startswith(_SQLITE) and len(url) > len(_SQLITE):
        from engram_host.companion.store.sqlite import SqliteDatabase

        return SqliteDatabase(unquote(url.removeprefix(_SQLITE)))
    if url.startswith(_POSTGRES):
        from engram_host.companion.store.postgres import PostgresDatabase

        return PostgresDatabase(url)
    raise SettingError("store.url", "has to be auto, sqlite:///PATH or postgresql://USER@HOST/DATABASE.")
