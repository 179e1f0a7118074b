"""Protection of and from browsers: where a request comes from, the CSRF token of a change, headers of answers."""

import ipaddress
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from engram_host.companion.auth.sessions import CSRF_FIELD, CSRF_HEADER, BrowserSession

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
