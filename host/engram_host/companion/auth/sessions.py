"""Sessions of browsers on the page: a cookie in the place of a token, and codes of links that begin one.

A browser sends a cookie by itself, whoever made the request. So all that changes something needs the session's CSRF token as
well, which only a page of the companion's own knows.
"""

import asyncio
import hashlib
import hmac
import time
from dataclasses import dataclass, replace
from typing import Protocol

from engram_host.companion.auth.identity import ApiCaller, CallerLookup
from engram_host.companion.auth.tokens import LOOKS_LIKE_TOKEN, new_token, token_digest
from engram_host.companion.bridge_types import Person
from engram_host.companion.store.page.sessions import PageSessionTable
from engram_host.companion.store.page.types import PageCode, PageSession

COOKIE = "engram_session"
CSRF_HEADER = "x-csrf-token"
CSRF_FIELD = "csrf"
"""Where a request by cookie shows its session's CSRF token: in the header, or in a form's field of the page."""

SESSION_SECONDS = 30 * 86400
CODE_SECONDS = 600
PERSON_CODE_SECONDS = 86400
"""How long the link of a person's page is good: it is sent to them."""

_NOTED_SECONDS = 3600
"""How exact it is noted when a session was used last."""

NO_TOKEN = b""
"""The digest of the token of a session that began where none is asked for: it is good for as long as that is so."""


@dataclass(frozen=True)
class BrowserSession:
    """The session of a request: who asks by it, and its CSRF token."""

    row: PageSession
    caller: ApiCaller
    csrf: str

    def has_csrf(self, shown: str) -> bool:
        """Whether a request shows this session's CSRF token."""
        return hmac.compare_digest(self.csrf.encode(), shown.encode("utf-8", "surrogatepass"))


def csrf_token(cookie: str) -> str:
    """The CSRF token of a session, made of its cookie's value, so that nobody has to keep it."""
    return hmac.new(cookie.encode(), b"csrf", hashlib.sha256).hexdigest()


class PersonLookup(Protocol):
    """Knows people."""

    def person_of(self, principal: str) -> Person | None:
        """The person with a principal. StoreUnavailable."""
        ...


class Sessions:
    """Begins, knows and ends sessions. StoreUnavailable from any call."""

    def __init__(self, table: PageSessionTable, callers: CallerLookup, people: PersonLookup, *, requires_tokens: bool):
        self._table = table
        self._people = people
        self._callers = callers
        self._requires_tokens = requires_tokens

    async def find(self, cookie: str) -> BrowserSession | None:
        """The session of a cookie, None if it is none, has ended, or its token has."""
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
        """Who asks by a session: its person if they may still talk, or whoever has its token now."""
        if row.principal:
            person = await asyncio.to_thread(self._people.person_of, row.principal)
            may_look = person is not None and not person.is_blocked
            return ApiCaller(is_browser=True, principal=row.principal) if may_look else None
        if row.token == NO_TOKEN:
            return None if self._requires_tokens else ApiCaller(is_browser=True, is_read_only=row.is_read_only)
        caller = await self._callers.by_digest(row.token)
        if not caller.is_operator:
            return None
        return replace(caller, is_browser=True, is_read_only=caller.is_read_only or row.is_read_only)

    async def begin_by_token(self, token: str) -> tuple[str, BrowserSession] | None:
        """Begin a session by an operator's token: its cookie's value; None if it is no such token."""
        caller = await self._callers.by_token(token)
        return await self.begin(token_digest(token)) if caller.is_operator else None

    async def begin_by_code(
        self, code: str, *, is_local: bool, may_be_persons: bool = True
    ) -> tuple[str, BrowserSession] | None:
        """Begin a session by a link's code, which is used up; None if it is not good, or not any more, or if it opens a
        person's page and may not.
        """
        if not LOOKS_LIKE_TOKEN.fullmatch(code):
            return None
        now = int(time.time())
        flags = {"is_local": is_local, "may_be_persons": may_be_persons}
        taken = await asyncio.to_thread(self._table.take_page_code, token_digest(code), now, **flags)
        return await self.begin(taken.token, principal=taken.principal) if taken else None

    async def begin(
        self, token: bytes, *, is_read_only: bool = False, principal: str = ""
    ) -> tuple[str, BrowserSession] | None:
        """Begin a session of the token with a SHA-256, or NO_TOKEN, or of a person: its cookie's value; None if nobody has that
        token, or the person may not talk.
        """
        cookie, now = new_token(), int(time.time())
        row = PageSession(token_digest(cookie), token, is_read_only, now, now, now + SESSION_SECONDS, principal)
        caller = await self._caller(row)
        if caller is None:
            return None
        await asyncio.to_thread(self._table.add_session, row)
        return cookie, BrowserSession(row, caller, csrf_token(cookie))

    async def make_person_path(self, principal: str) -> str:
        """Make the path of a link that opens a person's page once, in any browser."""
        code, now = new_token(), int(time.time())
        row = PageCode(token_digest(code), person_digest(principal), False, now + PERSON_CODE_SECONDS, principal)
        await asyncio.to_thread(self._table.add_page_code, row, now)
        return f"/signin?code={code}"

    async def end(self, session: BrowserSession) -> None:
        """End a session."""
        await asyncio.to_thread(self._table.end_session, session.row.digest)

    async def end_all(self, session: BrowserSession) -> int:
        """End all sessions of the token of one, and its unused links; how many sessions there were."""
        return await asyncio.to_thread(self._table.end_sessions_of, session.row.token)

    async def end_all_of(self, token: str) -> int:
        """End all sessions of a token, "" for those that began without one, and its unused links; how many there were."""
        return await asyncio.to_thread(self._table.end_sessions_of, token_digest(token) if token else NO_TOKEN)


def person_digest(principal: str) -> bytes:
    """What the sessions of a person have in the place of a token's SHA-256; no token is written so."""
    return token_digest(f"person {principal}")


def make_sign_in_path(table: PageSessionTable, token: bytes, *, is_local: bool) -> str:
    """Make the path of a link that signs a browser in once, as whoever has the token with a SHA-256; `is_local`: only on the
    companion's own computer. StoreUnavailable.
    """
    code, now = new_token(), int(time.time())
    table.add_page_code(PageCode(token_digest(code), token, is_local, now + CODE_SECONDS), now)
    return f"/signin?code={code}"
