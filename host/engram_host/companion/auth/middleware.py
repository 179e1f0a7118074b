"""The check of every HTTP request: origin, caller, size, rate, the route's role and the CSRF token; headers of answers."""

import asyncio
import base64
import binascii
import ipaddress
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request, cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engram_host.companion.auth.access import (
    ALLOWED,
    REFUSED,
    ApiCaller,
    AuditLog,
    CallerLookup,
    FailedLogins,
    RateLimiter,
    Role,
    RouteRule,
    RouteRules,
    is_allowed,
)
from engram_host.companion.auth.sessions import COOKIE, CSRF_FIELD, CSRF_HEADER, BrowserSession, Sessions
from engram_host.companion.errors import StoreUnavailable

_FIGURES = frozenset(
    {
        "/v1/health",
        "/v1/alive",
        "/v1/stats",
        "/metrics",
        "/docs",
        "/openapi.json",
        "/static/{name}",
        "/signin",
        "/session",
    }
)
"""Routes without private data that are polled; they are not audited."""


# --- the check


_log = logging.getLogger("engram.security")

MOST_AT_ONCE = 1024

MOST_BODY = 1 << 20

BODY_SECONDS = 30.0

MakeRefusal = Callable[[Scope, int, str, dict[str, str]], Response]


@dataclass(frozen=True)
class HttpAccess:
    callers: CallerLookup
    sessions: Sessions
    requires_tokens: bool
    names: frozenset[str]
    rate_limiter: RateLimiter
    failed_logins: FailedLogins
    audit: AuditLog

    def check_rate(self, device: str) -> None:
        wait = self.rate_limiter.wait_seconds(device)
        if wait:
            sentence = f"{device} sends too much: try again later."
            raise HTTPException(429, sentence, {"Retry-After": str(math.ceil(wait))})

    def may_use_all(self, caller: ApiCaller) -> bool:
        """True for an operator, and for anyone if tokens are not required."""
        return caller.is_operator or not (self.requires_tokens or caller.device)


class AuthMiddleware:
    """ASGI middleware that sets `request.state.caller` and `request.state.session` (or None)."""

    def __init__(self, app: ASGIApp, api: FastAPI, access: HttpAccess, refuse: MakeRefusal):
        self._app = app
        self._rules = RouteRules(api)
        self._access = access
        self._refuse = refuse
        self._at_work = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # there are no WebSockets; a lifespan is not used
        state = scope.setdefault("state", {})
        state["session"] = None
        body = _Body(receive)
        try:
            rule = self._rules.find(scope)
            caller, session = await self._checked(scope, rule)
            state["session"] = session
            body.extend(rule.most_body)
            is_open = rule.role is Role.ANYBODY or caller.is_known
            # Such a browser sends no cookie, so its form has no CSRF token.
            shown_session = None if rule.has_link else session
            taken = await check_csrf(scope, body, shown_session, has_form=rule.has_form, is_open=is_open)
        except HTTPException as problem:
            answer = self._refuse(scope, problem.status_code, problem.detail, dict(problem.headers or {}))
            await answer(scope, receive, send)
            return
        state["caller"] = caller
        self._at_work += 1
        try:
            await self._app(scope, taken, with_headers(send))
        finally:
            self._at_work -= 1

    async def _checked(self, scope: Scope, rule: RouteRule) -> tuple[ApiCaller, BrowserSession | None]:
        if self._at_work >= MOST_AT_ONCE:
            raise HTTPException(503, "the companion answers too many requests now: try again.", {"Retry-After": "5"})
        headers = Headers(scope=scope)
        check_framing(headers)
        # With tokens required, a page led here by another name has none to show.
        is_link = rule.has_link and scope["method"] == "GET" and is_navigation(headers)
        check_origin(headers, None if self._access.requires_tokens else self._access.names, is_link=is_link)
        try:
            session = scope["state"]["session"] = await self._session(headers)
            caller = session.caller if session else await self._access.callers.by_token(shown_token(headers))
            await self._note(caller, rule, scope)
        except StoreUnavailable as problem:
            _log.warning("a token could not be looked up: %s", problem)
            raise HTTPException(503, problem.public, {"Retry-After": "15"}) from None
        if caller.device:
            self._access.check_rate(caller.device)
        if caller.is_read_only and not is_allowed(caller, rule):
            raise HTTPException(403, f"the token {caller.name} may only read what boards remember.")
        if rule.role is Role.ANYBODY or not (self._access.requires_tokens or rule.role is Role.GATEWAY):
            return caller, session
        if not caller.is_known:
            await self._note_refusal(scope, rule.device, has_token=bool(shown_token(headers)))
            raise HTTPException(401, _NO_TOKEN, {"WWW-Authenticate": "Bearer"})
        if not is_allowed(caller, rule):
            line = "%s %r refused to %s"
            _log.warning(line, scope["method"], scope["path"][:200], caller.device)
            raise HTTPException(403, f"the token is that of {caller.device}, which may not do this.")
        return caller, session

    async def _session(self, headers: Headers) -> BrowserSession | None:
        if "authorization" in headers or "x-api-key" in headers or "cookie" not in headers:
            return None
        return await self._access.sessions.find(cookie_parser(headers["cookie"]).get(COOKIE, ""))

    async def _note(self, caller: ApiCaller, rule: RouteRule, scope: Scope) -> None:
        if not caller.is_operator or not rule.path or rule.path in _FIGURES:
            return
        action = f"{scope['method']} {rule.path.replace('{device}', rule.device)}"
        client = scope.get("client")
        outcome = ALLOWED if is_allowed(caller, rule) else REFUSED
        await self._access.audit.note(caller, action, outcome, client[0] if client else "")

    async def _note_refusal(self, scope: Scope, device: str, *, has_token: bool) -> None:
        address = (scope.get("client") or ("an unknown address", 0))[0]
        if has_token:
            await self._access.failed_logins.note(address, device)
        else:
            line = "%s %r from %s refused: no token"
            _log.info(line, scope["method"], scope["path"][:200], address)


_NO_TOKEN = (
    "a token is asked for, in the header Authorization: Bearer TOKEN. `engram device add NAME` makes one for a board; the "
    "operator's is in operator.token in the companion's folder."
)


def shown_token(headers: Headers) -> str:
    """Return the token of a Bearer, Basic or x-api-key header, or ""."""
    kind, _, value = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    if kind.lower() == "basic":
        try:
            return base64.b64decode(value, validate=True).decode("ascii").partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return headers.get("x-api-key", "").strip() if not kind else ""


def check_framing(headers: Headers) -> None:
    """Refuse a request with two lengths, which proxies may interpret differently."""
    if "content-length" in headers and "transfer-encoding" in headers:
        raise HTTPException(400, "a request has Content-Length or Transfer-Encoding, not both.", _CLOSE)


# --- bodies


class _Body:
    """A request's body with limits of size and time; exceeding them raises HTTPException."""

    def __init__(self, receive: Receive):
        self._receive = receive
        self._most = self._left = MOST_BODY
        self._until: float | None = None
        self._is_whole = False

    def extend(self, most: int) -> None:
        self._most = self._left = max(most, MOST_BODY)

    async def __call__(self) -> Message:
        if self._is_whole:
            return await self._receive()
        loop = asyncio.get_running_loop()
        self._until = self._until or loop.time() + BODY_SECONDS
        try:
            async with asyncio.timeout_at(self._until):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, f"the request did not arrive within {BODY_SECONDS:.0f} seconds.", _CLOSE) from None
        self._left -= len(message.get("body", b""))
        if self._left < 0:
            raise HTTPException(413, f"a request has at most {self._most} bytes.", _CLOSE)
        self._is_whole = not message.get("more_body", False)
        return message


_CLOSE = {"Connection": "close"}


# --- browsers


MOST_FIELDS = 200

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

_NO_SESSION = "the page is not signed in any more: load it again, then send this once more."
_NO_CSRF = (
    "a browser that is signed in shows its session's CSRF token with all that changes something, in the header "
    "X-CSRF-Token: load the page again, then send this once more."
)

_OWN = ((b"x-content-type-options", b"nosniff"), (b"cross-origin-resource-policy", b"same-origin"))


# --- where a request comes from


def is_cross_site(headers: Headers) -> bool:
    """True if another site's page caused a request."""
    return headers.get("sec-fetch-site") == "cross-site"


def is_navigation(headers: Headers) -> bool:
    """True if a browser shows the answer as a page, not as a frame, picture or script."""
    return (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")


def check_origin(headers: Headers, names: frozenset[str] | None, *, is_link: bool = False) -> None:
    """Refuse cross-site requests except followed links (`is_link`), and foreign host names."""
    host = headers.get("host", "")
    if names is not None and not is_own_name(_split(f"//{host}").hostname or "", names):
        raise HTTPException(
            403,
            "the companion is not known by the name in the header Host: use its address, or add it to security.hosts.",
        )
    origin = headers.get("origin")
    is_other_page = origin is not None and _split(origin).netloc.lower() != host.lower()
    if is_other_page or (is_cross_site(headers) and not is_link):
        raise HTTPException(403, "a page of another site may not use the companion.")


def is_own_name(name: str, names: frozenset[str]) -> bool:
    """True for an address, localhost, or one of `names`."""
    if name == "localhost" or name in names:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


# --- CSRF tokens


async def check_csrf(
    scope: Scope, body: Receive, session: BrowserSession | None, *, has_form: bool, is_open: bool
) -> Receive:
    """Check the CSRF token of a change by cookie; return a replayable body. Raise HTTPException."""
    if scope["method"] in _SAFE:
        return body
    if session is None:
        if has_form and not is_open:
            raise HTTPException(403, _NO_SESSION)
        return body
    if session.has_csrf(Headers(scope=scope).get(CSRF_HEADER, "")):
        return body
    if has_form:
        shown, again = await _shown_in_form(scope, body)
        if session.has_csrf(shown):
            return again
    raise HTTPException(403, _NO_CSRF)


async def _shown_in_form(scope: Scope, body: Receive) -> tuple[str, Receive]:
    pieces: list[bytes] = []
    has_more = True
    while has_more:
        message = await body()
        if message["type"] == "http.disconnect":
            raise HTTPException(400, "the request ended before its body did.", {"Connection": "close"})
        pieces.append(message.get("body", b""))
        has_more = message.get("more_body", False)
    whole = b"".join(pieces)
    async with Request(scope, _replay(whole, body)).form(max_files=1, max_fields=MOST_FIELDS) as form:
        shown = form.get(CSRF_FIELD, "")
    return shown if isinstance(shown, str) else "", _replay(whole, body)


def _replay(whole: bytes, after: Receive) -> Receive:
    waiting: list[Message] = [{"type": "http.request", "body": whole, "more_body": False}]

    async def receive() -> Message:
        return waiting.pop() if waiting else await after()

    return receive


# --- headers of answers


def with_headers(send: Send) -> Send:
    """Return a sender that adds the headers and strips hosts from redirects."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = list(message["headers"])
            if message["status"] // 100 == 3:
                headers = [(name, _path_of(value) if name.lower() == b"location" else value) for name, value in headers]
            names = {name.lower() for name, _ in headers}
            message["headers"] = headers + [(name, value) for name, value in _OWN if name not in names]
        await send(message)

    return sent


def _path_of(location: bytes) -> bytes:
    try:
        parts = urlsplit(location.decode("latin-1"))
    except ValueError:
        return b"/"
    path = "/" + parts.path.lstrip("/")
    where = f"{path}?{parts.query}" if parts.query else path
    return (f"{where}#{parts.fragment}" if parts.fragment else where).encode("latin-1")
