"""Files that the owner sent into chats for /import, one per chat, until a board has them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engram_host.companion.bridge_types import ChatFile, ChatPlace, Delivery
from engram_host.companion.store.bridges.deliveries import PLACE, insert_delivery, place_key
from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.queries import Rows

MOST_FILES = 32

_COLUMNS = "bridge, chat, thread, name, data, at, device, mid, message, ref, room, answered, report"


class ChatFileTable(DatabaseTable):
    """Files for /import."""

    @reads
    def chat_file(self, rows: Rows, place: ChatPlace) -> ChatFile | None:
        return _find(rows, place)

    @reads
    def open_imports(self, rows: Rows, bridge: str) -> list[ChatFile]:
        sql = f"SELECT {_COLUMNS} FROM bridge_files WHERE bridge = ? AND device <> '' ORDER BY chat, thread"
        return [_file(row) for row in rows.run(sql, (bridge,))]

    @writes
    def add_chat_file(self, rows: Rows, file: ChatFile) -> bool:
        """Store a file in place of the chat's former one; False while that one is being imported."""
        former = _find(rows, file.place)
        if former and former.is_imported:
            return False
        _remove(rows, file.place)
        _insert(rows, file)
        sql = (
            "SELECT bridge, chat, thread FROM bridge_files WHERE device = '' ORDER BY at DESC, bridge, chat, thread "
            "LIMIT 1000 OFFSET ?"
        )
        for key in rows.run(sql, (MOST_FILES,)):
            rows.run(f"DELETE FROM bridge_files WHERE {PLACE}", key)
        return True

    @writes
    def begin_import(self, rows: Rows, file: ChatFile) -> bool:
        """Start an import; False if the file is gone or its import runs already."""
        former = _find(rows, file.place)
        if former is None or former.is_imported:
            return False
        _remove(rows, file.place)
        _insert(rows, file)
        return True

    @writes
    def save_import(self, rows: Rows, file: ChatFile, answered: int, report: str, mid: str) -> ChatFile | None:
        """Save an import's progress and remove the answered message; None if the import was cancelled."""
        rows.run("DELETE FROM conversation_pieces WHERE device = ? AND mid = ?", (file.device, mid))
        rows.run("DELETE FROM conversations WHERE device = ? AND mid = ?", (file.device, mid))
        rows.let_go = True
        sql = f"UPDATE bridge_files SET answered = ?, report = ? WHERE {PLACE} AND mid = ?"
        if not rows.count(sql, (answered, report, *place_key(file.place), file.mid)):
            return None
        return replace(file, answered=answered, report=report)

    @reads
    def is_being_imported(self, rows: Rows, file: ChatFile) -> bool:
        sql = f"SELECT 1 FROM bridge_files WHERE {PLACE} AND mid = ?"
        return bool(rows.run(sql, (*place_key(file.place), file.mid)))

    @writes
    def end_import(self, rows: Rows, file: ChatFile, delivery: Delivery, now: int) -> Delivery | None:
        if not rows.count(f"DELETE FROM bridge_files WHERE {PLACE} AND mid = ?", (*place_key(file.place), file.mid)):
            return None
        rows.let_go = True
        return insert_delivery(rows, delivery, now)

    @writes
    def cancel_import(self, rows: Rows, place: ChatPlace) -> ChatFile | None:
        found = _find(rows, place)
        if found is None or not found.is_imported:
            return None
        _remove(rows, place)
        return found

    @writes
    def expire_chat_files(self, rows: Rows, since: int) -> None:
        rows.let_go |= bool(rows.count("DELETE FROM bridge_files WHERE device = '' AND at < ?", (since,)))


def _find(rows: Rows, place: ChatPlace) -> ChatFile | None:
    found = rows.run(f"SELECT {_COLUMNS} FROM bridge_files WHERE {PLACE}", place_key(place))
    return _file(found[0]) if found else None


def _insert(rows: Rows, file: ChatFile) -> None:
    values = (
        *place_key(file.place),
        file.name,
        file.data,
        file.at,
        file.device,
        file.mid,
        file.message,
        file.ref,
        file.room,
    )
    marks = ", ".join("?" * (len(values) + 2))
    rows.run(f"INSERT INTO bridge_files ({_COLUMNS}) VALUES ({marks})", (*values, file.answered, file.report))


def _remove(rows: Rows, place: ChatPlace) -> None:
    rows.let_go |= bool(rows.count(f"DELETE FROM bridge_files WHERE {PLACE}", place_key(place)))


def _file(row: Sequence[Any]) -> ChatFile:
    bridge, chat, thread, name, data, *more = row
    return ChatFile(ChatPlace(bridge, chat, thread), name, bytes(data), *more)
