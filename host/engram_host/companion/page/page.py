"""Common parts of all views: templates, texts, static files, headers, sessions, and errors as pages."""

import functools
import hashlib
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from importlib import resources
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.exceptions import HTTPException

from engram.errors import EngramError
from engram.memory import line_meaning
from engram_host.companion.api.app import status_of
from engram_host.companion.auth.access import Role, requires
from engram_host.companion.auth.exposure import is_loopback
from engram_host.companion.auth.middleware import HttpAccess, is_cross_site
from engram_host.companion.auth.sessions import COOKIE, NO_TOKEN, SESSION_SECONDS, BrowserSession
from engram_host.companion.errors import CompanionError
from engram_host.companion.page.catalog import LANGUAGE_COOKIE, NAMES, Texts, choose_language, load_catalogs
from engram_host.companion.page.formatting import media_in, render_markdown, time_tag
from engram_host.wording import format_size

NAVIGATION: tuple[tuple[str, str], ...] = (
    ("boards", "/"),
    ("chat", "/chat"),
    ("search", "/search"),
    ("people", "/people"),
    ("health", "/health"),
)
"""(key below `nav` in the texts, address) of each link in the head of a view."""

THEME_COOKIE = "engram_theme"
THEMES = ("auto", "light", "dark")

STATIC = "/static/"
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}

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


@dataclass(frozen=True)
class Visit:
    texts: Texts
    session: BrowserSession | None

    @property
    def csrf(self) -> str:
        return self.session.csrf if self.session else ""


class Views(APIRouter):
    """Router of views; a plain GET is the operator's."""

    def form(self, path: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return self.post(path, openapi_extra=requires(Role.OPERATOR, form=True))


class Assets:
    def __init__(self) -> None:
        self.files: dict[str, tuple[bytes, str]] = {}
        self._names: dict[str, str] = {}
        for file in (resources.files("engram_host.companion.page") / "static").iterdir():
            stem, _, ending = file.name.rpartition(".")
            if ending in _TYPES:
                content = file.read_bytes()
                name = f"{stem}.{hashlib.sha256(content).hexdigest()[:10]}.{ending}"
                self.files[name] = content, _TYPES[ending]
                self._names[file.name] = name

    def url(self, name: str) -> str:
        return STATIC + self._names[name]


class Page:
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
        self._templates.filters |= {"when": time_tag, "markdown": render_markdown, "size": format_size}
        self._templates.filters |= {"media_in": media_in, "attributed": line_meaning.attributed_text}
        self._templates.globals |= {"asset": self.assets.url, "languages": NAMES, "themes": THEMES}

    def router(self) -> Views:
        return Views(include_in_schema=False, route_class=self._route_class)

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

    def render(self, request: Request, template: str, status: int = 200, /, **values: Any) -> Response:
        return HTMLResponse(self.part(request, template, **values), status)

    def part(self, request: Request, template: str, /, **values: Any) -> Markup:
        visit = self.visit(request)
        themes = request.query_params.get("theme", ""), request.cookies.get(THEME_COOKIE, "")
        shared = {
            "t": visit.texts,
            "theme": next((name for name in themes if name in THEMES), THEMES[0]),
            "csrf": visit.csrf,
            "is_signed_in": visit.session is not None,
            "navigation": NAVIGATION,
            "is_read_only": visit.session is not None and visit.session.caller.is_read_only,
            "requires_tokens": self.access.requires_tokens,
            "path": request.url.path,
            "nav_address": "/" if request.url.path.startswith("/boards") else "/" + request.url.path.split("/")[1],
            "method": request.method,
            "link": functools.partial(_link, request),
        }
        return Markup(self._templates.get_template(template).render(**shared, **values))

    def refuse(self, request: Request, status: int, sentence: str) -> Response:
        answer = self.render(request, "problem.html", status, sentence=sentence, code=status)
        return self._finished(request, answer)

    def _problem(self, request: Request, problem: Exception) -> Response:
        if isinstance(problem, HTTPException):
            answer = self.refuse(request, problem.status_code, str(problem.detail))
            answer.headers.update(problem.headers or {})
            return answer
        if isinstance(problem, RequestValidationError):
            fields = ", ".join(sorted({str(error["loc"][-1]) for error in problem.errors()}))
            return self.refuse(request, 422, self.visit(request).texts("problem.fields", fields=fields[:200]))
        sentence = problem.sentence if isinstance(problem, CompanionError) else str(problem)
        return self.refuse(request, status_of(problem), self.visit(request).texts.say(sentence))


def _sets_session(answer: Response) -> bool:
    return any(value.startswith(f"{COOKIE}=") for value in answer.headers.getlist("set-cookie"))


def redirect(path: str) -> Response:
    return RedirectResponse(path, 303)


def is_local(request: Request) -> bool:
    client = request.client.host if request.client else ""
    server = (request.scope.get("server") or ("", 0))[0]
    return is_loopback(client) or (bool(client) and client == server)


def wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


def is_part(request: Request) -> bool:
    return PART in request.headers


def _link(request: Request, **changes: Any) -> str:
    query = dict(request.query_params) | changes
    left = {name: value for name, value in query.items() if value not in (None, "")}
    return f"?{urlencode(left)}" if left else request.url.path
