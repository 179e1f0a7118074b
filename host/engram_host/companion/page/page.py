"""What all views share: templates, texts, headers, sessions; a refusal is a page as well."""

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
from engram_host.companion.auth.exposure import is_loopback
from engram_host.companion.auth.middleware import HttpAccess, Role, requires
from engram_host.companion.auth.origin import is_cross_site
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
"""What a browser may do with the page: nothing of other sites, no script or style inside of a view."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    # With no-referrer a browser names no origin either when it sends a form, and the form is taken for another site's.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Vary": "Cookie, Accept-Language",
}

PART = "x-part"
"""The header with which the page's script asks for a part of a view, without what stands around it."""

_KEPT_SECONDS = 365 * 86400
"""How long a browser keeps the language and the theme."""

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
    """What a view is made for: the language, and the session of the browser, None before it is signed in."""

    texts: Texts
    session: BrowserSession | None

    @property
    def csrf(self) -> str:
        """The session's CSRF token, which each form has in a field."""
        return self.session.csrf if self.session else ""


def view(*, form: bool = False, reads: bool = False) -> dict[str, Any]:
    """What a view's route says of who may use it: the operator; `form` of one that takes a form of the page, `reads` of
    such a one that changes nothing.
    """
    return requires(Role.OPERATOR, form=form, reads=reads)


def personal_view() -> dict[str, Any]:
    """What the route of a view says that shows a person what is theirs."""
    return requires(Role.PERSON, reads=True)


class Page:
    """Renders views, and answers what goes wrong in them."""

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
        """A router for a view: its routes begin sessions, have the page's headers, and answer errors with a page."""
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
        """Answer a request by a view's handler, with a session where none is needed to be shown."""
        try:
            cookie = await self._opened(request)
            answer = await handler(request)
        except (CompanionError, EngramError, HTTPException, RequestValidationError) as problem:
            return self._problem(request, problem)
        if cookie and not _sets_session(answer):  # a link has begun another one
            self.set_session(request, answer, cookie)
        return self._finished(request, answer)

    async def _opened(self, request: Request) -> str:
        """Begin a session for who may use the page without a token; its cookie's value, "" if there is none to set."""
        is_visit = request.method == "GET" and request.state.session is None and not self.access.requires_tokens
        # Whoever shows a token is a program: it needs no session.
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
        """Let a browser keep the cookie of a session."""
        secure = request.url.scheme == "https"
        answer.set_cookie(COOKIE, cookie, SESSION_SECONDS, secure=secure, httponly=True, samesite="strict")

    def drop_session(self, request: Request, answer: Response) -> None:
        """Let a browser forget its session."""
        answer.delete_cookie(COOKIE, secure=request.url.scheme == "https", httponly=True, samesite="strict")

    def visit(self, request: Request) -> Visit:
        """For whom a view is made."""
        asked, kept = request.query_params.get("lang", ""), request.cookies.get(LANGUAGE_COOKIE, "")
        language = choose_language(asked, kept, request.headers.get("accept-language", ""))
        return Visit(self.catalogs[language], getattr(request.state, "session", None))

    def principal(self, request: Request) -> str:
        """The person whose page this is, "" for the operator's."""
        session = self.visit(request).session
        return session.caller.principal if session else ""

    def to_operator(self) -> Response:
        """Lead whoever has opened a person's page without being one to the operator's."""
        return RedirectResponse("/", _SEE_OTHER)

    def render(self, request: Request, template: str, status: int = 200, /, **values: Any) -> Response:
        """A view: a template with values."""
        return HTMLResponse(self.part(request, template, **values), status)

    def part(self, request: Request, template: str, /, **values: Any) -> Markup:
        """What a template makes of values, for a view or for the page's script."""
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
        """A page that says why there is no view."""
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
    """Whether a request comes from the companion's own computer."""
    client = request.client.host if request.client else ""
    server = (request.scope.get("server") or ("", 0))[0]
    return is_loopback(client) or (bool(client) and client == server)


def wants_page(request: Request) -> bool:
    """Whether it is a browser that is to show what comes."""
    return "text/html" in request.headers.get("accept", "")


def is_part(request: Request) -> bool:
    """Whether the page's script asks for a part of a view."""
    return PART in request.headers


def _link(request: Request, **changes: Any) -> str:
    """The address of this view with other parameters; None takes one away."""
    query = dict(request.query_params) | changes
    left = {name: value for name, value in query.items() if value not in (None, "")}
    return f"?{urlencode(left)}" if left else request.url.path


def time_tag(seconds: int, zone: BoardZone | None = None) -> Markup:
    """A time in UTC, which the page's script shows in the browser's zone, with that of a board where they differ; without
    the script that of a board is in its title.
    """
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
