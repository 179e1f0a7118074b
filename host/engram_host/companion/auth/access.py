"""Callers over HTTP: what the routes let them do, bounds on what they ask, and the log of what operators did."""

import asyncio
import hmac
import ipaddress
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Request
from fastapi.routing import iter_route_contexts
from starlette.routing import Match
from starlette.types import Scope

from engram_host.companion.auth.tokens import LOOKS_LIKE_TOKEN, OPERATOR_NAME, token_digest
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store.tokens import AuditTable, TokenTable
from engram_host.companion.types import AuditEntry, BoundedDict

_log = logging.getLogger("engram.security")

# --- callers


SECONDS_KEPT = 1.0
"""Cache time of a token: a removed one is valid this much longer."""

MOST_KEPT = 4096


@dataclass(frozen=True)
class ApiCaller:
    """A caller: an operator by `name`, a board, or a stranger."""

    device: str = ""
    is_operator: bool = False
    name: str = ""
    is_read_only: bool = False

    @property
    def is_known(self) -> bool:
        return self.is_operator or bool(self.device)

    def may_act_for(self, device: str) -> bool:
        return self.is_operator or (bool(device) and self.device == device)


STRANGER = ApiCaller()
OPERATOR = ApiCaller(is_operator=True, name=OPERATOR_NAME)


class CallerLookup:
    def __init__(self, tokens: TokenTable, operator: str):
        self._tokens = tokens
        self.operator = token_digest(operator)
        self._kept: BoundedDict[bytes, tuple[float, ApiCaller]] = BoundedDict(MOST_KEPT)

    async def by_token(self, token: str) -> ApiCaller:
        """Return a token's caller, or STRANGER. Raise StoreUnavailable."""
        return await self.by_digest(token_digest(token)) if LOOKS_LIKE_TOKEN.fullmatch(token) else STRANGER

    async def by_digest(self, digest: bytes) -> ApiCaller:
        if hmac.compare_digest(digest, self.operator):
            return OPERATOR
        until, caller = self._kept.get(digest, (0.0, STRANGER))
        if until <= time.monotonic():
            caller = await asyncio.to_thread(self._look_up, digest)
            self._kept[digest] = (time.monotonic() + SECONDS_KEPT, caller)
        return caller

    def _look_up(self, digest: bytes) -> ApiCaller:
        now = int(time.time())
        if device := self._tokens.device_of(digest, now):
            return ApiCaller(device)
        if token := self._tokens.operator_of(digest, now):
            return ApiCaller(is_operator=True, name=token.name, is_read_only=token.is_read_only)
        return STRANGER


MOST_NAMES = 8192


class RateLimiter:
    """Token buckets by name: `a_second` on average, `at_once` in a burst; 0 is unlimited."""

    def __init__(self, a_second: float, at_once: float, clock: Callable[[], float] = time.monotonic):
        self._a_second = a_second
        self._at_once = at_once
        self._clock = clock
        self._buckets: BoundedDict[str, tuple[float, float]] = BoundedDict(MOST_NAMES)

    def wait_seconds(self, name: str) -> float:
        """Count a request; return 0.0, or the seconds until one is allowed."""
        if not self._a_second:
            return 0.0
        now = self._clock()
        left, since = self._buckets.get(name, (self._at_once, now))
        left = min(self._at_once, left + max(0.0, now - since) * self._a_second)
        wait = max(0.0, (1.0 - left) / self._a_second)
        self._buckets[name] = (left if wait else left - 1.0, now)
        return wait


FREE = 20

REFILL = 1.0

SLOW_SECONDS = 0.5

_LONGEST_NAME = 40

_NET_OF_ONE = 64
"""Bits of an IPv6 address that tell clients apart: whoever has one usually has all with the same."""


class FailedLogins:
    """Log of failed logins; calls `count` for each."""

    def __init__(self, count: Callable[[], None] = lambda: None, limiter: RateLimiter | None = None):
        self._count = count
        self._limiter = limiter or RateLimiter(REFILL, FREE)

    async def note(self, address: str, name: str) -> None:
        """Log a failed login once a minute per address and name, and delay repeated ones."""
        self._count()
        name = name[:_LONGEST_NAME]
        group = address_group(address)
        fields = {"repeat": f"{group} {name}", "address": address, "device": name}
        _log.warning("a login from %s as %r failed.", address, name, extra=fields)
        if self._limiter.wait_seconds(group):
            await asyncio.sleep(SLOW_SECONDS)


def address_group(address: str) -> str:
    """Return what failed logins are counted by: an IPv4 address, or the network of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.IPv6Network((parsed, _NET_OF_ONE), strict=False))
    return str(parsed)


# --- routes


DECLARED, READS, FORM, LINK, BODY = "x-may", "x-reads", "x-form", "x-link", "x-body"


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
        self._routes = [
            (route, getattr(route, "openapi_extra", None) or {}) for route in iter_route_contexts(app.routes)
        ]

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
        # Not found, which only callers with a token may know.
        return of_path or RouteRule(Role.DEVICE)


def _rule_of(path: str, extra: dict[str, Any], found: Scope, method: str) -> RouteRule:
    device = found.get("path_params", {}).get("device", "")
    reads = method in ("GET", "HEAD") or extra.get(READS, False)
    role = Role(extra.get(DECLARED, Role.OPERATOR))
    return RouteRule(role, device, reads, path, extra.get(FORM, False), extra.get(LINK, False), extra.get(BODY, 0))


def is_allowed(caller: ApiCaller, rule: RouteRule) -> bool:
    if caller.is_read_only:
        return rule.reads and rule.role is not Role.GATEWAY
    if caller.is_operator:
        return True
    is_own = rule.role is Role.OWN_DEVICE and caller.may_act_for(rule.device)
    return rule.role in (Role.DEVICE, Role.GATEWAY) or is_own


# --- audit log


EQUAL_SECONDS = 60.0
"""Equal requests within this time share an entry, so that polling cannot fill the log."""

MOST_REMEMBERED = 1024

ALLOWED, REFUSED = "allowed", "refused"


class AuditLog:
    def __init__(self, store: AuditTable):
        self._store = store
        self._noted: BoundedDict[tuple[str, ...], float] = BoundedDict(MOST_REMEMBERED)

    async def note(self, caller: ApiCaller, action: str, outcome: str, address: str) -> None:
        """Store an entry durably; a full disk only causes a log line."""
        key = (caller.name, action, outcome, address)
        if self._noted.get(key, 0.0) > time.monotonic():
            return
        entry = AuditEntry(int(time.time()), *key)
        try:
            await asyncio.to_thread(self._store.add_audit, entry)
        except StoreUnavailable as problem:
            _log.warning("not in the audit log: %s, %s, %s, from %s: %s", *key, problem)
            return
        self._noted[key] = time.monotonic() + EQUAL_SECONDS


async def _caller(request: Request) -> ApiCaller:
    # async, or each request would wait for a thread.
    state: Any = request.state
    return getattr(state, "caller", STRANGER)


RequestCaller = Annotated[ApiCaller, Depends(_caller)]
