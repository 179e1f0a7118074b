"""Browser sessions of the page, and one-time codes of sign-in links."""

import hmac
from collections.abc import Sequence
from typing import Any

from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.page.types import PageCode, PageSession
from engram_host.companion.store.queries import Rows

MOST_SESSIONS = 1000

MOST_CODES = 100

_SESSION = "digest, token, is_read_only, made, used, ends, principal"
_CODE = "digest, token, is_local, ends, principal"


class PageSessionTable(DatabaseTable):
    """Sessions and codes of the page, by digest."""

    @writes
    def add_session(self, rows: Rows, session: PageSession) -> None:
        sql = f"INSERT INTO page_sessions ({_SESSION}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING"
        flag = int(session.is_read_only)
        values = (session.digest, session.token, flag, session.made, session.used, session.ends, session.principal)
        rows.run(sql, values)
        rows.run("DELETE FROM page_sessions WHERE ends <= ?", (session.made,))
        kept = "SELECT digest FROM page_sessions ORDER BY used DESC, digest LIMIT ?"
        rows.run(f"DELETE FROM page_sessions WHERE digest NOT IN ({kept})", (MOST_SESSIONS,))

    @reads
    def page_session(self, rows: Rows, digest: bytes, now: int) -> PageSession | None:
        """Return the session by its cookie's SHA-256, None if it is unknown or has ended `now`."""
        found = map(_session, rows.run(f"SELECT {_SESSION} FROM page_sessions WHERE digest = ?", (digest,)))
        return next((each for each in found if hmac.compare_digest(each.digest, digest) and each.ends > now), None)

    @writes
    def mark_session_used(self, rows: Rows, digest: bytes, now: int) -> None:
        rows.run("UPDATE page_sessions SET used = ? WHERE digest = ? AND used < ?", (now, digest, now))

    @writes
    def end_session(self, rows: Rows, digest: bytes) -> bool:
        return rows.count("DELETE FROM page_sessions WHERE digest = ?", (digest,)) == 1

    @writes
    def end_sessions_of(self, rows: Rows, token: bytes) -> int:
        """Delete the sessions and links of a token, by SHA-256; return the number of sessions."""
        rows.run("DELETE FROM page_codes WHERE token = ?", (token,))
        return rows.count("DELETE FROM page_sessions WHERE token = ?", (token,))

    @writes
    def add_page_code(self, rows: Rows, code: PageCode, now: int) -> None:
        rows.run("DELETE FROM page_codes WHERE ends <= ?", (now,))
        kept = "SELECT digest FROM page_codes ORDER BY ends DESC, digest LIMIT ?"
        rows.run(f"DELETE FROM page_codes WHERE digest NOT IN ({kept})", (MOST_CODES - 1,))
        sql = f"INSERT INTO page_codes ({_CODE}) VALUES (?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING"
        rows.run(sql, (code.digest, code.token, int(code.is_local), code.ends, code.principal))

    @writes
    def take_page_code(
        self, rows: Rows, digest: bytes, now: int, *, is_local: bool, may_be_persons: bool = True
    ) -> PageCode | None:
        """Use a code up, or return None; one that this client may not use stays valid."""
        where = "WHERE digest = ? AND ends > ? AND is_local <= ?" + ("" if may_be_persons else " AND principal = ''")
        values = (digest, now, int(is_local))
        found = rows.run(f"SELECT {_CODE} FROM page_codes {where}{rows.for_update}", values)
        # Of two concurrent uses, the one whose DELETE counts wins.
        if not found or rows.count(f"DELETE FROM page_codes {where}", values) != 1:
            return None
        kept, token, local, ends, principal = found[0]
        return PageCode(bytes(kept), bytes(token), bool(local), ends, principal)


def _session(row: Sequence[Any]) -> PageSession:
    digest, token, is_read_only, made, used, ends, principal = row
    return PageSession(bytes(digest), bytes(token), bool(is_read_only), made, used, ends, principal)


def end_pages_of(rows: Rows, principal: str) -> None:
    """Delete the sessions and links of a person's page."""
    for table in ("page_sessions", "page_codes"):
        rows.run(f"DELETE FROM {table} WHERE principal = ?", (principal,))
