"""A client for JSON over HTTP with retries, timeouts and limits; raises its caller's errors."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import Any
from urllib.parse import urlsplit

import httpx

from engram_host.companion.errors import CompanionError, RefusedByService

MOST_ANSWER_BYTES = 64 << 20

_PASSING = (408, 425, 429)
"""Statuses besides 5xx that are worth a retry."""

_FIRST_WAIT_SECONDS = 0.5
_MOST_WAIT_SECONDS = 60.0
"""Maximum wait for a retry; a longer Retry-After is an error."""

_MOST_TOLD = 200

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True)
class ServiceErrors:
    table: str
    unavailable: type[CompanionError]

    refused: type[RefusedByService]
    """Raised if a retry without a change does not help."""

    if_too_long: str = ""
    """Advice on an answer that is too long, as the end of a sentence."""


class RemoteService:
    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        errors: ServiceErrors,
        *,
        retries: int = 3,
        timeout_seconds: float = 30,
        connect_seconds: float = 5,
        sleep: Sleep = asyncio.sleep,
    ):
        """`headers` are sent with each request; their values are removed from every message."""
        self._base = base_url.rstrip("/")
        self._headers = dict(headers)
        self._errors = errors
        self._secrets = sorted({part for value in headers.values() for part in value.split() if len(part) > 5}, key=len)
        self._retries = retries
        self._timeout = httpx.Timeout(timeout_seconds, connect=connect_seconds)
        self._sleep = sleep
        self._client: httpx.AsyncClient | None = None

    @property
    def name(self) -> str:
        return httpx.URL(self._base).host

    async def post(self, path: str, body: Mapping[str, Any], retries: int | None = None) -> Any:
        content = json.dumps(body, ensure_ascii=False).encode()
        kind = {"Content-Type": "application/json"}
        return self._decoded(await self.request("POST", path, retries, content=content, headers=kind))

    async def get(self, path: str) -> Any:
        return self._decoded(await self.request("GET", path))

    async def request(self, method: str, path: str, retries: int | None = None, **content: Any) -> bytes:
        most = self._retries if retries is None else min(retries, self._retries)
        for attempt in range(most + 1):
            try:
                return await self._once(method, path, **content)
            except _Passing as passing:
                wait = passing.wait or _FIRST_WAIT_SECONDS * 2**attempt * random.uniform(0.75, 1.25)
                if attempt == most or wait > _MOST_WAIT_SECONDS:
                    raise self._errors.unavailable(str(passing)) from None
            await self._sleep(wait)
        raise AssertionError("the last attempt either answers or raises")

    async def close(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    async def _once(self, method: str, path: str, headers: Mapping[str, str] | None = None, **content: Any) -> bytes:
        if self._client is None:
            # Without TLS no certificates are needed, and loading them takes 40 ms.
            has_tls = urlsplit(self._base).scheme != "http"
            self._client = httpx.AsyncClient(verify=has_tls, timeout=self._timeout, headers=self._headers)
        try:
            async with self._client.stream(method, self._base + path, headers=headers, **content) as answer:
                body = await self._bounded(answer)
        except httpx.TimeoutException:
            raise _Passing(f"{self.name} did not answer in time.") from None
        except httpx.TransportError as error:
            raise _Passing(f"{self.name} cannot be reached ({type(error).__name__}).") from None
        except httpx.DecodingError:
            raise _Passing(f"{self.name} sent an answer that cannot be unpacked.") from None
        if answer.is_success:
            return body
        message = self._clean(f"{self.name} answered {answer.status_code}{_message(body)}")
        if answer.status_code in _PASSING or answer.status_code >= 500:
            raise _Passing(message, _retry_after(answer.headers.get("retry-after", "")))
        raise self._errors.refused(message + self._advice(answer.status_code), answer.status_code)

    def _decoded(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise self._errors.refused(
                f"{self.name} answered with something else than JSON; is {self._errors.table}.base_url right?"
            ) from None

    async def _bounded(self, answer: httpx.Response) -> bytes:
        body = bytearray()
        async for piece in answer.aiter_bytes():
            body += piece
            if len(body) > MOST_ANSWER_BYTES:
                most = f"{MOST_ANSWER_BYTES >> 20} MB"
                raise self._errors.refused(f"{self.name} sent more than {most}{self._errors.if_too_long}.")
        return bytes(body)

    def _advice(self, status: int) -> str:
        table = self._errors.table
        if status in (401, 403):
            return f" Check {table}.api_key."
        if status == 404:
            return f" Check {table}.base_url and {table}.model_name."
        if 300 <= status < 400:
            return f" It points to another address: set {table}.base_url to that."
        return ""

    def _clean(self, text: str) -> str:
        for secret in reversed(self._secrets):
            text = text.replace(secret, "***")
        return text


class _Passing(Exception):
    """A temporary failure; `wait` is the Retry-After in seconds, 0 if none."""

    def __init__(self, problem: str, wait: float = 0.0):
        super().__init__(problem)
        self.wait = wait


def _message(body: bytes) -> str:
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


def _retry_after(value: str) -> float:
    """Return seconds of a number or date, 0 if it is invalid."""
    try:
        return max(0.0, float(value)) if value else 0.0
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except ValueError:
        return 0.0
