"""Fetches of files linked in XMPP messages (XEP-0066, XEP-0363), over https.

The address is the sender's, so files are fetched for the owner only, and redirects are not
followed.
"""

import functools
import ssl
from collections.abc import Callable
from urllib.parse import urlsplit

import httpx

from engram_host.companion.bridges.connections import read_bounded
from engram_host.companion.bridges.errors import FileNotFetched
from engram_host.companion.bridges.network import FileFetch

_SECONDS = 20.0


def fetcher(context: ssl.SSLContext) -> Callable[[str], FileFetch | None]:
    """Make a function that returns an address's fetch, None if the address is not https."""

    def fetch_of(link: str) -> FileFetch | None:
        try:
            is_https = urlsplit(link).scheme == "https" and bool(urlsplit(link).hostname)
        except ValueError:
            is_https = False
        return functools.partial(_fetch, context, link) if is_https else None

    return fetch_of


async def _fetch(context: ssl.SSLContext, link: str, most: int) -> bytes:
    try:
        headers = {"Accept-Encoding": "identity"}
        async with (
            httpx.AsyncClient(verify=context, timeout=_SECONDS, headers=headers) as client,
            client.stream("GET", link) as answer,
        ):
            if answer.status_code != httpx.codes.OK:
                raise FileNotFetched(f"its server does not give it (status {answer.status_code}).")
            return await read_bounded(answer.aiter_raw(), most)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise FileNotFetched(f"its server cannot be reached ({type(error).__name__}): send it again.") from None
