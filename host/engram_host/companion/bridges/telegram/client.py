"""Bots of python-telegram-bot with timeouts, bounded reads and a silent library.

The bot's token is part of each call's address; it appears in no error and no log.
"""

import logging
import ssl
import warnings
from collections.abc import AsyncIterator
from typing import Any, cast

import httpx
from telegram import Bot
from telegram.request import HTTPXRequest
from telegram.warnings import PTBUserWarning

_CONNECT_SECONDS = 10
_ANSWER_SECONDS = 20  # timeout of an answer, besides the wait of a long poll
_CONNECTIONS = 20  # concurrent calls; others wait for _ANSWER_SECONDS
_LONGEST_ANSWER = 8 * 1024 * 1024  # bytes of an answer; 100 updates have a few MB at most

for _name in ("httpx", "httpcore"):  # they log each call with its address
    logging.getLogger(_name).setLevel(logging.WARNING)
logging.getLogger("telegram").setLevel(logging.CRITICAL)  # it logs all of an answer that it cannot read
warnings.filterwarnings("ignore", "Please use 'Bot.getUpdates'", PTBUserWarning)  # see get_updates below


def is_address(url: str) -> bool:
    """True for a valid base URL of a Bot API."""
    try:
        return httpx.URL(url).scheme in ("https", "http") and bool(httpx.URL(url).host)
    except httpx.InvalidURL:
        return False


def make_bot(url: str, token: str) -> Bot:
    """Create a bot; initialize() signs it in, shutdown() closes its connections."""
    # Plain HTTP needs no authorities, and loading them takes 40 ms.
    verify = httpx.create_ssl_context() if url.startswith("https:") else False
    return Bot(
        token,
        base_url=f"{url}/bot",
        base_file_url=f"{url}/file/bot",
        request=_request(_CONNECTIONS, verify),
        get_updates_request=_request(1, verify),
    )


async def get_updates(bot: Bot, offset: int, limit: int, wait_seconds: int, kinds: list[str]) -> Any:
    """Return raw updates: the library's own get_updates fails for good if it cannot parse one."""
    asked = {"offset": offset, "limit": limit, "timeout": wait_seconds, "allowed_updates": kinds}
    return await bot.do_api_request("getUpdates", asked, read_timeout=_ANSWER_SECONDS + wait_seconds)


def _request(connections: int, verify: ssl.SSLContext | bool) -> HTTPXRequest:
    return HTTPXRequest(
        connection_pool_size=connections,
        read_timeout=_ANSWER_SECONDS,
        write_timeout=_ANSWER_SECONDS,
        connect_timeout=_CONNECT_SECONDS,
        pool_timeout=_ANSWER_SECONDS,
        httpx_kwargs={
            "verify": verify,
            "headers": {"Accept-Encoding": "identity"},
            "event_hooks": {"response": [_bound]},
        },
    )


async def _bound(response: httpx.Response) -> None:
    """Bound the body of a response; a compressed one is refused."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise httpx.DecodingError("the answer is packed, though none was asked for", request=response.request)
    response.stream = _Bounded(response)


class _Bounded(httpx.AsyncByteStream):
    def __init__(self, response: httpx.Response):
        self._request = response.request
        self._stream = cast(httpx.AsyncByteStream, response.stream)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for piece in self._stream:
            length += len(piece)
            if length > _LONGEST_ANSWER:
                raise httpx.ReadError("the answer is too long", request=self._request)
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
