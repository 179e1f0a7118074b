"""Bridges: their accounts and positions in the networks' messages, and files for /import, one per chat."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engram_host.companion.bridge_types import ChatFile, ChatPlace, Delivery
from engram_host.companion.store.bridges.deliveries import PLACE, insert_delivery, place_key, place_values
from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.queries import Rows

MOST_MARK = 2000

MOST_FILES = 32

_TABLES = ("bridge_marks", "bridge_chats", "bridge_deliveries", "bridge_files")
_FILE = ("name", "data", "at", "device", "mid", "message", "ref", "room", "answered", "report")
_COLUMNS = f"bridge, chat, thread, {', '.join(_FILE)}"


class BridgeTable(DatabaseTable):
    @reads
    def bridge_mark(self, rows: Rows, bridge: str) -> str:
        found = rows.run("SELECT mark FROM bridge_marks WHERE bridge = ?", (bridge,))
        return found[0][0] if found else ""

    @writes
    def save_bridge_mark(self, rows: Rows, bridge: str, mark: str) -> None:
        rows.upsert("bridge_marks", "bridge", {"bridge": bridge, "mark": mark[:MOST_MARK]})

    @writes
    def claim_bridge(self, rows: Rows, bridge: str, account: str) -> bool:
        """Bind a bridge to an account; True if it replaced another one, whose rows are removed."""
        return _claim(rows, bridge, "account", account)

    @writes
    def claim_user(self, rows: Rows, bridge: str, user: str) -> None:
        _claim(rows, bridge, "user", user)

    @writes
    def forget_bridge(self, rows: Rows, bridge: str) -> None:
        _forget(rows, bridge)

    # --- files for /import

    @reads
    def chat_file(self, rows: Rows, place: ChatPlace) -> ChatFile | None:
        return _find(rows, place)

    @reads
    def open_imports(self, rows: Rows, bridge: str) -> list[ChatFile]:
        sql = f"SELECT {_COLUMNS} FROM bridge_files WHERE bridge = ? AND device <> '' ORDER BY chat, thread"
        return [_file(row) for row in rows.run(sql, (bridge,))]

    @writes
    def add_chat_file(self, rows: Rows, file: ChatFile) -> bool:
        former = _find(rows, file.place)
        if former and former.is_imported:
            return False
        _remove(rows, file.place)
        _insert(rows, file)
        kept = "SELECT bridge, chat, thread FROM bridge_files WHERE device = '' ORDER BY at DESC, bridge, chat, thread LIMIT ?"
        rows.run(
            f"DELETE FROM bridge_files WHERE device = '' AND (bridge, chat, thread) NOT IN ({kept})", (MOST_FILES,)
        )
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


def _claim(rows: Rows, bridge: str, kind: str, value: str) -> bool:
    name = f"bridge.{kind}.{bridge}"
    found = rows.run("SELECT value FROM notes WHERE name = ?", (name,))
    is_other = bool(found) and found != [(value,)]
    if is_other:
        _forget(rows, bridge)
    rows.upsert("notes", "name", {"name": name, "value": value})
    return is_other


def _forget(rows: Rows, bridge: str) -> None:
    for table in _TABLES:
        rows.run(f"DELETE FROM {table} WHERE bridge = ?", (bridge,))
    rows.run("DELETE FROM notes WHERE name IN (?, ?)", (f"bridge.account.{bridge}", f"bridge.user.{bridge}"))
    rows.let_go = True


def _find(rows: Rows, place: ChatPlace) -> ChatFile | None:
    found = rows.run(f"SELECT {_COLUMNS} FROM bridge_files WHERE {PLACE}", place_key(place))
    return _file(found[0]) if found else None


def _insert(rows: Rows, file: ChatFile) -> None:
    values = {name: getattr(file, name) for name in _FILE}
    rows.insert("bridge_files", place_values(file.place) | values)


def _remove(rows: Rows, place: ChatPlace) -> None:
    rows.let_go |= bool(rows.count(f"DELETE FROM bridge_files WHERE {PLACE}", place_key(place)))


def _file(row: Sequence[Any]) -> ChatFile:
    bridge, chat, thread, *more = row
    return ChatFile(ChatPlace(bridge, chat, thread), *more)
