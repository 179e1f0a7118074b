"""A request to the gateway: parsed, bounded, made what the service gets; and refusals in OpenAI's form."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import JSONResponse

from engram import text
from engram_host.companion.errors import CompanionError, SettingError
from engram_host.companion.settings import GatewaySettings

PREFIX = "/gateway/"
"""Paths below it answer in OpenAI's form."""

_TYPES = {401: "authentication_error", 403: "permission_error", 429: "requests"}

_QUOTA = "insufficient_quota"


class GatewayRefused(CompanionError):
    """The gateway does not do what it is asked: a status, a sentence, and OpenAI's code.

    `why` is what it counts as: limit, busy, request or service (see metrics.py), or "" if nobody is there to be refused.
    """

    why = "request"

    def __init__(self, status: int, why: str, code: str, headers: Mapping[str, str] | None = None):
        super().__init__(why)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})

    def response(self) -> JSONResponse:
        """The answer that says so."""
        return refusal(self.status, str(self), self.headers, self.code)


class LimitReached(GatewayRefused):
    """A limit of the day is reached."""

    why = "limit"


class Busy(GatewayRefused):
    """Too many calls are under way."""

    why = "busy"


class ServiceFailed(GatewayRefused):
    """The service behind the gateway refuses, fails, or is not there."""

    why = "service"


class ClientGone(GatewayRefused):
    """Nobody waits for the answer any more."""

    why = ""


def refusal(status: int, why: str, headers: Mapping[str, str] | None = None, code: str | None = None) -> JSONResponse:
    """An error as OpenAI's API has it."""
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    if code == _QUOTA:
        kind = _QUOTA
    error: dict[str, Any] = {"message": why, "type": kind, "param": None, "code": code}
    return JSONResponse({"error": error}, status, dict(headers or {}))


# --- requests


_ANSWER_TOKENS = 1024
"""What is set aside for an answer whose length the request does not bound."""

_MOST_ANSWER_TOKENS = 1 << 20


@dataclass(frozen=True)
class GatewayRequest:
    """A request as the service gets it; `prompt` is about how many tokens it has, `aside` what is set aside for the call."""

    body: bytes = field(repr=False)
    prompt: int
    aside: int


def allowed_models(settings: GatewaySettings) -> list[str]:
    """The models that may be asked for; empty: any."""
    listed = [name.strip() for name in settings.models.split(",") if name.strip()]
    return list(dict.fromkeys([settings.model, *listed] if settings.model else listed))


def service_url(settings: GatewaySettings) -> str:
    """The base URL of the service behind the gateway, "" if there is none; SettingError."""
    url = settings.url
    if not url:
        return ""
    try:
        where = urlsplit(url)
        is_good = where.scheme in ("http", "https") and bool(where.hostname) and where.port != 0
    except ValueError:
        is_good = False
        where = urlsplit("")
    if not is_good or "@" in where.netloc or where.query or where.fragment:
        raise SettingError("gateway.url", "must look like https://api.example.com/v1, without a key in it.")
    return url.rstrip("/")


def parse_request(data: bytes, settings: GatewaySettings) -> GatewayRequest:
    """The request in a body; GatewayRefused."""
    try:
        body = json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise GatewayRefused(400, "the request is not valid JSON.", "invalid_json") from None
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
        raise GatewayRefused(400, "the request has to be an object with a list of messages.", "invalid_request")
    body["model"] = _model(body.get("model"), settings)
    # Written again, so that the service reads what was checked here: of a name that stands there twice, too.
    sent = json.dumps(body).encode()
    prompt = estimate_tokens(json.dumps([body["messages"], body.get("tools")], ensure_ascii=False))
    return GatewayRequest(sent, prompt, prompt + _answer_tokens(body))


def estimate_tokens(content: str) -> int:
    """About how many tokens a text is."""
    return text.tokens(content.encode("utf-8", "replace").decode())


def _model(name: Any, settings: GatewaySettings) -> str:
    models = allowed_models(settings)
    if name in (None, "", "default") and models:
        return models[0]
    if not isinstance(name, str) or not name or len(name) > 200:
        raise GatewayRefused(400, "the request has to name a model.", "model_required")
    if models and name not in models:
        raise GatewayRefused(
            404, f"the gateway has no model of that name; it has {', '.join(models)}.", "model_not_found"
        )
    return name


def _answer_tokens(body: dict[str, Any]) -> int:
    bound = body.get("max_completion_tokens", body.get("max_tokens"))
    count = body.get("n", 1)
    each = bound if isinstance(bound, int) and bound > 0 else _ANSWER_TOKENS
    return min(each * (count if isinstance(count, int) and count > 0 else 1), _MOST_ANSWER_TOKENS)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
