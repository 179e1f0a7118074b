"""Sign-in with an operator's token or a one-time link, and sign-out, here or everywhere."""

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Form, Query, Request, Response

from engram_host.companion.auth.access import Role, requires
from engram_host.companion.auth.middleware import is_cross_site
from engram_host.companion.page.page import Page, Views, is_local, redirect

_MOST_TOKEN = 200
_MOST_PATH = 1000


def add_sign_in_views(views: Views, page: Page) -> None:
    _add_session_routes(views, page)
    anybody = requires(Role.ANYBODY, form=True, reads=True, link=True)

    @views.get("/signin", openapi_extra=anybody)
    async def sign_in(
        request: Request,
        code: Annotated[str, Query(max_length=_MOST_TOKEN)] = "",
        next: Annotated[str, Query(max_length=_MOST_PATH)] = "",
    ) -> Response:
        if code:
            # Link previews of chat programs must not use up the code; on the companion's own computer `engram page` opens it.
            if is_local(request) and not is_cross_site(request.headers):
                begun = await page.sessions.begin_by_code(code, is_local=True)
                if begun:
                    return _signed_in(page, request, begun[0], next)
            return page.render(request, "signin_link.html", link_code=code, next=next)
        if not page.access.requires_tokens:
            return redirect(_checked_path(next))
        return _form(page, request, next, "", 200)

    @views.post("/signin", openapi_extra=anybody)
    async def take_token(
        request: Request,
        token: Annotated[str, Form(max_length=_MOST_TOKEN)] = "",
        code: Annotated[str, Form(max_length=_MOST_TOKEN)] = "",
        next: Annotated[str, Form(max_length=_MOST_PATH)] = "",
    ) -> Response:
        if code:
            begun = await page.sessions.begin_by_code(code, is_local=is_local(request))
        else:
            begun = await page.sessions.begin_by_token(token.strip())
        if begun:
            return _signed_in(page, request, begun[0], next)
        await _note_failed(page, request)
        return _form(page, request, next, "signin.bad_code" if code else "signin.bad_token", 403)


def _add_session_routes(views: Views, page: Page) -> None:
    @views.get("/session", openapi_extra=requires(Role.ANYBODY))
    async def session(request: Request) -> Response:
        """Return 204 if signed in, else 401, for the page's script; not counted as a failed login."""
        is_in = request.state.session is not None or not page.access.requires_tokens
        return Response(status_code=204 if is_in else 401)

    @views.get("/signout", openapi_extra=requires(Role.ANYBODY))
    async def ask_sign_out(request: Request) -> Response:
        return page.render(request, "signout.html")

    @views.post("/signout", openapi_extra=requires(Role.ANYBODY, form=True, reads=True))
    async def sign_out(request: Request, everywhere: Annotated[str, Form(max_length=10)] = "") -> Response:
        session = request.state.session
        if session:
            await (page.sessions.end_all(session.row.token) if everywhere else page.sessions.end(session))
        answer = redirect("/signin")
        page.drop_session(request, answer)
        return answer


def _form(page: Page, request: Request, next: str, problem: str, status: int) -> Response:
    return page.render(request, "signin.html", status, next=next, problem=problem)


def _signed_in(page: Page, request: Request, cookie: str, next: str) -> Response:
    answer = redirect(_checked_path(next))
    page.set_session(request, answer, cookie)
    return answer


def _checked_path(path: str) -> str:
    if not path.startswith("/") or path.startswith(("//", "/\\")) or not path.isprintable():
        return "/"
    try:
        parts = urlsplit(path)
    except ValueError:
        return "/"
    return "/" if parts.netloc or parts.path == "/signin" else path


async def _note_failed(page: Page, request: Request) -> None:
    address = request.client.host if request.client else "an unknown address"
    await page.access.failed_logins.note(address, "page")
