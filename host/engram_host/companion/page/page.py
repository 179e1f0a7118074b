"""Common parts of all views: templates, texts, headers, sessions, and errors as pages."""

import functools
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.exceptions import HTTPException

from engram.clock import day_name
from engram.errors import EngramError, NotFound
from engram.memory import line_meaning
from engram_host.companion.auth.browsers import is_cross_site
from engram_host.companion.auth.exposure import is_loopback
from engram_host.companion.auth.middleware import HttpAccess, Role, requires
from engram_host.companion.auth.sessions import COOKIE, NO_TOKEN, SESSION_SECONDS, BrowserSession
from engram_host.companion.errors import (
    CompanionError,
    NoSuchFile,
    StoreUnavailable,
    TooManyWaiting,
    UnknownConversation,
    UnknownDevice,
    UnknownEntry,
    UnknownImport,
    UnknownMedia,
    UnknownSense,
)
from engram_host.companion.page.assets import Assets
from engram_host.companion.page.catalog import LANGUAGE_COOKIE, NAMES, Texts, choose_language, load_catalogs
from engram_host.companion.page.markup import render_markdown
from engram_host.companion.page.media import media_in
from engram_host.companion.page.navigation import NAVIGATION, PERSONAL
from engram_host.companion.page.theme import THEME_COOKIE, THEMES, choose_theme
from engram_host.time_zones import BoardZone
from engram_host.wording import format_size

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""Content security policy: nothing of other sites, no inline script or style."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    # With no-referrer a browser sends no origin with a form either, and the form looks like another site's.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Vary": "Cookie, Accept-Language",
}

PART = "x-part"
"""Request header of the page's script for a part of a view, without its frame."""

_KEPT_SECONDS = 365 * 86400

_SEE_OTHER = 303

_MISSING = (
    NotFound,
    UnknownDevice,
    UnknownEntry,
    UnknownConversation,
    UnknownImport,
    UnknownMedia,
    UnknownSense,
    NoSuchFile,
)


@dataclass(frozen=True)
class Visit:
    """Language and session of a request; None before the sign-in."""

    texts: Texts
    session: BrowserSession | None

    @property
    def csrf(self) -> str:
        return self.session.csrf if self.session else ""


def view(*, form: bool = False, reads: bool = False) -> dict[str, Any]:
    """Return the operator's route metadata: `form` takes a form of the page, `reads` without
    changes."""
    return requires(Role.OPERATOR, form=form, reads=reads)


def personal_view() -> dict[str, Any]:
    """Return the route metadata of a person's view."""
    return requires(Role.PERSON, reads=True)


class Page:
    """Renderer of views and of their errors."""

    def __init__(self, access: HttpAccess):
        self.access = access
        self.sessions = access.sessions
        self.catalogs = load_catalogs()
        self.assets = Assets()
        self._templates = Environment(
            loader=PackageLoader("engram_host.companion.page"),
            autoescape=select_autoescape(default=True, default_for_string=True),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._templates.filters |= {"when": time_tag, "day": day_name, "markdown": render_markdown, "size": format_size}
        self._templates.filters |= {"media_in": media_in, "attributed": line_meaning.attributed_text}
        self._templates.globals |= {"asset": self.assets.url, "languages": NAMES}
        self._templates.globals |= {"themes": THEMES}

    def router(self) -> APIRouter:
        """Make a router with sessions, the page's headers, and errors as pages."""
        return APIRouter(include_in_schema=False, route_class=self._route_class)

    @functools.cached_property
    def _route_class(self) -> type[APIRoute]:
        page = self

        class PageRoute(APIRoute):
            def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
                handler = super().get_route_handler()

                async def handle(request: Request) -> Response:
                    return await page.answer(request, handler)

                return handle

        return PageRoute

    async def answer(self, request: Request, handler: Callable[[Request], Coroutine[Any, Any, Response]]) -> Response:
        try:
            cookie = await self._opened(request)
            answer = await handler(request)
        except (CompanionError, EngramError, HTTPException, RequestValidationError) as problem:
            return self._problem(request, problem)
        if cookie and not _sets_session(answer):  # a sign-in link has begun another one
            self.set_session(request, answer, cookie)
        return self._finished(request, answer)

    async def _opened(self, request: Request) -> str:
        """Begin a session without a token if allowed; returns its cookie, or ""."""
        is_visit = request.method == "GET" and request.state.session is None and not self.access.requires_tokens
        # A program with a token needs no session.
        if not is_visit or request.state.caller.is_known or is_cross_site(request.headers):
            return ""
        begun = await self.sessions.begin(NO_TOKEN)
        if begun is None:
            return ""
        cookie, request.state.session = begun
        return cookie

    def _finished(self, request: Request, answer: Response) -> Response:
        for name, value in HEADERS.items():
            if name not in answer.headers:
                answer.headers[name] = value
        secure = request.url.scheme == "https"
        for parameter, cookie, values in (("lang", LANGUAGE_COOKIE, NAMES), ("theme", THEME_COOKIE, THEMES)):
            asked = request.query_params.get(parameter, "")
            if asked in values:
                answer.set_cookie(cookie, asked, _KEPT_SECONDS, secure=secure, httponly=True, samesite="strict")
        return answer

    def set_session(self, request: Request, answer: Response, cookie: str) -> None:
        secure = request.url.scheme == "https"
        answer.set_cookie(COOKIE, cookie, SESSION_SECONDS, secure=secure, httponly=True, samesite="strict")

    def drop_session(self, request: Request, answer: Response) -> None:
        answer.delete_cookie(COOKIE, secure=request.url.scheme == "https", httponly=True, samesite="strict")

    def visit(self, request: Request) -> Visit:
        asked, kept = request.query_params.get("lang", ""), request.cookies.get(LANGUAGE_COOKIE, "")
        language = choose_language(asked, kept, request.headers.get("accept-language", ""))
        return Visit(self.catalogs[language], getattr(request.state, "session", None))

    def principal(self, request: Request) -> str:
        """Return the person whose page this is, or "" for the operator's."""
        session = self.visit(request).session
        return session.caller.principal if session else ""

    def to_operator(self) -> Response:
        return RedirectResponse("/", _SEE_OTHER)

    def render(self, request: Request, template: str, status: int = 200, /, **values: Any) -> Response:
        return HTMLResponse(self.part(request, template, **values), status)

    def part(self, request: Request, template: str, /, **values: Any) -> Markup:
        visit = self.visit(request)
        shared = {
            "t": visit.texts,
            "theme": choose_theme(request.query_params.get("theme", ""), request.cookies.get(THEME_COOKIE, "")),
            "csrf": visit.csrf,
            "is_signed_in": visit.session is not None,
            "navigation": PERSONAL if visit.session and visit.session.caller.principal else NAVIGATION,
            "is_read_only": visit.session is not None and visit.session.caller.is_read_only,
            "requires_tokens": self.access.requires_tokens,
            "path": request.url.path,
            "method": request.method,
            "link": functools.partial(_link, request),
        }
        return Markup(self._templates.get_template(template).render(**shared, **values))

    def refuse(self, request: Request, status: int, sentence: str) -> Response:
        answer = self.render(request, "problem.html", status, sentence=sentence, code=status, page_key="")
        return self._finished(request, answer)

    def _problem(self, request: Request, problem: Exception) -> Response:
        if isinstance(problem, HTTPException):
            answer = self.refuse(request, problem.status_code, str(problem.detail))
            answer.headers.update(problem.headers or {})
            return answer
        status = 422
        if isinstance(problem, _MISSING):
            status = 404
        elif isinstance(problem, TooManyWaiting):
            status = 429
        elif isinstance(problem, StoreUnavailable):
            status = 503
        if isinstance(problem, RequestValidationError):
            fields = ", ".join(sorted({str(error["loc"][-1]) for error in problem.errors()}))
            return self.refuse(request, status, self.visit(request).texts("problem.fields", fields=fields[:200]))
        return self.refuse(request, status, self.visit(request).texts.say(str(problem)))


def _sets_session(answer: Response) -> bool:
    return any(value.startswith(f"{COOKIE}=") for value in answer.headers.getlist("set-cookie"))


def is_local(request: Request) -> bool:
    """True if the request is from the companion's own computer."""
    client = request.client.host if request.client else ""
    server = (request.scope.get("server") or ("", 0))[0]
    return is_loopback(client) or (bool(client) and client == server)


def wants_page(request: Request) -> bool:
    """True if a browser asks for a page."""
    return "text/html" in request.headers.get("accept", "")


def is_part(request: Request) -> bool:
    """True if the page's script asks for a part of a view."""
    return PART in request.headers


def _link(request: Request, **changes: Any) -> str:
    query = dict(request.query_params) | changes
    left = {name: value for name, value in query.items() if value not in (None, "")}
    return f"?{urlencode(left)}" if left else request.url.path


def time_tag(seconds: int, zone: BoardZone | None = None) -> Markup:
    """Format a UTC time for the script to localize, with the board's time where it differs."""
    try:
        at = datetime.fromtimestamp(seconds, UTC)
        minutes = zone.offset_minutes(seconds) if zone is not None else 0
        there = at.astimezone(timezone(timedelta(minutes=minutes))) if zone is not None else None
    except (OverflowError, OSError, ValueError):
        return Markup("")
    title = there.strftime("%Y-%m-%d %H:%M %z") if there else ""
    more = Markup(' title="{}" data-zone="{}"').format(title, minutes) if there else ""
    stamp = at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return Markup('<time datetime="{}"{}>{}</time>').format(stamp, more, at.strftime("%Y-%m-%d %H:%M UTC"))
