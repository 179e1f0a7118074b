"""The companion's store: tables on SQLite or PostgreSQL, with the same statements."""

import logging
from urllib.parse import unquote

from engram_host.companion.errors import SettingError
from engram_host.companion.store.board_notes import NoteFileTable
from engram_host.companion.store.boards.replica import ReplicationTable
from engram_host.companion.store.boards.status import BoardStatusTable
from engram_host.companion.store.boards.table import BoardTable
from engram_host.companion.store.bridges.deliveries import DeliveryTable
from engram_host.companion.store.bridges.people import PeopleTable
from engram_host.companion.store.conversations.table import ConversationTable
from engram_host.companion.store.database import Database
from engram_host.companion.store.health import HealthTable
from engram_host.companion.store.markdown_files import FolderTable
from engram_host.companion.store.media import MediaTable
from engram_host.companion.store.removal import RemovalTable
from engram_host.companion.store.senses.table import SenseTable
from engram_host.companion.store.tokens import AuditTable, GatewayUseTable, PageSessionTable, TokenTable
from engram_host.companion.store.values import ValueTable
from engram_host.companion.store.vectors import VectorTable

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


class CompanionStore:
    """All tables on one database; calls block, are safe for threads, and may raise StoreUnavailable."""

    def __init__(self, database: Database):
        self.database = database
        self.audit = AuditTable(database)
        self.boards = BoardTable(database)
        self.conversations = ConversationTable(database)
        self.deliveries = DeliveryTable(database)
        self.folders = FolderTable(database)
        self.gateway = GatewayUseTable(database)
        self.health = HealthTable(database)
        self.media = MediaTable(database)
        self.notes = NoteFileTable(database)
        self.people = PeopleTable(database)
        self.removal = RemovalTable(database)
        self.replication = ReplicationTable(database)
        self.senses = SenseTable(database)
        self.sessions = PageSessionTable(database)
        self.status = BoardStatusTable(database)
        self.tokens = TokenTable(database)
        self.values = ValueTable(database)
        self.vectors = VectorTable(database)

    def open(self) -> list[str]:
        self.database.connect()
        return self.database.migrate()

    def close(self) -> None:
        self.database.close()


def open_store(url: str) -> CompanionStore:
    store = choose_store(url)
    for sentence in store.open():
        logging.getLogger(__name__).info(sentence)
    return store


def choose_store(url: str) -> CompanionStore:
    return CompanionStore(_database(url))


def _database(url: str) -> Database:
    if url.startswith(_SQLITE) and len(url) > len(_SQLITE):
        from engram_host.companion.store.sqlite import SqliteDatabase

        return SqliteDatabase(unquote(url.removeprefix(_SQLITE)))
    if url.startswith(_POSTGRES):
        from engram_host.companion.store.postgres import PostgresDatabase

        return PostgresDatabase(url)
    raise SettingError("store.url", "has to be sqlite:///PATH or postgresql://USER@HOST/DATABASE.")
