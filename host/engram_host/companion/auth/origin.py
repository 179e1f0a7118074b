"""The check that a browser's request comes from a page of the companion's own, or from a link that a person follows."""

import ipaddress
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException


def is_cross_site(headers: Headers) -> bool:
    """Whether a page of another site made a browser send a request."""
    return headers.get("sec-fetch-site") == "cross-site"


def is_navigation(headers: Headers) -> bool:
    """Whether a browser shows the answer in a window: it is no frame, picture or script of another page."""
    return (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")


def check_origin(headers: Headers, names: frozenset[str] | None, *, is_link: bool = False) -> None:
    """Refuse what a page of another site sends from a person's browser, but for a link that the person follows (`is_link`).

    Such a page is known by its Origin, which a browser adds to all that changes something. A page whose name was made to
    point here (DNS rebinding) is known by its name: only addresses, localhost and `names` are taken for this companion's,
    unless `names` is None.
    """
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
    """Whether a host's name is an address, localhost, or one of `names`."""
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
