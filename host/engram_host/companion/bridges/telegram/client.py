"""Bots of python-telegram-bot with timeouts, and the library's errors as errors of a bridge.

The bot's token is part of each call's address; it appears in no error and no log. The library has
one network error for several cases; the httpx error below and Telegram's text tell them apart.
"""

import contextlib
import logging
import ssl
import warnings
from collections.abc import Iterator
from typing import Any, cast

import httpx
from telegram import Bot
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    EndPointNotFound,
    Forbidden,
    InvalidToken,
    RetryAfter,
    TelegramError,
)
from telegram.request import HTTPXRequest
from telegram.warnings import PTBUserWarning

from engram.channels.telegram.bot_api import BotError
from engram.channels.telegram.sender import is_final
from engram_host.companion.bridges.errors import (
    BridgeError,
    BridgeUnavailable,
    MarksRefused,
    NetworkAway,
    SendFailed,
    SendRefused,
    SendUncertain,
    SignInRefused,
    SlowDown,
)

_CONNECT_SECONDS = 10
_ANSWER_SECONDS = 20  # timeout of an answer, besides the wait of a long poll
_CONNECTIONS = 20  # concurrent calls; others wait for _ANSWER_SECONDS

for _name in ("httpx", "httpcore"):  # they log each call with its address
    logging.getLogger(_name).setLevel(logging.WARNING)
logging.getLogger("telegram").setLevel(logging.CRITICAL)  # it logs all of an answer that it cannot read
warnings.filterwarnings("ignore", "Please use 'Bot.getUpdates'", PTBUserWarning)  # see get_updates below


def is_address(url: str) -> bool:
    try:
        return httpx.URL(url).scheme in ("https", "http") and bool(httpx.URL(url).host)
    except httpx.InvalidURL:
        return False


def make_bot(url: str, token: str) -> Bot:
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
        httpx_kwargs={"verify": verify},
    )


# --- errors

# The library raises these for JSON of wrong types.
UNREADABLE = (TypeError, ValueError, KeyError, AttributeError)
_WORDS = 200
_BAD_MARKS = ("parse entities", "is empty", "must be non-empty")
_NOT_THE_MARKS = ("message to edit not found", "message can't be edited", "is too long")
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_REFUSED = (InvalidToken, EndPointNotFound, Conflict)


def says(error: TelegramError, *phrases: str) -> bool:
    return any(phrase in error.message.lower() for phrase in phrases)


@contextlib.contextmanager
def poll_errors(token: str) -> Iterator[None]:
    try:
        yield
    except TelegramError as error:
        raise _poll_error(error, token) from None
    except UNREADABLE:
        raise not_telegram() from None


@contextlib.contextmanager
def send_errors(token: str, is_plain: bool) -> Iterator[None]:
    try:
        yield
    except TelegramError as error:
        raise _send_error(error, token, is_plain) from None
    except UNREADABLE:
        raise SendUncertain(
            "nobody knows whether the message arrived: what answers is not Telegram's Bot API."
        ) from None


def not_telegram() -> NetworkAway:
    return NetworkAway("what answers is not Telegram's Bot API: check the bridge's url.")


def _poll_error(error: TelegramError, token: str) -> BridgeError:
    if isinstance(error, (InvalidToken, EndPointNotFound)):
        return SignInRefused("Telegram does not know the bot: set its token again.")
    if isinstance(error, Conflict) and says(error, "webhook"):
        return BridgeUnavailable(
            "a webhook is set for this bot, so Telegram gives no messages: remove it with the Bot API's deleteWebhook, "
            "or take another bot."
        )
    if isinstance(error, Conflict):
        return NetworkAway("another program polls this bot: stop it, or give the bridge a bot of its own.")
    return NetworkAway(_problem(error, token))


def _send_error(error: TelegramError, token: str, is_plain: bool) -> BridgeError:
    problem = _problem(error, token)
    if isinstance(error, RetryAfter):
        return SlowDown(max(1, cast(int, error.retry_after)))
    if says(error, "too many requests"):
        return SlowDown(1)
    if isinstance(error, BadRequest) and not is_plain and _is_about_marks(error):
        return MarksRefused(problem)
    if isinstance(error, (BadRequest, Forbidden, ChatMigrated)):
        return SendRefused(problem)
    if isinstance(error.__cause__, _NOT_SENT) or isinstance(error, _REFUSED):
        return SendFailed(problem)
    return SendUncertain(f"nobody knows whether the message arrived: {problem}")


def _problem(error: TelegramError, token: str) -> str:
    cause = error.__cause__
    if isinstance(cause, _NOT_SENT):
        return f"Telegram cannot be reached ({type(cause).__name__})."
    if isinstance(cause, httpx.HTTPError):
        return f"the link to Telegram failed ({type(cause).__name__})."
    return f"Telegram answers: {error.message.replace(token, '***')[:_WORDS]}."


def _is_about_marks(error: BadRequest) -> bool:
    return says(error, *_BAD_MARKS) or not (is_final(BotError(400, error.message)) or says(error, *_NOT_THE_MARKS))
