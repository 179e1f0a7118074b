"""Bots of python-telegram-bot: connections that wait and read within bounds, and a library that keeps quiet.

The bot's token stands in the address of each call, and in no error and no log.
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
_ANSWER_SECONDS = 20
"""The longest silence of Telegram, besides the wait of a long poll."""
_CONNECTIONS = 20
"""Calls at once; what is more waits for _ANSWER_SECONDS."""
_LONGEST_ANSWER = 8 * 1024 * 1024
"""Bytes; protects the memory against an answer without end: 100 updates have a few MB at most."""

for _name in ("httpx", "httpcore"):  # they log each call with its address
    logging.getLogger(_name).setLevel(logging.WARNING)
logging.getLogger("telegram").setLevel(logging.CRITICAL)  # it logs all of an answer that it cannot read
warnings.filterwarnings("ignore", "Please use 'Bot.getUpdates'", PTBUserWarning)  # see get_updates below


def is_address(url: str) -> bool:
    """Whether a Bot API can be asked at an address."""
    try:
        return httpx.URL(url).scheme in ("https", "http") and bool(httpx.URL(url).host)
    except httpx.InvalidURL:
        return False


def make_bot(url: str, token: str) -> Bot:
    """A bot of a Bot API at an address; initialize() signs it in, shutdown() ends its connections."""
    # Without TLS there is no certificate to check, and reading all authorities takes 40 ms.
    verify = httpx.create_ssl_context() if url.startswith("https:") else False
    return Bot(
        token,
        base_url=f"{url}/bot",
        base_file_url=f"{url}/file/bot",
        request=_request(_CONNECTIONS, verify),
        get_updates_request=_request(1, verify),
    )


async def get_updates(bot: Bot, offset: int, limit: int, wait_seconds: int, kinds: list[str]) -> Any:
    """What Telegram answers, as it is: the library's own get_updates fails as a whole, and for ever, if it cannot read one."""
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
    """Let an answer be read up to its bound; one that is packed has none."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise httpx.DecodingError("the answer is packed, though none was asked for", request=response.request)
    response.stream = _Bounded(response)


class _Bounded(httpx.AsyncByteStream):
    """The body of an answer."""

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
