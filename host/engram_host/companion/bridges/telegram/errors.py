"""Errors of python-telegram-bot as errors of a bridge.

The library has one network error for several cases; the httpx error below and Telegram's text tell
them apart.
"""

import contextlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
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

# The library raises these for JSON of wrong types.
UNREADABLE = (TypeError, ValueError, KeyError, AttributeError)
_WORDS = 200
_BAD_MARKS = ("parse entities", "is empty", "must be non-empty")
_NOT_THE_MARKS = ("message to edit not found", "message can't be edited", "is too long")
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_REFUSED = (InvalidToken, EndPointNotFound, Conflict)


def says(error: TelegramError, *phrases: str) -> bool:
    """True if Telegram's description has one of the phrases."""
    return any(phrase in error.message.lower() for phrase in phrases)


@contextlib.contextmanager
def poll_errors(token: str) -> Iterator[None]:
    """Convert errors of signing in and polling."""
    try:
        yield
    except TelegramError as error:
        raise _poll_error(error, token) from None
    except UNREADABLE:
        raise not_telegram() from None


@contextlib.contextmanager
def send_errors(token: str, is_plain: bool) -> Iterator[None]:
    """Convert errors of sending."""
    try:
        yield
    except TelegramError as error:
        raise _send_error(error, token, is_plain) from None
    except UNREADABLE:
        raise SendUncertain(
            "nobody knows whether the message arrived: what answers is not Telegram's Bot API."
        ) from None


def not_telegram() -> NetworkAway:
    """Create the error for an answer that is not Telegram's."""
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
        return SlowDown(max(1, _seconds(error.retry_after)))
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


def _seconds(wait: Any) -> float:
    """Accept a number, or a timedelta as in the library's next version."""
    return wait.total_seconds() if isinstance(wait, timedelta) else wait


def _is_about_marks(error: BadRequest) -> bool:
    return says(error, *_BAD_MARKS) or not (is_final(BotError(400, error.message)) or says(error, *_NOT_THE_MARKS))
