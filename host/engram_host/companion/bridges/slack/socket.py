"""Socket Mode's connection, reopened at Slack's request, and Slack's errors as errors of a bridge."""

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

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

_PING_SECONDS = 30
_CONNECT_SECONDS = 20
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


class Socket(SocketModeClient):
    """Client that reports a lost connection instead of retrying; take() returns the acknowledgement."""

    def __init__(
        self,
        app_token: str,
        web: AsyncWebClient,
        take: Callable[[SocketModeRequest], Awaitable[SocketModeResponse]],
        greet: Callable[[], Awaitable[None]],
    ):
        super().__init__(app_token, QUIET, web, auto_reconnect_enabled=False, ping_interval=_PING_SECONDS)
        self._take, self._greet = take, greet
        # Done when the connection has ended; true if Slack asked for a new one.
        self._lost: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._one_at_a_time = asyncio.Lock()
        self._at_work: set[asyncio.Task[Any]] = set()
        self.message_listeners.append(self._on_message)
        self.socket_mode_request_listeners.append(self._on_request)

    async def stay_connected(self) -> None:
        """Listen until the connection is lost, then raise."""
        starts: deque[float] = deque(maxlen=_BREAKS)
        while True:
            now = time.monotonic()
            starts.append(now)
            if len(starts) == _BREAKS and now - starts[0] < _BREAK_SECONDS:
                raise NetworkAway("Slack ends the connection again and again.")
            with connect_errors():
                async with asyncio.timeout(_CONNECT_SECONDS):
                    self.wss_uri = await self.issue_new_wss_url()
                    await self.connect()
            self._lost = asyncio.get_running_loop().create_future()
            with connect_errors():
                is_wanted = await self._lost
            if not is_wanted:
                raise NetworkAway("Slack has ended the connection.")

    async def end(self) -> None:
        self._lost.cancel()
        ours = [self.message_processor, self.current_session_monitor, self.message_receiver, *self._at_work]
        tasks = [task for task in ours if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(aiohttp.ClientError, OSError, TimeoutError):
            await self.close()

    async def receive_messages(self) -> None:
        session = self.current_session
        assert session is not None
        try:
            async for message in session:
                if message.type is aiohttp.WSMsgType.TEXT:
                    await self.enqueue_message(message.data)
                elif message.type is aiohttp.WSMsgType.PING:
                    await session.pong(message.data)
        finally:
            if session is self.current_session:
                self._end_wait(lambda waiting: waiting.set_result(False))

    async def connect_to_new_endpoint(self, force: bool = False) -> None:
        self._end_wait(lambda waiting: waiting.set_result(True))

    def _end_wait(self, end: Callable[[asyncio.Future[bool]], None]) -> None:
        if not self._lost.done():
            end(self._lost)

    async def _on_message(self, _client: Any, message: dict[str, Any], _raw: str | None) -> None:
        if message.get("type") == "hello":
            await self._alone(self._greet)

    async def _on_request(self, _client: Any, request: SocketModeRequest) -> None:
        async def take() -> None:
            acknowledgement = await self._take(request)
            with contextlib.suppress(aiohttp.ClientError, OSError):  # it comes again, and is known then
                await self.send_socket_mode_response(acknowledgement)

        if len(self._at_work) < _WAITING:
            await self._alone(take)

    async def _alone(self, work: Callable[[], Awaitable[None]]) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._at_work.add(task)
        try:
            async with self._one_at_a_time:
                if not self._failed():
                    await work()
        except Exception as error:  # noqa: BLE001 - the library only logs what its listeners raise: stay_connected() raises it
            failure = error
            self._end_wait(lambda waiting: waiting.set_exception(failure))
        finally:
            self._at_work.discard(task)

    def _failed(self) -> bool:
        return self._lost.done() and (self._lost.cancelled() or self._lost.exception() is not None)


# --- errors


def error_code(error: SlackApiError) -> str:
    """Return Slack's code of an error, or ""."""
    data = getattr(error.response, "data", None)
    return str(data.get("error", "")) if isinstance(data, dict) else ""


@contextlib.contextmanager
def connect_errors() -> Iterator[None]:
    """Convert errors of signing in and connecting."""
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
    """Convert errors of sending."""
    try:
        yield
    except SlackApiError as error:
        raise _send_error(error) from None
    except aiohttp.ClientConnectorError:
        raise SendFailed("Slack cannot be reached.") from None
    except (SlackClientError, aiohttp.ClientError, OSError, TimeoutError) as error:
        raise SendUncertain(f"nobody knows whether the message arrived: {type(error).__name__}.") from None


def wanted_pause(error: SlackApiError) -> float | None:
    """Return the seconds that Slack asks to wait, or None."""
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
