"""Speaks to a remote service over HTTP: attempts, waits, bounds, and errors that hold no secret."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

import httpx

from engram_host.companion.errors import EmbedderRefused, EmbedderUnavailable

MOST_ANSWER_BYTES = 64 << 20
"""The longest answer that is read: a service gone wrong must not fill the memory."""

_PASSING = (408, 425, 429)
"""Statuses, besides 5xx, after which the same request may succeed a little later."""

_FIRST_WAIT_SECONDS = 0.5
_MOST_WAIT_SECONDS = 60.0
"""The longest wait between two attempts; a service that asks for a longer one is left alone for now."""

_MOST_TOLD = 200
"""Characters of a service's own message that are told to a person."""

Sleep = Callable[[float], Awaitable[None]]


class RemoteService:
    """One remote service, by its base URL. Redirects are not followed: the key stays where it belongs."""

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        *,
        retries: int = 3,
        timeout_seconds: float = 30,
        connect_seconds: float = 5,
        sleep: Sleep = asyncio.sleep,
    ):
        """`headers` go with each request; their values are taken out of all that is told."""
        self._base = base_url.rstrip("/")
        self._headers = dict(headers)
        self._secrets = sorted({part for value in headers.values() for part in value.split() if len(part) > 5}, key=len)
        self._retries = retries
        self._timeout = httpx.Timeout(timeout_seconds, connect=connect_seconds)
        self._sleep = sleep
        self._client: httpx.AsyncClient | None = None

    @property
    def name(self) -> str:
        """What a person knows the service by: its host."""
        return httpx.URL(self._base).host

    async def post(self, path: str, body: Mapping[str, Any], retries: int | None = None) -> Any:
        """The answer to a JSON body, decoded. EmbedderUnavailable, EmbedderRefused."""
        content = json.dumps(body, ensure_ascii=False).encode()
        kind = {"Content-Type": "application/json"}
        return self._decoded(await self.request("POST", path, retries, content=content, headers=kind))

    async def get(self, path: str) -> Any:
        """The answer to a GET, decoded. EmbedderUnavailable, EmbedderRefused."""
        return self._decoded(await self.request("GET", path))

    async def request(self, method: str, path: str, retries: int | None = None, **content: Any) -> bytes:
        """The answer's body; tried again, with growing waits, as long as that may help."""
        most = self._retries if retries is None else min(retries, self._retries)
        for attempt in range(most + 1):
            try:
                return await self._once(method, path, **content)
            except _Passing as passing:
                wait = passing.wait or _FIRST_WAIT_SECONDS * 2**attempt * random.uniform(0.75, 1.25)
                if attempt == most or wait > _MOST_WAIT_SECONDS:
                    raise EmbedderUnavailable(str(passing)) from None
            await self._sleep(wait)
        raise AssertionError("the last attempt either answers or raises")

    async def close(self) -> None:
        """Let the connections go."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def _once(self, method: str, path: str, headers: Mapping[str, str] | None = None, **content: Any) -> bytes:
        """One attempt; what httpx says is not told, since it may repeat a header."""
        if self._client is None:
            self._client = httpx.AsyncClient(timeout=self._timeout, headers=self._headers)
        try:
            async with self._client.stream(method, self._base + path, headers=headers, **content) as answer:
                body = await _bounded(answer, self.name)
        except httpx.TimeoutException:
            raise _Passing(f"{self.name} did not answer in time.") from None
        except httpx.TransportError as error:
            raise _Passing(f"{self.name} cannot be reached ({type(error).__name__}).") from None
        except httpx.DecodingError:
            raise _Passing(f"{self.name} sent an answer that cannot be unpacked.") from None
        if answer.is_success:
            return body
        told = self._clean(f"{self.name} answered {answer.status_code}{_message(body)}")
        if answer.status_code in _PASSING or answer.status_code >= 500:
            raise _Passing(told, _retry_after(answer.headers.get("retry-after", "")))
        raise EmbedderRefused(told + _advice(answer.status_code), answer.status_code)

    def _decoded(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except ValueError:
            raise EmbedderRefused(
                f"{self.name} answered with something else than JSON; is embedding.base_url right?"
            ) from None

    def _clean(self, text: str) -> str:
        for secret in reversed(self._secrets):
            text = text.replace(secret, "***")
        return text


class _Passing(Exception):
    """An attempt failed in a way that may pass; `wait` is how many seconds the service asks for, 0 if it does not say."""

    def __init__(self, problem: str, wait: float = 0.0):
        super().__init__(problem)
        self.wait = wait


async def _bounded(answer: httpx.Response, name: str) -> bytes:
    body = bytearray()
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) > MOST_ANSWER_BYTES:
            raise EmbedderRefused(f"{name} sent more than {MOST_ANSWER_BYTES >> 20} MB; a smaller batch_size may help.")
    return bytes(body)


def _message(body: bytes) -> str:
    """What the service says about an error, in the forms that are in use: ": ..." or "."."""
    try:
        error = json.loads(body)
    except ValueError:
        return "."
    for name in ("error", "message", "detail"):
        if isinstance(error, dict) and name in error:
            error = error[name]
    if not isinstance(error, str) or not error.strip():
        return "."
    words = " ".join("".join(sign if sign.isprintable() else " " for sign in error).split())
    return ": " + words[:_MOST_TOLD].rstrip(".") + "."


def _advice(status: int) -> str:
    if status in (401, 403):
        return " Check embedding.api_key."
    if status == 404:
        return " Check embedding.base_url and embedding.model_name."
    if 300 <= status < 400:
        return " It points to another address: set embedding.base_url to that."
    return ""


def _retry_after(value: str) -> float:
    """Seconds, from a number or a date; 0 if there is none that can be read."""
    try:
        return max(0.0, float(value)) if value else 0.0
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except ValueError:
        return 0.0
