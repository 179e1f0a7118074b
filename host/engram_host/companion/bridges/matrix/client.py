"""Matrix' client library, with failures as errors of a bridge."""

import functools
import logging
import re
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, TypeVar

import aiohttp
from nio import AsyncClient, AsyncClientConfig, ErrorResponse, JoinedMembersResponse, LocalProtocolError, SyncResponse
from nio.responses import Response

from engram_host.companion.bridges.connections import read_bounded
from engram_host.companion.bridges.errors import (
    FileNotFetched,
    NetworkAway,
    SendFailed,
    SendRefused,
    SendUncertain,
    SignInRefused,
    SlowDown,
)
from engram_host.companion.bridges.network import FileFetch

REQUEST_SECONDS = 30
FIRST_LOOK_SECONDS = 120
_PAUSE_SECONDS = 5.0  # pause if the homeserver names none
_REASON_CHARACTERS = 200
_TOKEN_PROBLEMS = ("M_UNKNOWN_TOKEN", "M_MISSING_TOKEN")
_BROKEN = (aiohttp.ClientError, TimeoutError, OSError)
# Address of a file, checked strictly since it becomes part of a path.
_MEDIA = re.compile(r"mxc://([A-Za-z0-9.:\[\]-]{1,255})/([A-Za-z0-9_=-]{1,255})")
_Answer = TypeVar("_Answer", bound=Response)

# The library logs each malformed event, with text of strangers.
logging.getLogger("nio").setLevel(logging.CRITICAL)


class TokenRefused(SignInRefused):
    """The homeserver does not accept the access token."""


class MatrixClient(AsyncClient):
    """Client without retries of its own, and without state of rooms and members."""

    def __init__(self, server: str, account: str, device: str):
        config = AsyncClientConfig(
            max_limit_exceeded=0, max_timeouts=0, request_timeout=REQUEST_SECONDS, encryption_enabled=False
        )
        super().__init__(server, account, device_id=device or None, config=config)

    async def send(
        self,
        method: str,
        path: str,
        data: Any = None,
        headers: dict[str, str] | None = None,
        trace_context: Any = None,
        timeout: float | None = None,
    ) -> aiohttp.ClientResponse:
        seconds = FIRST_LOOK_SECONDS if timeout == 0 else timeout
        return await super().send(method, path, data, headers, trace_context, seconds)

    def fetch_of(self, address: str) -> FileFetch | None:
        """Return a fetch for an address; None for an invalid one, such as of an encrypted file."""
        found = _MEDIA.fullmatch(address)
        return functools.partial(self._fetch, found[1], found[2]) if found else None

    async def _fetch(self, server: str, media: str, most: int) -> bytes:
        path = f"/_matrix/client/v1/media/download/{server}/{media}"
        try:
            response = await self.send("GET", path, headers={"Authorization": f"Bearer {self.access_token}"})
            try:
                if response.status != 200:
                    raise FileNotFetched(f"the homeserver does not give it (status {response.status}).")
                return await read_bounded(response.content.iter_any(), most)
            finally:
                response.close()
        except _BROKEN as error:
            raise FileNotFetched(
                f"the connection to the homeserver broke ({type(error).__name__}): send it again."
            ) from None

    async def receive_response(self, response: Response) -> None:
        if not isinstance(response, SyncResponse | JoinedMembersResponse | ErrorResponse):
            await super().receive_response(response)


@dataclass(frozen=True)
class Refusal:
    """Reason for a refusal; the code is "" if it has another form than Matrix' own."""

    status: int
    code: str
    reason: str
    retry_after: float

    @property
    def is_limit(self) -> bool:
        return self.status == 429 or self.code == "M_LIMIT_EXCEEDED"


def refusal_in(response: Response) -> Refusal | None:
    if not isinstance(response, ErrorResponse):
        return None
    pause = response.retry_after_ms
    return Refusal(
        getattr(response.transport_response, "status", 0),
        response.status_code or "",
        " ".join(str(response.message).split())[:_REASON_CHARACTERS],
        pause / 1000 if pause and pause > 0 else _PAUSE_SECONDS,
    )


async def ask(request: Awaitable[_Answer]) -> _Answer:
    """Return a response or this request's refusal; may raise NetworkAway or TokenRefused."""
    try:
        response = await request
    except aiohttp.ClientConnectorError as error:
        raise NetworkAway(
            f"the homeserver cannot be reached: {error.__class__.__name__}, {error.host}:{error.port}."
        ) from None
    except _BROKEN as error:
        raise NetworkAway(f"the connection to the homeserver broke: {error.__class__.__name__}.") from None
    refusal = refusal_in(response)
    if refusal is None:
        return response
    if refusal.is_limit:
        raise NetworkAway(f"the homeserver asks to wait {refusal.retry_after:.0f} seconds.")
    if refusal.code in _TOKEN_PROBLEMS:
        raise TokenRefused(f"the homeserver does not take the access token: {refusal.reason}")
    if refusal.status >= 500 or not refusal.code:
        raise NetworkAway(
            f"the homeserver does not answer as Matrix does (status {refusal.status}). If it never did, its address is "
            "another one: https://YOUR.DOMAIN/.well-known/matrix/client names it."
        )
    return response


async def deliver(request: Awaitable[_Answer]) -> _Answer:
    """Return the response to a sent message, or raise SendFailed."""
    try:
        response = await request
    except aiohttp.ClientConnectorError:
        raise SendFailed("the homeserver cannot be reached now.") from None
    except LocalProtocolError:
        raise SendFailed("the account is not signed in now.") from None
    except _BROKEN:
        raise SendUncertain("the connection to the homeserver broke before it confirmed the message.") from None
    refusal = refusal_in(response)
    if refusal is None:
        return response
    if refusal.is_limit:
        raise SlowDown(refusal.retry_after)
    if refusal.status >= 500 or not refusal.code:
        raise SendUncertain(f"the homeserver did not confirm the message (status {refusal.status}).")
    if refusal.code in _TOKEN_PROBLEMS:
        raise SendFailed("the homeserver does not know the access token any more.")
    raise SendRefused(f"the homeserver refuses the message: {refusal.code}, {refusal.reason}")
