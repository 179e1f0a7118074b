"""The companion's store: one set of tables and rules on SQLite or PostgreSQL."""

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
_CHECKED_AT_ONCE = 2000

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
    """All tables on one database; calls block, are safe for threads, and may raise StoreUnavailable."""

    found_rows: Sequence[str] = ()
    """Damage that the last check found, in sentences: a full check is too slow for each request."""

    def open(self) -> list[str]:
        self.database.connect()
        return self.database.migrate()

    def close(self) -> None:
        self.database.close()

    def probe(self) -> list[str]:
        """Write a note and read a row of each table; return warnings, or raise StoreUnavailable."""
        self.put("probe", str(int(time.time())))
        self._read_each()
        lines = [lines.sentence for lines in self.damaged()]
        return [*self.database.warnings(), *lines, *self.found_rows]

    def check(self, pause: Callable[[], None] = lambda: None) -> None:
        """Check all pages and lines, former epochs too; call `pause` after each few thousand lines."""
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
        found = rows.checks_between(copy, after, MOST_NUMBER, _CHECKED_AT_ONCE, archived=True)
        rows.intact(copy, found)
        return found[-1][0] if found else -1

    @reads
    def _read_each(self, rows: Rows) -> None:
        for table in _TABLES:
            rows.run(f"SELECT * FROM {table} LIMIT 1")

    def gauges(self) -> dict[str, float]:
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
        return rows.size()


def open_store(url: str = "auto", postgres: str = "", folder: Path | str = ".") -> CompanionStore:
    """Open the store at a URL; "auto" prefers `postgres` to companion.db in `folder`."""
    store = choose_store(url, postgres, folder)
    for sentence in store.open():
        logging.getLogger(__name__).info(sentence)
    return store


def choose_store(url: str = "auto", postgres: str = "", folder: Path | str = ".") -> CompanionStore:
    """Return the unopened store of a URL, as for open_store(), or raise SettingError."""
    return CompanionStore(_database(postgres or f"{_SQLITE}{Path(folder) / 'companion.db'}" if url == "auto" else url))


def _database(url: str) -> Database:
    if url.startswith(_SQLITE) and len(url) > len(_SQLITE):
        from engram_host.companion.store.sqlite import SqliteDatabase

        return SqliteDatabase(unquote(url.removeprefix(_SQLITE)))
    if url.startswith(_POSTGRES):
        from engram_host.companion.store.postgres import PostgresDatabase

        return PostgresDatabase(url)
    raise SettingError("store.url", "has to be auto, sqlite:///PATH or postgresql://USER@HOST/DATABASE.")
