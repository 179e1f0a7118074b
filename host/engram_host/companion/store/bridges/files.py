"""The rows of files that the owner sent into chats, until a board has them: one in each chat."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engram_host.companion.bridge_types import ChatFile, ChatPlace, Delivery
from engram_host.companion.store.bridges.deliveries import PLACE, insert_delivery, place_key
from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.queries import Rows

MOST_FILES = 32
"""In all chats: the oldest that no board is given goes."""

_COLUMNS = "bridge, chat, thread, name, data, at, device, mid, message, ref, room, answered, report"


class ChatFileTable(DatabaseTable):
    """Files for /import."""

    @reads
    def chat_file(self, rows: Rows, place: ChatPlace) -> ChatFile | None:
        """The file of a chat."""
        return _find(rows, place)

    @reads
    def open_imports(self, rows: Rows, bridge: str) -> list[ChatFile]:
        """The files that boards are given, of one bridge."""
        sql = f"SELECT {_COLUMNS} FROM bridge_files WHERE bridge = ? AND device <> '' ORDER BY chat, thread"
        return [_file(row) for row in rows.run(sql, (bridge,))]

    @writes
    def add_chat_file(self, rows: Rows, file: ChatFile) -> bool:
        """Keep a file in place of the former one of its chat; False if a board is given that now."""
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
        """Note that a board is given a file from now on; False if it is gone, or a board is given it already."""
        former = _find(rows, file.place)
        if former is None or former.is_imported:
            return False
        _remove(rows, file.place)
        _insert(rows, file)
        return True

    @writes
    def save_import(self, rows: Rows, file: ChatFile, answered: int, report: str, mid: str) -> ChatFile | None:
        """Note that the board has answered so far, and keep nothing any more of the message `mid` that it answered last; None
        if the file is not to be imported any more.
        """
        rows.run("DELETE FROM conversation_pieces WHERE device = ? AND mid = ?", (file.device, mid))
        rows.run("DELETE FROM conversations WHERE device = ? AND mid = ?", (file.device, mid))
        rows.let_go = True
        sql = f"UPDATE bridge_files SET answered = ?, report = ? WHERE {PLACE} AND mid = ?"
        if not rows.count(sql, (answered, report, *place_key(file.place), file.mid)):
            return None
        return replace(file, answered=answered, report=report)

    @reads
    def is_being_imported(self, rows: Rows, file: ChatFile) -> bool:
        """Whether a board is still given a file: it was not cancelled, and its chat is private."""
        sql = f"SELECT 1 FROM bridge_files WHERE {PLACE} AND mid = ?"
        return bool(rows.run(sql, (*place_key(file.place), file.mid)))

    @writes
    def end_import(self, rows: Rows, file: ChatFile, delivery: Delivery, now: int) -> Delivery | None:
        """Remove a file that a board has whole, and let its chat be owed the report; None if it is gone."""
        if not rows.count(f"DELETE FROM bridge_files WHERE {PLACE} AND mid = ?", (*place_key(file.place), file.mid)):
            return None
        rows.let_go = True
        return insert_delivery(rows, delivery, now)

    @writes
    def cancel_import(self, rows: Rows, place: ChatPlace) -> ChatFile | None:
        """Remove a file that a board is given; None if there is none such."""
        found = _find(rows, place)
        if found is None or not found.is_imported:
            return None
        _remove(rows, place)
        return found

    @writes
    def expire_chat_files(self, rows: Rows, since: int) -> None:
        """Remove files from before a time that no board is given."""
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
