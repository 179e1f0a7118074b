"""Browsers that are signed in on the page, and the codes of links that sign one in."""

import hmac
from collections.abc import Sequence
from typing import Any

from engram_host.companion.store.database import DatabaseTable, reads, writes
from engram_host.companion.store.page.types import PageCode, PageSession
from engram_host.companion.store.queries import Rows

MOST_SESSIONS = 1000
"""Sessions that are kept, the ones used longest ago go first: bounds what a browser without cookies can fill."""

MOST_CODES = 100
"""Codes that are kept, likewise."""

_SESSION = "digest, token, is_read_only, made, used, ends, principal"
_CODE = "digest, token, is_local, ends, principal"


class PageSessionTable(DatabaseTable):
    """Sessions and codes of the page, as their digests."""

    @writes
    def add_session(self, rows: Rows, session: PageSession) -> None:
        """Keep a session; those that have ended go."""
        sql = f"INSERT INTO page_sessions ({_SESSION}) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING"
        flag = int(session.is_read_only)
        values = (session.digest, session.token, flag, session.made, session.used, session.ends, session.principal)
        rows.run(sql, values)
        rows.run("DELETE FROM page_sessions WHERE ends <= ?", (session.made,))
        kept = "SELECT digest FROM page_sessions ORDER BY used DESC, digest LIMIT ?"
        rows.run(f"DELETE FROM page_sessions WHERE digest NOT IN ({kept})", (MOST_SESSIONS,))

    @reads
    def page_session(self, rows: Rows, digest: bytes, now: int) -> PageSession | None:
        """The session of a cookie with a SHA-256, None if there is none, or it has ended `now`."""
        found = map(_session, rows.run(f"SELECT {_SESSION} FROM page_sessions WHERE digest = ?", (digest,)))
        return next((each for each in found if hmac.compare_digest(each.digest, digest) and each.ends > now), None)

    @writes
    def mark_session_used(self, rows: Rows, digest: bytes, now: int) -> None:
        """Note that a session was used."""
        rows.run("UPDATE page_sessions SET used = ? WHERE digest = ? AND used < ?", (now, digest, now))

    @writes
    def end_session(self, rows: Rows, digest: bytes) -> bool:
        """Forget a session; whether there was one."""
        return rows.count("DELETE FROM page_sessions WHERE digest = ?", (digest,)) == 1

    @writes
    def end_sessions_of(self, rows: Rows, token: bytes) -> int:
        """Forget all sessions that began by the token with a SHA-256, and the codes of its links; how many sessions there
        were.
        """
        rows.run("DELETE FROM page_codes WHERE token = ?", (token,))
        return rows.count("DELETE FROM page_sessions WHERE token = ?", (token,))

    @writes
    def add_page_code(self, rows: Rows, code: PageCode, now: int) -> None:
        """Keep a code; those that have ended go."""
        rows.run("DELETE FROM page_codes WHERE ends <= ?", (now,))
        kept = "SELECT digest FROM page_codes ORDER BY ends DESC, digest LIMIT ?"
        rows.run(f"DELETE FROM page_codes WHERE digest NOT IN ({kept})", (MOST_CODES - 1,))
        sql = f"INSERT INTO page_codes ({_CODE}) VALUES (?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING"
        rows.run(sql, (code.digest, code.token, int(code.is_local), code.ends, code.principal))

    @writes
    def take_page_code(
        self, rows: Rows, digest: bytes, now: int, *, is_local: bool, may_be_persons: bool = True
    ) -> PageCode | None:
        """Use up a code, None if there is none or it has ended `now`. It stays, and is not given, if who shows it would have to
        be local and is not, or if it opens a person's page and may not.
        """
        where = "WHERE digest = ? AND ends > ? AND is_local <= ?" + ("" if may_be_persons else " AND principal = ''")
        values = (digest, now, int(is_local))
        found = rows.run(f"SELECT {_CODE} FROM page_codes {where}{rows.for_update}", values)
        # Two that show it at once: the one whose DELETE counts has it.
        if not found or rows.count(f"DELETE FROM page_codes {where}", values) != 1:
            return None
        kept, token, local, ends, principal = found[0]
        return PageCode(bytes(kept), bytes(token), bool(local), ends, principal)


def _session(row: Sequence[Any]) -> PageSession:
    digest, token, is_read_only, made, used, ends, principal = row
    return PageSession(bytes(digest), bytes(token), bool(is_read_only), made, used, ends, principal)


def end_pages_of(rows: Rows, principal: str) -> None:
    """Forget the sessions and links of a person's page."""
    for table in ("page_sessions", "page_codes"):
        rows.run(f"DELETE FROM {table} WHERE principal = ?", (principal,))
