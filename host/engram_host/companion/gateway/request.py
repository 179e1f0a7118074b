"""Parser of requests to the gateway, which bounds and completes them for the service."""

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from engram import text
from engram_host.companion.errors import SettingError
from engram_host.companion.gateway.dialects import GatewayRefused, ModelApi
from engram_host.companion.settings import GatewaySettings

_ANSWER_TOKENS = 1024  # tokens reserved for an answer without a limit in the request
_MOST_ANSWER_TOKENS = 1 << 20
_MOST_SHOWN = 60  # characters of a parameter's name in a refusal


@dataclass(frozen=True)
class GatewayRequest:
    """A request for the service; `prompt` is its estimated tokens, `aside` the reserved ones."""

    body: bytes = field(repr=False)
    model: str
    prompt: int
    aside: int
    is_stream: bool


def allowed_models(settings: GatewaySettings) -> list[str]:
    """Return the allowed models; empty means any."""
    listed = _words(settings.models)
    return list(dict.fromkeys([settings.model, *listed] if settings.model else listed))


def service_url(settings: GatewaySettings) -> str:
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


def parse_request(data: bytes, settings: GatewaySettings, api: ModelApi) -> GatewayRequest:
    try:
        body = json.loads(data, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        raise GatewayRefused(400, "the request is not valid JSON.", "invalid_json") from None
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
        raise GatewayRefused(400, "the request has to be an object with a list of messages.", "invalid_request")
    _check_parameters(body, settings, api)
    _check_tools(body.get("tools"), api)
    body["model"] = _model(body.get("model"), settings)
    # Encoded again, so that the service reads what was checked, even with duplicate names.
    sent = json.dumps(body).encode()
    asked = [body["messages"], body.get("tools"), body.get("functions"), body.get("system")]
    prompt = estimate_tokens(json.dumps([each for each in asked if each is not None], ensure_ascii=False))
    return GatewayRequest(sent, body["model"], prompt, prompt + _answer_tokens(body), body.get("stream") is True)


def estimate_tokens(content: str) -> int:
    return text.tokens(content.encode("utf-8", "replace").decode())


def _check_parameters(body: dict[str, Any], settings: GatewaySettings, api: ModelApi) -> None:
    for name in body:
        if name not in api.parameters and name not in _words(settings.parameters):
            shown = text.printable(name.encode("utf-8", "replace").decode()[:_MOST_SHOWN])
            why = (
                f"the gateway does not pass {shown} on; whoever runs the companion can allow it in gateway.parameters."
            )
            raise GatewayRefused(400, why, "unsupported_parameter", parameter=shown)


def _check_tools(tools: Any, api: ModelApi) -> None:
    for tool in tools if isinstance(tools, list) else ():
        if not isinstance(tool, dict) or tool.get("type") not in api.function_types:
            why = "the gateway passes only functions on as tools: those that the service runs cost money of their own."
            raise GatewayRefused(400, why, "unsupported_tool", parameter="tools")


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


def _words(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
