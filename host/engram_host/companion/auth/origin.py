"""Origin check: browser requests come from the companion's pages or from a followed link."""

import ipaddress
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException


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
