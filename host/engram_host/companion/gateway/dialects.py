"""The gateway's two APIs, OpenAI's chat completions and Anthropic's messages, and its refusals, which each formats."""

import json
import re
from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

from engram import text
from engram_host.companion.errors import CompanionError

BUSY_HEADERS = {"Retry-After": "5"}


class GatewayRefused(CompanionError):
    """A refusal; `why` is its label in metrics: limit, busy, request, service, or "" for a client gone."""

    why = "request"

    def __init__(
        self, status: int, why: str, code: str, headers: Mapping[str, str] | None = None, parameter: str | None = None
    ):
        super().__init__(why)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})
        self.parameter = parameter

    @property
    def for_board(self) -> dict[str, int]:
        """The status and the wait that a board acts on, in an event that has no head of its own."""
        return {"status": self.status, "retry_after": int(self.headers.get("Retry-After", "0"))}


class LimitReached(GatewayRefused):
    why = "limit"


class Busy(GatewayRefused):
    why = "busy"


class ServiceFailed(GatewayRefused):
    why = "service"


class ClientGone(GatewayRefused):
    why = ""


# --- the APIs

PREFIX = "/gateway/"  # prefix of the paths that answer in the form of an API
ANTHROPIC_PATH = "/gateway/v1/messages"
_QUOTA = "insufficient_quota"


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


_OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 429: "requests"}


class OpenAiApi:
    name = "openai"  # value of the setting gateway.api
    title = "OpenAI's API"
    path = "/chat/completions"  # of a call, below the service's base URL
    # Fields passed on; others may cost extra, store data or choose other models.
    parameters: frozenset[str] = _names(
        "model messages stream stream_options tools tool_choice parallel_tool_calls functions function_call max_tokens "
        "max_completion_tokens temperature top_p top_k min_p n stop seed frequency_penalty presence_penalty "
        "repetition_penalty logit_bias logprobs top_logprobs response_format reasoning_effort verbosity user"
    )
    # Tool types that the client runs; the service runs, and bills, those of other types.
    function_types: tuple[str | None, ...] = ("function", "custom")

    def key_headers(self, key: str, asked: Mapping[str, str]) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def is_answer(self, value: Any) -> bool:
        return isinstance(value, dict) and isinstance(value.get("choices"), list)

    def answer_text(self, value: dict[str, Any]) -> str:
        return "".join(text.part(text.part(each, "message", dict), "content", str) for each in value["choices"][:1])

    def is_end(self, data: bytes) -> bool:
        return data.strip() == b"[DONE]"

    def model_list(self, names: list[str]) -> dict[str, Any]:
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "gateway"} for name in names]
        return {"object": "list", "data": data}

    def refusal(
        self, status: int, why: str, headers: Mapping[str, str] | None, code: str | None, parameter: str | None = None
    ) -> JSONResponse:
        kind = _OPENAI_TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
        error = {"message": why, "type": _QUOTA if code == _QUOTA else kind, "param": parameter, "code": code}
        return JSONResponse({"error": error}, status, dict(headers or {}))

    def error_event(self, failed: GatewayRefused) -> bytes:
        kind = "server_error" if failed.status >= 500 else "invalid_request_error"
        error = {"message": str(failed), "type": kind, "param": failed.parameter, "code": failed.code}
        return b"data: " + encode_json({"error": error | failed.for_board}) + b"\n\n"


_ANTHROPIC_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_VERSION = re.compile(r"\d{4}-\d\d-\d\d")
_DEFAULT_VERSION = "2023-06-01"


class AnthropicApi:
    name = "anthropic"
    title = "Anthropic's API"
    path = "/messages"
    parameters: frozenset[str] = _names(
        "model messages system max_tokens stream stop_sequences temperature top_k top_p tools tool_choice thinking "
        "metadata"
    )
    function_types: tuple[str | None, ...] = (None, "custom")

    def key_headers(self, key: str, asked: Mapping[str, str]) -> dict[str, str]:
        version = asked.get("anthropic-version", "")
        headers = {"anthropic-version": version if _VERSION.fullmatch(version) else _DEFAULT_VERSION}
        return headers | ({"x-api-key": key} if key else {})

    def is_answer(self, value: Any) -> bool:
        return isinstance(value, dict) and isinstance(value.get("content"), list)

    def answer_text(self, value: dict[str, Any]) -> str:
        return "".join(text.part(block, "text", str) for block in value["content"])

    def is_end(self, data: bytes) -> bool:
        """Return False: Anthropic's last event is passed on like any other."""
        return False

    def model_list(self, names: list[str]) -> dict[str, Any]:
        created = "1970-01-01T00:00:00Z"
        data = [{"type": "model", "id": name, "display_name": name, "created_at": created} for name in names]
        return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}

    def refusal(
        self, status: int, why: str, headers: Mapping[str, str] | None, code: str | None, parameter: str | None = None
    ) -> JSONResponse:
        return JSONResponse(self._error(status, why), status, dict(headers or {}))

    def error_event(self, failed: GatewayRefused) -> bytes:
        value = self._error(failed.status, str(failed))
        value["error"] |= failed.for_board
        return b"event: error\ndata: " + encode_json(value) + b"\n\n"

    def _error(self, status: int, why: str) -> dict[str, Any]:
        kind = _ANTHROPIC_TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
        return {"type": "error", "error": {"type": kind, "message": why}}


ModelApi = OpenAiApi | AnthropicApi

OPENAI, ANTHROPIC = OpenAiApi(), AnthropicApi()
APIS: dict[str, ModelApi] = {api.name: api for api in (OPENAI, ANTHROPIC)}


def refuse_in_form_of(path: str, status: int, why: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    api = ANTHROPIC if path == ANTHROPIC_PATH else OPENAI
    return api.refusal(status, why, headers, "rate_limit_exceeded" if status == 429 else None)


def encode_json(value: Any) -> bytes:
    """Encode JSON as UTF-8: MicroPython misreads escaped surrogate pairs."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
