"""Browser sessions: a cookie instead of a token, and links with a code to begin one.

Browsers send cookies with cross-site requests too, so changes also need the session's CSRF token,
which only the companion's own pages know.
"""

import asyncio
import hashlib
import hmac
import time
from dataclasses import dataclass, replace

from engram_host.companion.auth.access import ApiCaller, CallerLookup
from engram_host.companion.auth.tokens import LOOKS_LIKE_TOKEN, new_token, token_digest
from engram_host.companion.store.tokens import PageCode, PageSession, PageSessionTable

COOKIE = "engram_session"
CSRF_HEADER = "x-csrf-token"
CSRF_FIELD = "csrf"

SESSION_SECONDS = 30 * 86400
CODE_SECONDS = 600

_NOTED_SECONDS = 3600

NO_TOKEN = b""


@dataclass(frozen=True)
class BrowserSession:
    row: PageSession
    caller: ApiCaller
    csrf: str

    def has_csrf(self, shown: str) -> bool:
        return hmac.compare_digest(self.csrf.encode(), shown.encode("utf-8", "surrogatepass"))


def csrf_token(cookie: str) -> str:
    """Return the CSRF token derived from a cookie, so that none is stored."""
    return hmac.new(cookie.encode(), b"csrf", hashlib.sha256).hexdigest()


class Sessions:
    """Browser sessions; any call may raise StoreUnavailable."""

    def __init__(self, table: PageSessionTable, callers: CallerLookup, *, requires_tokens: bool):
        self._table = table
        self._callers = callers
        self._requires_tokens = requires_tokens

    async def find(self, cookie: str) -> BrowserSession | None:
        if not LOOKS_LIKE_TOKEN.fullmatch(cookie):
            return None
        now = int(time.time())
        row = await asyncio.to_thread(self._table.page_session, token_digest(cookie), now)
        caller = await self._caller(row) if row else None
        if row is None or caller is None:
            return None
        if now - row.used > _NOTED_SECONDS:
            await asyncio.to_thread(self._table.mark_session_used, row.digest, now)
        return BrowserSession(row, caller, csrf_token(cookie))

    async def _caller(self, row: PageSession) -> ApiCaller | None:
        if row.token == NO_TOKEN:
            return None if self._requires_tokens else ApiCaller(is_read_only=row.is_read_only)
        caller = await self._callers.by_digest(row.token)
        if not caller.is_operator:
            return None
        return replace(caller, is_read_only=caller.is_read_only or row.is_read_only)

    async def begin_by_token(self, token: str) -> tuple[str, BrowserSession] | None:
        caller = await self._callers.by_token(token)
        return await self.begin(token_digest(token)) if caller.is_operator else None

    async def begin_by_code(self, code: str, *, is_local: bool) -> tuple[str, BrowserSession] | None:
        """Use up a link's code and return (cookie, session), or None if it is invalid."""
        if not LOOKS_LIKE_TOKEN.fullmatch(code):
            return None
        now = int(time.time())
        taken = await asyncio.to_thread(self._table.take_page_code, token_digest(code), now, is_local=is_local)
        return await self.begin(taken.token) if taken else None

    async def begin(self, token: bytes, *, is_read_only: bool = False) -> tuple[str, BrowserSession] | None:
        """Return (cookie, session) for a token digest or NO_TOKEN, or None."""
        cookie, now = new_token(), int(time.time())
        row = PageSession(token_digest(cookie), token, is_read_only, now, now, now + SESSION_SECONDS)
        caller = await self._caller(row)
        if caller is None:
            return None
        await asyncio.to_thread(self._table.add_session, row)
        return cookie, BrowserSession(row, caller, csrf_token(cookie))

    async def end(self, session: BrowserSession) -> None:
        await asyncio.to_thread(self._table.end_session, session.row.digest)

    async def end_all(self, token: bytes) -> int:
        """End all sessions and links of a token's digest, or of NO_TOKEN; return the number of sessions."""
        return await asyncio.to_thread(self._table.end_sessions_of, token)


def make_sign_in_path(table: PageSessionTable, token: bytes, *, is_local: bool) -> str:
    """Return a single-use sign-in path; `is_local` limits it to this computer."""
    code, now = new_token(), int(time.time())
    table.add_page_code(PageCode(token_digest(code), token, is_local, now + CODE_SECONDS), now)
    return f"/signin?code={code}"
