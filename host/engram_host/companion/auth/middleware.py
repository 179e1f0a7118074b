"""The access check of every HTTP request: origin, caller, size, rate and the route's role."""

import asyncio
import base64
import binascii
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request
from fastapi.routing import RouteContext, iter_route_contexts
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engram_host.companion.auth.audit import ALLOWED, REFUSED, AuditLog
from engram_host.companion.auth.browsers import check_csrf, check_origin, is_navigation, with_headers
from engram_host.companion.auth.identity import STRANGER, ApiCaller, CallerLookup, FailedLogins, RateLimiter
from engram_host.companion.auth.sessions import COOKIE, BrowserSession, Sessions
from engram_host.companion.errors import StoreUnavailable

DECLARED = "x-may"

READS = "x-reads"

FORM = "x-form"

LINK = "x-link"

BODY = "x-body"

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


class Role(StrEnum):
    ANYBODY = "anybody"
    DEVICE = "device"

    OWN_DEVICE = "own device"

    OPERATOR = "operator"

    GATEWAY = "gateway"
    """Any board or the operator, always by token, since it costs money."""


_DESCRIPTION = "/openapi.json"


def requires(
    who: Role, *, reads: bool = False, form: bool = False, link: bool = False, most_body: int = 0
) -> dict[str, Any]:
    """Return a route's `openapi_extra`; `reads` marks a POST without changes."""
    flags = {READS: reads, FORM: form, LINK: link, BODY: most_body}
    return {DECLARED: str(who)} | {name: value for name, value in flags.items() if value}


@dataclass(frozen=True)
class RouteRule:
    """Access rule of a request's route; `device` is the board in its path, "" if none."""

    role: Role
    device: str = ""
    reads: bool = True
    path: str = ""
    has_form: bool = False
    has_link: bool = False
    most_body: int = 0


class RouteRules:
    def __init__(self, app: FastAPI):
        # app.routes lists an included router as one entry and hides its routes' rules.
        self._routes = [(route, _declared(route)) for route in iter_route_contexts(app.routes)]

    def find(self, scope: Scope) -> RouteRule:
        if scope["path"] == _DESCRIPTION:
            return RouteRule(Role.ANYBODY)
        of_path: RouteRule | None = None
        for route, extra in self._routes:
            match, found = route.matches(scope)
            if match is Match.NONE:
                continue
            rule = _rule_of(route.path or "", extra, found, scope["method"])
            if match is Match.FULL:
                return rule
            # Another method of this path: callers without access learn nothing about it either.
            of_path = of_path or rule
        if of_path:
            return of_path
        # Not found, which only callers with a token may know.
        return RouteRule(Role.DEVICE)


def _rule_of(path: str, extra: dict[str, Any], found: Scope, method: str) -> RouteRule:
    device = found.get("path_params", {}).get("device", "")
    reads = method in ("GET", "HEAD") or extra.get(READS, False)
    role, has_form, has_link = Role(extra.get(DECLARED, Role.OPERATOR)), extra.get(FORM, False), extra.get(LINK, False)
    return RouteRule(role, device, reads, path, has_form, has_link, extra.get(BODY, 0))


def _declared(route: RouteContext) -> dict[str, Any]:
    return getattr(route, "openapi_extra", None) or {}


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
        if caller.is_read_only and not _is_allowed(caller, rule):
            raise HTTPException(403, f"the token {caller.name} may only read what boards remember.")
        if rule.role is Role.ANYBODY or not (self._access.requires_tokens or rule.role is Role.GATEWAY):
            return caller, session
        if not caller.is_known:
            await self._note_refusal(scope, rule.device, has_token=bool(shown_token(headers)))
            raise HTTPException(401, _NO_TOKEN, {"WWW-Authenticate": "Bearer"})
        if not _is_allowed(caller, rule):
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
        outcome = ALLOWED if _is_allowed(caller, rule) else REFUSED
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


def _is_allowed(caller: ApiCaller, rule: RouteRule) -> bool:
    if caller.is_read_only:
        return rule.reads and rule.role is not Role.GATEWAY
    if caller.is_operator:
        return True
    is_own = rule.role is Role.OWN_DEVICE and caller.may_act_for(rule.device)
    return rule.role in (Role.DEVICE, Role.GATEWAY) or is_own


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


async def _caller(request: Request) -> ApiCaller:
    # async, or each request would wait for a thread.
    state: Any = request.state
    return getattr(state, "caller", STRANGER)


RequestCaller = Annotated[ApiCaller, Depends(_caller)]
