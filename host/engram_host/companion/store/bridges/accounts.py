"""Accounts of bridges: their position in the network's messages, and the rows to remove on a change."""

from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.queries import Rows

MOST_MARK = 2000

_TABLES = ("bridge_marks", "bridge_chats", "bridge_deliveries", "bridge_files")

_MARKED = "+"
"""Prefix of users whose message ids contain the user; users of former versions have none."""


class BridgeAccountTable(DatabaseTable):
    """Marks and accounts of bridges."""

    @reads
    def bridge_mark(self, rows: Rows, bridge: str) -> str:
        found = rows.run("SELECT mark FROM bridge_marks WHERE bridge = ?", (bridge,))
        return found[0][0] if found else ""

    @writes
    def save_bridge_mark(self, rows: Rows, bridge: str, mark: str) -> None:
        sql = "INSERT INTO bridge_marks (bridge, mark) VALUES (?, ?) ON CONFLICT (bridge) DO UPDATE SET mark = excluded.mark"
        rows.run(sql, (bridge, mark[:MOST_MARK]))

    @writes
    def claim_bridge(self, rows: Rows, bridge: str, account: str) -> bool:
        """Bind a bridge to an account; True if it replaced another one, whose rows are removed."""
        found = rows.run("SELECT value FROM notes WHERE name = ?", (_account_note(bridge),))
        if found == [(account,)]:
            return False
        if found:
            _forget(rows, bridge)
        rows.run("INSERT INTO notes (name, value) VALUES (?, ?)", (_account_note(bridge), account))
        return bool(found)

    @writes
    def claim_user(self, rows: Rows, bridge: str, user: str) -> str:
        """Bind a bridge to a user; return the marker for message ids, "" for ids of former versions."""
        found = rows.run("SELECT value FROM notes WHERE name = ?", (_user_note(bridge),))
        is_unmarked = found == [(user,)] or (not found and _has_rows(rows, bridge))
        if found in ([(user,)], [(_MARKED + user,)]):
            return "" if is_unmarked else user
        if found:
            _remove_rows(rows, bridge)
            rows.run("DELETE FROM notes WHERE name = ?", (_user_note(bridge),))
        value = user if is_unmarked else _MARKED + user
        rows.run("INSERT INTO notes (name, value) VALUES (?, ?)", (_user_note(bridge), value))
        return "" if is_unmarked else user

    @writes
    def forget_bridge(self, rows: Rows, bridge: str) -> None:
        _forget(rows, bridge)


def _forget(rows: Rows, bridge: str) -> None:
    _remove_rows(rows, bridge)
    rows.run("DELETE FROM notes WHERE name IN (?, ?)", (_account_note(bridge), _user_note(bridge)))


def _remove_rows(rows: Rows, bridge: str) -> None:
    for table in _TABLES:
        rows.run(f"DELETE FROM {table} WHERE bridge = ?", (bridge,))
    rows.let_go = True


def _has_rows(rows: Rows, bridge: str) -> bool:
    return any(rows.run(f"SELECT 1 FROM {table} WHERE bridge = ? LIMIT 1", (bridge,)) for table in _TABLES)


def _account_note(bridge: str) -> str:
    return f"bridge.account.{bridge}"


def _user_note(bridge: str) -> str:
    return f"bridge.user.{bridge}"
