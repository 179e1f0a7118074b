"""Socket Mode's connection, reopened at Slack's request, and Slack's errors as errors of a bridge.

The library's own client confirms what it has read, not what the engine has.
"""

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from engram_host.companion.bridges.connections import run_until_one_ends
from engram_host.companion.bridges.errors import (
    BridgeError,
    BridgeUnavailable,
    NetworkAway,
    SendFailed,
    SendRefused,
    SendUncertain,
    SignInRefused,
    SlowDown,
)

# Silences the library's log: its errors are raised.
QUIET = logging.getLogger("engram_host.companion.bridges.slack.library")
QUIET.addHandler(logging.NullHandler())
QUIET.propagate = False

_PING_SECONDS = 30.0
_WAITING = 500  # envelopes queued; more are not acknowledged, so that Slack repeats them
_BREAKS, _BREAK_SECONDS = 5, 60.0  # more reconnections within these seconds are an outage
_NO_ACCOUNT = (
    "invalid_auth",
    "not_authed",
    "account_inactive",
    "token_revoked",
    "token_expired",
    "not_allowed_token_type",
)
_IN_TROUBLE = ("internal_error", "fatal_error", "request_timeout", "service_unavailable", "")


Take = Callable[[dict[str, Any]], Awaitable[None]]
Greet = Callable[[], Awaitable[None]]


async def listen(web: AsyncWebClient, session: aiohttp.ClientSession, app_token: str, greet: Greet, take: Take) -> None:
    """Take envelopes, and confirm each one then; reconnect if Slack asks for it, else raise."""
    starts: deque[float] = deque(maxlen=_BREAKS)
    while True:
        starts.append(time.monotonic())
        if len(starts) == _BREAKS and starts[-1] - starts[0] < _BREAK_SECONDS:
            raise NetworkAway("Slack ends the connection again and again.")
        with connect_errors():
            opened = await web.apps_connections_open(app_token=app_token)
            async with session.ws_connect(str(opened["url"]), heartbeat=_PING_SECONDS) as socket:
                await _take_envelopes(socket, greet, take)


async def _take_envelopes(socket: aiohttp.ClientWebSocketResponse, greet: Greet, take: Take) -> None:
    """Return once Slack asks for another connection."""
    envelopes: asyncio.Queue[dict[str, Any]] = asyncio.Queue(_WAITING)

    async def read() -> None:
        async for message in socket:
            envelope = message.json()
            if envelope.get("type") == "disconnect":
                return
            with contextlib.suppress(asyncio.QueueFull):
                envelopes.put_nowait(envelope)
        raise NetworkAway("Slack has ended the connection.")

    async def work() -> None:
        while True:
            envelope = await envelopes.get()
            if envelope.get("type") == "hello":
                await greet()
            elif number := envelope.get("envelope_id"):
                await take(envelope)
                await socket.send_json({"envelope_id": number})

    await run_until_one_ends(read(), work())


# --- errors


def error_code(error: SlackApiError) -> str:
    data = getattr(error.response, "data", None)
    return str(data.get("error", "")) if isinstance(data, dict) else ""


@contextlib.contextmanager
def connect_errors() -> Iterator[None]:
    try:
        yield
    except SlackApiError as error:
        raise _connect_error(error) from None
    except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
        raise NetworkAway(f"Slack cannot be reached: {type(error).__name__}.") from None


def _connect_error(error: SlackApiError) -> BridgeError:
    code = error_code(error)
    if code in _NO_ACCOUNT:
        return SignInRefused(f"Slack does not take a token ({code}): set token and app_token again.")
    if code == "missing_scope":
        return BridgeUnavailable(
            f"Slack's app needs the scope {error.response.get('needed')}: add it, and install it again."
        )
    return NetworkAway(f"Slack answers {code or getattr(error.response, 'status_code', 'nothing')}.")


@contextlib.contextmanager
def send_errors() -> Iterator[None]:
    try:
        yield
    except SlackApiError as error:
        raise _send_error(error) from None
    except aiohttp.ClientConnectorError:
        raise SendFailed("Slack cannot be reached.") from None
    except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
        raise SendUncertain(f"nobody knows whether the message arrived: {type(error).__name__}.") from None


def wanted_pause(error: SlackApiError) -> float | None:
    response = error.response
    if error_code(error) != "ratelimited" and getattr(response, "status_code", 0) != 429:
        return None
    after = str(getattr(response, "headers", {}).get("Retry-After", ""))
    return float(after) if after.isdigit() else 30


def _send_error(error: SlackApiError) -> BridgeError:
    code, pause = error_code(error), wanted_pause(error)
    if pause is not None:
        return SlowDown(pause)
    if code in _IN_TROUBLE:
        return SendUncertain(f"nobody knows whether the message arrived: Slack is in trouble {code}".rstrip() + ".")
    if code in _NO_ACCOUNT or code == "missing_scope":
        return SendFailed(f"Slack's app may not send now: {code}.")
    return SendRefused(f"Slack refuses the message: {code}.")
