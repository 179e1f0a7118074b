"""HTTP client of the service behind the gateway, and its API key, which leaves this process in one header only.

Answers are JSON, parsed and encoded again; anything else is a failure of the service.
"""

import contextlib
import json
import logging
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from engram.llm.refusal import named_parts
from engram.net.response import error_words
from engram_host.companion.auth.secrets import KeyringUnusable, SecretStore
from engram_host.companion.errors import SettingError
from engram_host.companion.gateway import request as gateway_request
from engram_host.companion.gateway.dialects import APIS, BUSY_HEADERS, OPENAI, ModelApi, ServiceFailed, encode_json
from engram_host.companion.gateway.quota import TokenCounter
from engram_host.companion.gateway.streaming import EventParser, ServerEvent
from engram_host.companion.settings import GatewaySettings

_log = logging.getLogger("engram.gateway")

NAME = "gateway.key"  # of the secret
_KEY = re.compile(r"[!-~]{1,4096}")


class ApiKey:
    """An API key that its repr hides; it may be empty."""

    __slots__ = ("_value",)

    def __init__(self, value: str = ""):
        self._value = value

    def __repr__(self) -> str:
        return "ApiKey(set)" if self._value else "ApiKey(none)"

    def __bool__(self) -> bool:
        return bool(self._value)

    def headers(self, api: ModelApi = OPENAI, asked: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
        """Return headers with the key; `asked` are the headers of the client's request."""
        return api.key_headers(self._value, asked)


def find_api_key(secrets: SecretStore) -> ApiKey:
    """Find the key in the environment, its file or the keyring; empty if nowhere. May raise SettingError."""
    try:
        value = secrets.find(NAME) or secrets.find(NAME, in_keyring=True)
    except KeyringUnusable as problem:
        _log.info("%s", problem)
        value = ""
    if value and not _KEY.fullmatch(value):
        raise SettingError(NAME, "has no key for the gateway: it has to be one word of ASCII.")
    return ApiKey(value)


if TYPE_CHECKING:  # a companion without a gateway starts without it
    import httpx

MOST_WHOLE = 8 << 20  # bytes of an answer that is not a stream
MOST_ERROR = 1 << 16  # bytes read of an error
_CONNECT_SECONDS = 10.0
_SECRET_STATUS = (401, 403, 407)
_NO_RETRY = {"X-Should-Retry": "false"}
_WORD = re.compile(r"[a-z][a-z_]{0,62}(\.[a-z0-9_]{1,31})?")


class ModelService:
    """Client of a model's service; it refuses all calls without gateway.url."""

    def __init__(self, settings: GatewaySettings, key: ApiKey, most_at_once: int):
        self.api = APIS[settings.api]
        self._settings = settings
        self._key = key
        self._most_at_once = most_at_once
        self._base = gateway_request.service_url(settings)
        self._client: httpx.AsyncClient | None = None

    def start(self) -> None:
        if not self._base:
            return
        import httpx

        for name in ("httpx", "httpcore"):  # they log each request
            logging.getLogger(name).setLevel(logging.WARNING)
        timeout = httpx.Timeout(self._settings.timeout_seconds, connect=_CONNECT_SECONDS)
        limits = httpx.Limits(max_connections=self._most_at_once + 8, max_keepalive_connections=16)
        # Plain HTTP needs no authorities, and loading them would take most of a start.
        has_tls = urlsplit(self._base).scheme != "http"
        self._client = httpx.AsyncClient(verify=has_tls, timeout=timeout, limits=limits, follow_redirects=False)

    async def stop(self) -> None:
        if self._client:
            await self._client.aclose()

    def client(self) -> "httpx.AsyncClient":
        """Return the HTTP client, or raise ServiceFailed without a service."""
        if not self._client:
            why = "the gateway is not set up: whoever runs the companion has to set gateway.url."
            raise ServiceFailed(503, why, "not_set_up", _NO_RETRY)
        return self._client

    # --- calls

    async def ask(self, body: bytes, asked: Mapping[str, str], stack: AsyncExitStack) -> "httpx.Response":
        """Send a request and return the response once its head is there; ServiceFailed unless it succeeds."""
        headers = {**self._headers(asked), "Content-Type": "application/json", "Accept-Encoding": "identity"}
        outgoing = self.client().build_request("POST", self._base + self.api.path, content=body, headers=headers)
        return await self._send(outgoing, stack)

    async def list_models(self, asked: Mapping[str, str], stack: AsyncExitStack) -> dict[str, Any]:
        outgoing = self.client().build_request("GET", f"{self._base}/models", headers=self._headers(asked))
        value, _ = await self._read_json(await self._send(outgoing, stack))
        if not isinstance(value, dict) or not isinstance(value.get("data"), list):
            raise _bad_answer("what is no list of models")
        return value

    async def whole(self, answer: "httpx.Response", count: TokenCounter) -> dict[str, Any]:
        """Read an answer that is not a stream; may raise ServiceFailed."""
        value, body = await self._read_json(answer)
        if not self.api.is_answer(value):
            if _error_of(value):  # some services say 200 to all
                raise self._refusal(_status_in(value), body)
            raise _bad_answer("what is no answer of a model")
        count.read(body)
        return value

    async def events(self, answer: "httpx.Response", count: TokenCounter) -> AsyncGenerator[bytes]:
        """Yield a stream's events; ServiceFailed if it breaks or is empty."""
        is_empty = True
        async with contextlib.aclosing(self._parsed(answer, count)) as events:
            async for event in events:
                if self.api.is_end(event.data or b""):
                    break
                if event.data is not None and not event.data.lstrip().startswith((b"{", b"[")):
                    if is_empty:
                        continue
                    event = ServerEvent("", None)  # keep-alive text outside of any API
                is_empty = is_empty and event.data is None
                yield self._passed(event)
            else:
                event = None
        if is_empty:
            raise _bad_answer("a stream without an event")
        if event:
            yield event.encode()

    @staticmethod
    async def _parsed(answer: "httpx.Response", count: TokenCounter) -> AsyncGenerator[ServerEvent]:
        import httpx

        parser = EventParser()
        try:
            async for piece in answer.aiter_bytes():
                for event in parser.feed(piece):
                    count.read(event.data or b"")
                    yield event
        except httpx.HTTPError as error:
            raise _connection_failure(error) from None
        for event in parser.end():
            count.read(event.data or b"")
            yield event

    def _passed(self, event: ServerEvent) -> bytes:
        if event.data is None:
            return event.encode()
        try:
            value = _decode_json(event.data)
        except (ValueError, RecursionError):
            raise _bad_answer("an event that is no JSON") from None
        if _error_of(value):
            raise self._refusal(_status_in(value), value)
        return ServerEvent(event.name, encode_json(value)).encode()

    # --- answers

    def _headers(self, asked: Mapping[str, str]) -> dict[str, str]:
        return self._key.headers(self.api, asked)

    async def _send(self, outgoing: "httpx.Request", stack: AsyncExitStack) -> "httpx.Response":
        import httpx

        try:
            answer = await self.client().send(outgoing, stream=True)
            stack.push_async_callback(answer.aclose)
            if answer.status_code == 200:
                return answer
            body = await _read_at_most(answer, MOST_ERROR)
        except httpx.HTTPError as error:
            raise _connection_failure(error) from None
        raise self._passed_error(answer, body)

    async def _read_json(self, answer: "httpx.Response") -> tuple[Any, bytes]:
        import httpx

        try:
            body = await _read_at_most(answer, MOST_WHOLE + 1)
        except httpx.HTTPError as error:
            raise _connection_failure(error) from None
        if len(body) > MOST_WHOLE:
            raise _bad_answer("more than is taken")
        try:
            return _decode_json(body), body
        except (ValueError, RecursionError):
            raise _bad_answer("what is no JSON") from None

    def _passed_error(self, answer: "httpx.Response", body: bytes) -> ServiceFailed:
        status = answer.status_code
        _log.warning("the service behind the gateway answered %d", status)
        headers = {"Retry-After": wait} if (wait := answer.headers.get("retry-after", "")).isdigit() else {}
        if status in _SECRET_STATUS:
            why = "the model's service refuses the gateway's key; whoever runs the companion has to look at it."
            return ServiceFailed(502, why, "upstream_refused_key", _NO_RETRY)
        if not 400 <= status <= 599:
            why = f"the model's service answered with status {status}, which is not followed; check gateway.url."
            return ServiceFailed(502, why, "upstream_failed", _NO_RETRY)
        return self._refusal(status, body, headers)

    def _refusal(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> ServiceFailed:
        """Build the error from status, codes and known words only: the service's text may show parts of the key."""
        error = _error_of(body)
        code, parameter = _word(error.get("code")) or _word(error.get("type")), _word(error.get("param"))
        refused = next((phrase for _, phrase in named_parts(error_words(error).lower())), "")
        why = f"the model's service answered with status {status}{refused and ': unsupported: ' + refused}."
        return ServiceFailed(status, why, code or "upstream_failed", headers, parameter or refused or None)


def _bad_answer(what: str) -> ServiceFailed:
    _log.warning("the service behind the gateway answered with %s", what)
    why = f"the model's service answered with {what}; whoever runs the companion should check gateway.url."
    return ServiceFailed(502, why, "upstream_failed")


def _connection_failure(error: "httpx.HTTPError") -> ServiceFailed:
    import httpx

    what = "did not answer in time" if isinstance(error, httpx.TimeoutException) else "cannot be reached"
    _log.warning("the service behind the gateway %s: %s", what, type(error).__name__)
    status = 504 if isinstance(error, httpx.TimeoutException) else 502
    return ServiceFailed(status, f"the model's service {what}.", "upstream_unreachable", BUSY_HEADERS)


def _decode_json(data: bytes) -> Any:
    return json.loads(data, parse_constant=gateway_request.refuse_constant)


def _word(value: Any) -> str:
    return value if isinstance(value, str) and _WORD.fullmatch(value) else ""


async def _read_at_most(answer: "httpx.Response", most: int) -> bytes:
    body = bytearray()
    async for piece in answer.aiter_bytes():
        body += piece
        if len(body) >= most:
            break
    return bytes(body[:most])


def _error_of(body: Any) -> dict[str, Any]:
    try:
        value = json.loads(body) if isinstance(body, bytes) else body
    except (ValueError, RecursionError):
        return {}
    value = value[0] if isinstance(value, list) and value else value
    if not isinstance(value, dict):
        return {}
    error = value.get("error")
    if isinstance(error, dict):
        return error
    return value if error or value.get("detail") or value.get("object") == "error" else {}


def _status_in(value: Any) -> int:
    code = _error_of(value).get("code")
    return code if isinstance(code, int) and 400 <= code <= 599 else 502
