"""CSRF protection: a browser's changes need the CSRF token of their session."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive, Scope

from engram_host.companion.auth.sessions import CSRF_FIELD, CSRF_HEADER, BrowserSession

MOST_FIELDS = 200

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})

_NO_SESSION = "the page is not signed in any more: load it again, then send this once more."
_NO_CSRF = (
    "a browser that is signed in shows its session's CSRF token with all that changes something, in the header "
    "X-CSRF-Token: load the page again, then send this once more."
)


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
