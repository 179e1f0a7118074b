"""Telegram's Bot API: a method's fields go out as JSON, its result comes in, all bounded.

httpx is enough for that: a library with a class for each of the API's objects takes four seconds to load, and 125 MB. The bot's
token stands in the address of each call, and in no error and no log.
"""

import json
import logging
from typing import Any

import httpx

_CONNECT_SECONDS = 10
_ANSWER_SECONDS = 20
"""The longest silence of Telegram, besides the wait of a long poll."""
_LONGEST_ANSWER = 8 * 1024 * 1024
"""Bytes; protects the memory against an answer without end: 100 updates have a few MB at most."""
_WORDS = 200

for _name in ("httpx", "httpcore"):  # they log each call with its address
    logging.getLogger(_name).setLevel(logging.WARNING)


def is_address(url: str) -> bool:
    """Whether a Bot API can be asked at an address."""
    try:
        return httpx.URL(url).scheme in ("https", "http") and bool(httpx.URL(url).host)
    except httpx.InvalidURL:
        return False


class ApiError(Exception):
    """A call that failed, as firmware's BotError: `code` is Telegram's, 0 if the link failed; `retry_after` is in seconds.

    With `is_unknown` Telegram may have done what was asked. `moved_to` is the supergroup that the group became, else 0.
    """

    def __init__(self, code: int, problem: str, retry_after: int = 0, moved_to: int = 0, *, is_unknown: bool = False):
        super().__init__(problem)
        self.code, self.retry_after, self.moved_to, self.is_unknown = code, retry_after, moved_to, is_unknown

    def says(self, words: str) -> bool:
        """Whether Telegram's description has these words."""
        return words in str(self).lower()


class BotApi:
    """Calls of one bot; close() ends its connections."""

    def __init__(self, url: str, token: str):
        self._base = f"{url}/bot{token}/"
        self._token = token
        # Without TLS there is no certificate to check, and reading all authorities takes 40 ms.
        self._client = httpx.AsyncClient(verify=url.startswith("https:"))

    async def close(self) -> None:
        await self._client.aclose()

    async def call(self, method: str, wait_seconds: int = 0, **fields: Any) -> Any:
        """The result of a method that Telegram may take so long for. ApiError."""
        timeout = httpx.Timeout(_ANSWER_SECONDS + wait_seconds, connect=_CONNECT_SECONDS)
        data = bytearray()
        try:
            async with self._client.stream("POST", self._base + method, json=fields, timeout=timeout) as answer:
                async for piece in answer.aiter_bytes():
                    data += piece
                    if len(data) > _LONGEST_ANSWER:
                        raise ApiError(0, "an answer of Telegram is too long", is_unknown=True)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise ApiError(0, f"Telegram cannot be reached ({type(error).__name__})") from None
        except httpx.HTTPError as error:
            problem = f"the link to Telegram failed ({type(error).__name__})"
            raise ApiError(0, problem, is_unknown=True) from None
        return self._result(answer.status_code, bytes(data))

    def _result(self, status: int, data: bytes) -> Any:
        try:
            found = json.loads(data)
        except ValueError:
            found = None
        found = found if isinstance(found, dict) else {}
        if status == 200 and found.get("ok") is True:
            return found.get("result")
        more = found.get("parameters")
        more = more if isinstance(more, dict) else {}
        words = str(found.get("description") or "what answers is not Telegram's Bot API").replace(self._token, "***")
        numbers = [
            value if isinstance(value, int) else 0 for value in map(more.get, ("retry_after", "migrate_to_chat_id"))
        ]
        raise ApiError(
            status if status != 200 else 0,
            f"Telegram answers {status}: {words[:_WORDS]}",
            *numbers,
            # What answers for a service that is in trouble does not know what that has done.
            is_unknown=status >= 500 or status == 200,
        )
